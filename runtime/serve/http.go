package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// endpoint is the path of MCP, health that of the liveness probe.
	endpoint = "/mcp"
	health   = "/healthz"
	// patience is how long running requests may take once the server is asked to end.
	patience = 10 * time.Second
)

// HTTPOptions is what is offered over HTTP, and from where it may be asked.
type HTTPOptions struct {
	Options
	// InsecureNoAuth allows an address that others than this machine can reach.
	InsecureNoAuth bool
	// Hosts are names, without a port, by which the server is reached besides
	// localhost and addresses.
	Hosts []string
	// Origins are origins, such as https://app.example, whose pages may ask,
	// besides the server's own.
	Origins []string
	// ReadyFile is written when requests are accepted, and removed at the end. It
	// holds the URL of the endpoint and nothing else. Empty means none.
	ReadyFile string
	// Ready is called with that URL, when not nil.
	Ready func(url string)
}

// HTTP serves streamable HTTP (MCP, Transports) at http://addr/mcp, without
// sessions, so that clients of every revision are served on one URL; /healthz
// answers 200. addr is HOST:PORT; port 0 takes a free one.
//
// HTTP returns nil when ctx ends. Running requests are given ten seconds first;
// what runs then is cancelled and answered so.
func HTTP(ctx context.Context, addr string, o HTTPOptions) error {
	listener, err := listen(addr, o.InsecureNoAuth)
	if err != nil {
		return err
	}
	return o.serve(ctx, listener, *listener.Addr().(*net.TCPAddr))
}

// serve is HTTP on an open listener, which it closes.
func (o HTTPOptions) serve(ctx context.Context, listener net.Listener, addr net.TCPAddr) error {
	stop, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler:           o.handler(newServer(o.Options, stop), addr.IP.IsLoopback()),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(o.log().Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()

	at := endpointURL(addr)
	// What it tells people comes first: whoever waits for the file may ask at once, and
	// what is logged of that comes after.
	if o.Ready != nil {
		o.Ready(at)
	}
	if o.ReadyFile != "" {
		if err := writeFile(o.ReadyFile, at); err != nil {
			server.Close()
			<-ended
			return fmt.Errorf("writing the ready file: %w", err)
		}
		defer os.Remove(o.ReadyFile)
	}

	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if err := shutdown(server, patience); err == nil {
		return nil
	}
	cancel()
	if err := shutdown(server, grace); err != nil {
		o.log().Error("requests are left unanswered: their calls do not end")
		server.Close()
	}
	return nil
}

// shutdown waits for the running requests, no longer than limit.
func shutdown(s *http.Server, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return s.Shutdown(ctx)
}

// listen opens addr, unless others could reach it who must not.
func listen(addr string, insecure bool) (net.Listener, error) {
	resolved, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("the address %q is not HOST:PORT: %w", addr, err)
	}
	if !insecure && !resolved.IP.IsLoopback() {
		return nil, fmt.Errorf("the address %q can be reached from other machines, and anyone who reaches it could call every tool with the server's credentials: take a loopback address, such as 127.0.0.1:%d, or allow it with --insecure-no-auth", addr, resolved.Port)
	}
	// The address that was judged, not the name again.
	return net.ListenTCP("tcp", resolved)
}

// endpointURL is the URL by which this machine reaches the endpoint.
func endpointURL(a net.TCPAddr) string {
	host := a.IP.String()
	if a.IP.IsUnspecified() {
		host = "localhost"
	}
	return (&url.URL{Scheme: "http", Host: net.JoinHostPort(host, fmt.Sprint(a.Port)), Path: endpoint}).String()
}

// writeFile writes a file that is there whole or not at all.
func writeFile(name, text string) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// handler serves one generation. local says that only this machine reaches it.
func (o HTTPOptions) handler(s *mcp.Server, local bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(endpoint, exactly(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
		Stateless:                    true,
		JSONResponse:                 true,
		Logger:                       sdkLog(o.Log),
		MaxRequestBodyBytes:          maxMessageBytes,
		PropagateRequestCancellation: true,
		// guard does what this would, and knows Hosts.
		DisableLocalhostProtection: true,
	})))
	mux.HandleFunc(health, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not found: MCP is served at "+endpoint, http.StatusNotFound)
	})
	return guard{o, local, timely(mux)}
}

// guard keeps web pages out. A page of another site says so in Origin; one that
// had its own name resolve to this server (DNS rebinding) is known by a Host
// that is not ours.
type guard struct {
	HTTPOptions
	local bool
	next  http.Handler
}

func (g guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.ours(r.Host) {
		http.Error(w, fmt.Sprintf("forbidden: this server is not reached by the host %q", r.Host), http.StatusForbidden)
		return
	}
	for _, origin := range r.Header["Origin"] {
		if !g.welcome(origin, r.Host) {
			http.Error(w, fmt.Sprintf("forbidden: pages of the origin %q may not ask", origin), http.StatusForbidden)
			return
		}
	}
	g.next.ServeHTTP(w, r)
}

// ours says whether the server is reached by the host of a Host header. A name
// may resolve to anything; an address can only be itself.
func (g guard) ours(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	if slices.ContainsFunc(append([]string{"localhost"}, g.Hosts...), func(name string) bool { return strings.EqualFold(host, name) }) {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && (ip.Unmap().IsLoopback() || !g.local)
}

// welcome says whether pages of an origin may ask: those of the server itself,
// whatever the scheme, since TLS may end before it, and those allowed.
func (g guard) welcome(origin, host string) bool {
	if slices.Contains(g.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}
