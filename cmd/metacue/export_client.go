package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// client is an MCP client, and how its configuration is written.
type client struct {
	// file is where the snippet goes.
	file string
	// key is the member that holds the servers.
	key string
	// typed says that a server names its transport.
	typed bool
	// secret writes the value of an environment variable: a reference to that of the
	// client's own environment, where it knows such.
	secret func(name string) string
	// prompts says that the client asks for secrets and stores them.
	prompts bool
}

// clients are the clients by the names that the command takes. Each row is from
// the client's own documentation of MCP servers.
var clients = map[string]client{
	// https://modelcontextprotocol.io/docs/develop/connect-local-servers. It knows no
	// references: the secret itself stands there.
	"claude-desktop": {file: "claude_desktop_config.json", key: "mcpServers", secret: func(name string) string { return "PUT " + name + " HERE" }},
	// https://code.claude.com/docs/en/mcp, "Environment variable expansion".
	"claude-code": {file: ".mcp.json", key: "mcpServers", typed: true, secret: func(name string) string { return "${" + name + "}" }},
	// https://code.visualstudio.com/docs/copilot/reference/mcp-configuration.
	"vscode": {file: ".vscode/mcp.json", key: "servers", typed: true, prompts: true, secret: func(name string) string { return "${input:" + name + "}" }},
	// https://cursor.com/docs/context/mcp, "Config interpolation".
	"cursor": {file: ".cursor/mcp.json", key: "mcpServers", secret: func(name string) string { return "${env:" + name + "}" }},
	// https://geminicli.com/docs/tools/mcp-server/, "Environment variable expansion".
	"gemini-cli": {file: ".gemini/settings.json", key: "mcpServers", secret: func(name string) string { return "$" + name }},
}

// clientServer is how a client starts the server.
type clientServer struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

// clientInput is a secret that VS Code asks for.
type clientInput struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	Description string `json:"description"`
	Password    bool   `json:"password"`
}

func newExportClient() *cobra.Command {
	var e exports
	names := slices.Sorted(maps.Keys(clients))
	cmd := &cobra.Command{
		Use:   "client NAME",
		Short: "Print the snippet that lets an MCP client start the server",
		Long: `client prints the configuration of an MCP client, with which it starts this
server: with the configuration, the settings, the mode and the bounds that the flags
give. Secrets are references where the client knows such. The clients are
` + strings.Join(names, ", ") + `.`,
		Example: `  metacue export client claude-code --mode meta -t organization=contoso
  metacue export client vscode -c ./cue --read-only`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, ok := clients[args[0]]
			if !ok {
				return unknown("client", args[0], names)
			}
			program, _, err := e.offered(cmd)
			if err != nil {
				return err
			}
			server := clientServer{Command: "metacue"}
			if server.Args, err = e.serveArgs(cmd); err != nil {
				return err
			}
			if c.typed {
				server.Type = "stdio"
			}
			var inputs []clientInput
			for _, name := range program.Env {
				if server.Env == nil {
					server.Env = map[string]string{}
				}
				server.Env[name] = c.secret(name)
				inputs = append(inputs, clientInput{"promptString", name, name + " of " + program.Catalog.Server.Title, true})
			}
			whole := map[string]any{c.key: map[string]any{program.Catalog.Server.Name: server}}
			if c.prompts && len(inputs) > 0 {
				whole["inputs"] = inputs
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "metacue: for", c.file)
			out := json.NewEncoder(cmd.OutOrStdout())
			out.SetEscapeHTML(false)
			out.SetIndent("", "  ")
			return out.Encode(whole)
		},
	}
	e.flags(cmd)
	return cmd
}

// serveArgs are the arguments of metacue serve that offer the same. Paths are
// absolute: who knows where a client starts a server.
func (e *exports) serveArgs(cmd *cobra.Command) ([]string, error) {
	args := []string{"serve"}
	if e.dir != "" {
		dir, err := filepath.Abs(e.dir)
		if err != nil {
			return nil, err
		}
		args = append(args, dir)
	}
	mode, err := e.chosen(cmd)
	if err != nil {
		return nil, err
	}
	args = append(args, "--mode", mode)
	for _, name := range slices.Sorted(maps.Keys(e.tags)) {
		args = append(args, "-t", name+"="+e.tags[name])
	}
	for _, name := range slices.Sorted(maps.Keys(e.upstreams)) {
		args = append(args, "--upstream", name+"="+e.upstreams[name])
	}
	if e.readOnly {
		args = append(args, "--read-only")
	}
	if len(e.domains) > 0 {
		args = append(args, "--domains", strings.Join(e.domains, ","))
	}
	if e.keepGoing {
		args = append(args, "--keep-going")
	}
	return args, nil
}
