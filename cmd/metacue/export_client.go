package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
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
	// url is the member that holds the URL of a server that runs already; "" where the
	// client takes none from its file, and instead then says what to do.
	url, instead string
}

// clients are the clients by the names that the command takes. Each row is from
// the client's own documentation of MCP servers.
var clients = map[string]client{
	// https://modelcontextprotocol.io/docs/develop/connect-local-servers. It knows no
	// references: the secret itself stands there. It does not connect to URLs that
	// stand in the file, and its connectors are reached from Anthropic's machines:
	// https://support.anthropic.com/en/articles/11503834-building-custom-connectors-via-remote-mcp-servers.
	"claude-desktop": {file: "claude_desktop_config.json", key: "mcpServers", secret: func(name string) string { return "PUT " + name + " HERE" },
		instead: "add it as a custom connector in Settings > Connectors, which Anthropic's machines must be able to reach, or leave --http out, so that it starts a server of its own"},
	// https://code.claude.com/docs/en/mcp, "Environment variable expansion", which
	// holds for url and headers too.
	"claude-code": {file: ".mcp.json", key: "mcpServers", typed: true, url: "url", secret: func(name string) string { return "${" + name + "}" }},
	// https://code.visualstudio.com/docs/copilot/reference/mcp-configuration,
	// "HTTP and Server-Sent Events (SSE) servers".
	"vscode": {file: ".vscode/mcp.json", key: "servers", typed: true, url: "url", prompts: true, secret: func(name string) string { return "${input:" + name + "}" }},
	// https://cursor.com/docs/context/mcp, "Config interpolation", which holds
	// for url and headers too.
	"cursor": {file: ".cursor/mcp.json", key: "mcpServers", url: "url", secret: func(name string) string { return "${env:" + name + "}" }},
	// https://geminicli.com/docs/tools/mcp-server/, "Environment variable expansion";
	// its url is for SSE, httpUrl for streamable HTTP. That references hold in headers
	// says https://geminicli.com/docs/reference/configuration, of all its settings.
	"gemini-cli": {file: ".gemini/settings.json", key: "mcpServers", url: "httpUrl", secret: func(name string) string { return "$" + name }},
}

// clientServer is how a client starts the server.
type clientServer struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

// running is how a client reaches a server at a URL, and the secrets in it: those
// that callers bring in headers, by the names of the headers as variables have them.
func (c client) running(at string, inbound []string) (server map[string]any, names []string) {
	server = map[string]any{c.url: at}
	if c.typed {
		server["type"] = "http"
	}
	headers := map[string]string{}
	for _, header := range inbound {
		name := strings.ToUpper(strings.ReplaceAll(header, "-", "_"))
		names = append(names, name)
		headers[header] = c.secret(name)
	}
	if len(headers) > 0 {
		server["headers"] = headers
	}
	return server, names
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
	var at string
	names := slices.Sorted(maps.Keys(clients))
	cmd := &cobra.Command{
		Use:   "client NAME",
		Short: "Print the snippet that lets an MCP client start or reach the server",
		Long: `client prints the configuration of an MCP client, with which it starts this
server: with the configuration, the settings, the mode and the bounds that the flags
give. With --http it is the one with which the client reaches a server that runs
at a URL; the headers in which callers bring secrets of their own stand in it.
Secrets are references where the client knows such. The clients are
` + strings.Join(names, ", ") + `.`,
		Example: `  metacue export client claude-code --mode meta -t organization=contoso
  metacue export client vscode -c ./cue --read-only
  metacue export client cursor -c ./cue --http https://tools.example/mcp`,
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
			var server any
			secrets := program.Env
			if at == "" {
				if server, err = e.started(cmd, c, secrets); err != nil {
					return err
				}
			} else {
				if err := e.checkRunning(cmd, args[0], at); err != nil {
					return err
				}
				server, secrets = c.running(at, program.Inbound)
			}
			var inputs []clientInput
			for _, name := range secrets {
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
	cmd.Flags().StringVar(&at, "http", "", "reach the server that runs at `URL`, rather than start one")
	return cmd
}

// started is how a client starts the server.
func (e *exports) started(cmd *cobra.Command, c client, secrets []string) (clientServer, error) {
	server := clientServer{Command: "metacue"}
	if c.typed {
		server.Type = "stdio"
	}
	for _, name := range secrets {
		if server.Env == nil {
			server.Env = map[string]string{}
		}
		server.Env[name] = c.secret(name)
	}
	var err error
	server.Args, err = e.serveArgs(cmd)
	return server, err
}

// checkRunning says why there is no snippet of a client for a server at a URL.
func (e *exports) checkRunning(cmd *cobra.Command, name, at string) error {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return fmt.Errorf("--http: %q is not the URL of a server, such as https://tools.example/mcp", at)
	}
	if c := clients[name]; c.url == "" {
		return fmt.Errorf("%s takes no URL from %s: %s", name, c.file, c.instead)
	}
	for _, flag := range []string{"mode", "meta-mode", "read-only", "domains"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s is for metacue serve: the server at %s runs already", flag, at)
		}
	}
	return nil
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
	args = append(args, e.with()...)
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
