package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/metacue/metacue/runtime/call"
	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/serve"
	"github.com/metacue/metacue/runtime/surface"
	"github.com/metacue/metacue/runtime/tokens"
)

// offer is how a configuration is offered.
type offer struct {
	mode     string
	meta     bool
	http     string
	ready    string
	insecure bool
	origins  []string
	hosts    []string
}

func (o *offer) flags(cmd *cobra.Command) {
	o.modeFlags(cmd)
	o.transportFlags(cmd)
}

func (o *offer) modeFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.mode, "mode", "flat", "list tools as `MODE`: "+strings.Join(surface.Modes(), ", "))
	complete(cmd, "mode", only(surface.Modes()...))
	f.BoolVar(&o.meta, "meta-mode", false, "short for --mode meta")
}

// modeDefault takes another mode where none is asked for.
func (o *offer) modeDefault(cmd *cobra.Command, mode string) {
	o.mode = mode
	cmd.Flags().Lookup("mode").DefValue = mode
}

func (o *offer) transportFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.http, "http", "", "serve streamable HTTP at `ADDR`, such as 127.0.0.1:8080; port 0 takes a free one")
	f.StringVar(&o.ready, "ready-file", "", "write the URL to `FILE` once requests are accepted")
	f.BoolVar(&o.insecure, "insecure-no-auth", false, "listen beyond loopback although nobody is asked who they are")
	f.StringSliceVar(&o.origins, "allow-origin", nil, "let pages of this `ORIGIN` ask, besides the server's own")
	f.StringSliceVar(&o.hosts, "allow-host", nil, "answer to this `HOST` name, besides localhost and addresses")
}

// chosen gives the mode that the flags ask for.
func (o *offer) chosen(cmd *cobra.Command) (string, error) {
	if !o.meta {
		return o.mode, nil
	}
	if cmd.Flags().Changed("mode") && o.mode != "meta" {
		return "", fmt.Errorf("--meta-mode and --mode %s exclude each other", o.mode)
	}
	return "meta", nil
}

func newServe() *cobra.Command {
	var s settings
	var o offer
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Offer a configuration as an MCP server",
		Long: `serve offers the configuration in DIR as an MCP server on standard input and
output, or with --http over streamable HTTP. Without DIR it is ./cue if that is
trusted (metacue trust), else the built-in configuration.

In flat mode every tool is listed. In meta mode four fixed tools are, through
which an agent finds the others. In nouns mode there is one tool for each domain
or noun, with the tools as its actions, and in model mode one that describes the
domains and one that runs their operations.`,
		Example: `  metacue serve --meta-mode
  metacue serve ./cue --mode flat --domains repositories --read-only
  metacue serve --meta-mode --http 127.0.0.1:8080`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			mode, err := o.chosen(cmd)
			if err != nil {
				return err
			}
			tokens.Load() // needed for the first line, and read meanwhile
			src, err := s.choose(args, true)
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			program, findings := s.compile(src, log)
			if program == nil {
				return findings.Err()
			}
			skipped(cmd.ErrOrStderr(), findings)
			cat := program.Catalog
			if len(cat.Domains) == 0 {
				return errors.New("nothing is left to serve within --domains and --read-only")
			}
			offered, err := surface.New(mode, cat, program.Call)
			if err != nil {
				if cfg, _ := s.load(src); cfg != nil { // again, for the lines
					if findings, _ := modeFindings(cfg, cat, mode); len(findings) > 0 {
						return findings.Err()
					}
				}
				return err
			}
			if src.note != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "metacue:", src.note)
			}
			// Reading a configuration takes several times the memory that serving it does.
			go debug.FreeOSMemory()
			opts := serve.Of(cat, offered)
			opts.Caller, opts.Log = call.Caller{Bounds: s.bounds()}, log
			return o.serve(cmd, func() {
				announce(cmd.ErrOrStderr(), mode, cat, offered, src.String())
				for _, a := range program.Absent() {
					log.Warn("not there yet; it is read when a call needs it", "reason", a.Reason, "for", strings.Join(a.For, ", "))
				}
			}, opts)
		},
	}
	s.serveFlags(cmd)
	o.flags(cmd)
	return cmd
}

// announce prints the one line that says what is served and from where.
func announce(w io.Writer, mode string, cat *catalog.Catalog, s surface.Surface, from string) {
	fmt.Fprintf(w, "metacue: serving %s in %s mode: %s, %s, %d tokens, from %s\n",
		cat.Server.Name, mode, count(len(cat.Domains), "domain"), count(len(cat.Tools()), "tool"), tokens.List(s.Tools()), from)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// serve serves over the transport that the flags ask for, until input or the
// command ends. ready is called when requests are accepted.
func (o *offer) serve(cmd *cobra.Command, ready func(), opts serve.Options) error {
	endsInOrder(cmd.Context())
	opts.Version = cmp.Or(opts.Version, version())
	if o.http == "" {
		ready()
		return serve.Stdio(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), opts)
	}
	return serve.HTTP(cmd.Context(), o.http, serve.HTTPOptions{
		Options:        opts,
		InsecureNoAuth: o.insecure,
		Origins:        o.origins,
		Hosts:          o.hosts,
		ReadyFile:      o.ready,
		Ready: func(url string) {
			ready()
			fmt.Fprintln(cmd.ErrOrStderr(), "metacue: listening on", url)
		},
	})
}
