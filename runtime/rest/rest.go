// Package rest makes one exchange with an upstream API: it takes a finished
// request, adds the upstream's credentials, sends it and reads the answer. All
// that must hold for every request lives here: where credentials may go, how
// long a call may take, how much may be read, what is never followed, and that
// no secret is shown. It must not know of tools, arguments, CUE or MCP, and it
// does not judge statuses: an answer of any status is an answer.
package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-resty/resty/v2"

	"github.com/metacue/metacue/runtime/bind"
)

// What holds where an Upstream leaves it open.
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxBytes = 16 << 20
)

// Upstream is one HTTP API.
type Upstream struct {
	// Name is the upstream's name in the configuration; errors show it.
	Name string
	// URL is the base of every request: its origin and path bound where
	// requests, and with them credentials, may go.
	URL *url.URL
	// Auth says how requests are authenticated; nil means not at all.
	Auth *Auth
	// SecretHeaders are further headers whose values are secrets.
	SecretHeaders []Named
	// Timeout bounds one call, from the reading of secrets to the last byte of
	// the answer; 0 means DefaultTimeout.
	Timeout time.Duration
	// MaxBytes bounds the decoded body of an answer; 0 means DefaultMaxBytes.
	MaxBytes int64
	// AllowPlaintextAuth lets credentials travel over plain http to hosts other
	// than loopback.
	AllowPlaintextAuth bool
	// AllowPrivate lets connections go to private, loopback and similar addresses
	// for other hosts than those that the configuration names.
	AllowPrivate bool
	// TLS says whom connections trust; nil means whom the system trusts.
	TLS *TLS
	// Proxy is the way that requests leave by; nil means directly, whatever the
	// environment says.
	Proxy *Proxy
	// Retry says how failed requests of idempotent calls are repeated; nil means
	// not at all.
	Retry *Retry
	// Rate bounds the requests a second; nil means no bound.
	Rate *Rate
	// Concurrency bounds the requests under way at once; 0 means no bound.
	Concurrency int
	// Redirects is SameOrigin, or empty to follow none.
	Redirects string
	// Cache says how answers to reads are kept; nil means not at all.
	Cache *Cache
}

// Options are what all upstreams share. Every field may be left out.
type Options struct {
	// Getenv reads an environment variable and says whether it is set.
	// Default: os.LookupEnv.
	Getenv func(string) (string, bool)
	// ReadFile reads a file. Default: os.ReadFile.
	ReadFile func(string) ([]byte, error)
	// Run runs a command and gives its output; its error is shown. Default:
	// os/exec, without a shell.
	Run func(ctx context.Context, argv []string) ([]byte, error)
	// UserAgent is sent where the request sets none. Default: "metacue".
	UserAgent string
	// Log takes what operators may want to know of exchanges; secrets are
	// masked in it. Default: nothing is logged.
	Log *slog.Logger
}

// CallOptions are what one call brings beside its request.
type CallOptions struct {
	// Idempotent says that the request may be repeated without changing more.
	Idempotent bool
	// Read says that the request changes nothing: only then may an answer that
	// was kept serve.
	Read bool
	// Inbound holds the headers of the HTTP request that brought the call, nil
	// over stdio. Nothing of it is sent on unless a Secret names it.
	Inbound http.Header
	// Brought takes the secrets that the caller brings, to be masked in all that is told of
	// the call; nil where this request is all of it.
	Brought *Brought
}

// Client talks to the upstreams. It is safe for concurrent use.
type Client struct {
	upstreams map[string]*upstream
	secrets   secrets
	mask      mask
	userAgent string
	log       *slog.Logger
	writes    atomic.Uint64 // requests that may have changed something, for caching
}

// upstream is an Upstream made ready.
type upstream struct {
	Upstream
	origin      string
	credentials []credential
	client      *resty.Client
	transport   *http.Transport
	wire        http.RoundTripper // transport, with what must come before its use
	do          exchange
}

// layers are what may stand around the plain exchange, the innermost first.
// Each has a file of its own, leaves alone what an upstream does not ask for,
// and can be taken out here.
var layers = []func(*Client, *upstream, exchange) exchange{limits, redirects, retries, renewals, caching}

// New makes a Client. The error joins all faults of all upstreams.
func New(ups []Upstream, o Options) (*Client, error) {
	c := &Client{
		upstreams: make(map[string]*upstream, len(ups)),
		secrets:   secrets{getenv: o.Getenv, readFile: o.ReadFile, commands: commands{run: o.Run}},
		userAgent: o.UserAgent,
		log:       o.Log,
	}
	if c.secrets.getenv == nil {
		c.secrets.getenv = os.LookupEnv
	}
	if c.secrets.readFile == nil {
		c.secrets.readFile = os.ReadFile
	}
	if c.secrets.commands.run == nil {
		c.secrets.commands.run = runCommand
	}
	if c.userAgent == "" {
		c.userAgent = "metacue"
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	var faults []error
	for _, up := range ups {
		u, err := c.ready(up)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if _, ok := c.upstreams[up.Name]; ok {
			faults = append(faults, fmt.Errorf("upstream %q: the name is given twice", up.Name))
			continue
		}
		c.upstreams[up.Name] = u
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return c, nil
}

// ready checks an Upstream and makes what its exchanges need.
func (c *Client) ready(up Upstream) (*upstream, error) {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("upstream %q: %s", up.Name, fmt.Sprintf(format, args...)))
	}
	switch {
	case up.URL == nil:
		fault("url is missing")
	case up.URL.Scheme != "http" && up.URL.Scheme != "https":
		fault("url: the scheme must be http or https")
	case up.URL.Hostname() == "":
		fault("url: the host is missing")
	case up.URL.User != nil:
		fault("url: credentials belong in auth, not in the URL")
	case up.URL.RawQuery != "" || up.URL.Fragment != "":
		fault("url: the base of requests has no query and no fragment")
	}
	if up.Timeout < 0 {
		fault("timeout must not be negative")
	}
	if up.MaxBytes < 0 {
		fault("maxBytes must not be negative")
	}
	if up.Concurrency < 0 {
		fault("concurrency must not be negative")
	}
	if up.Redirects != "" && up.Redirects != SameOrigin {
		fault("redirects must be %q, or left out", SameOrigin)
	}
	credentials, wrong := up.placed()
	for _, err := range wrong {
		fault("%v", err)
	}
	if len(credentials) > 0 {
		for _, err := range up.plaintext() {
			fault("%v", err)
		}
	}
	for _, err := range slices.Concat(up.TLS.check(up.URL), up.Proxy.check(), up.Retry.check(), up.Rate.check(), up.Cache.check()) {
		fault("%v", err)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if up.Timeout == 0 {
		up.Timeout = DefaultTimeout
	}
	if up.MaxBytes == 0 {
		up.MaxBytes = DefaultMaxBytes
	}
	u := &upstream{Upstream: up, origin: bind.Origin(up.URL), credentials: credentials}
	u.transport = c.newTransport(u)
	u.wire = u.transport
	if u.TLS != nil && u.TLS.CAFile != "" {
		u.wire = &trusting{Transport: u.transport, upstream: u.Name, caFile: u.TLS.CAFile, readFile: c.secrets.readFile}
	}
	u.client = c.newResty(sealing{u.wire})
	u.do = c.once(u)
	for _, layer := range layers {
		u.do = layer(c, u, u.do)
	}
	return u, nil
}

// newTransport makes the connections of one upstream. Its deadlines are those
// of the call's context; the ones here only end what a call has left behind.
func (c *Client) newTransport(u *upstream) *http.Transport {
	g := &guard{upstream: u.Name, hosts: map[string]bool{}, allowPrivate: u.AllowPrivate, timeout: u.Timeout}
	for _, named := range u.named() {
		g.hosts[strings.ToLower(named.Hostname())] = true
	}
	return &http.Transport{
		// No proxy is taken from the environment: requests leave by the way
		// that the configuration shows.
		Proxy:                  c.proxy(u),
		DialContext:            g.dial,
		TLSClientConfig:        c.tlsConfig(u),
		TLSHandshakeTimeout:    u.Timeout,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
		// The answer's body is decoded in this package, where it is bounded.
		DisableCompression: true,
		// Without pings a connection that has died in silence fails every call
		// until the system gives it up.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// named lists the URLs whose hosts the configuration names.
func (up *Upstream) named() []*url.URL {
	all := []*url.URL{up.URL}
	if up.Proxy != nil {
		all = append(all, up.Proxy.URL)
	}
	if up.Auth != nil && up.Auth.OAuth2 != nil {
		all = append(all, up.Auth.OAuth2.TokenURL)
	}
	return all
}

// newResty makes a resty client that does as little as possible on its own. It
// is handed finished URLs and bytes and sees no credential: those are added
// below it, by sealing, so its logs, traces and errors cannot hold any.
func (c *Client) newResty(t http.RoundTripper) *resty.Client {
	r := resty.NewWithClient(&http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	r.SetDoNotParseResponse(true)
	r.SetAllowGetMethodPayload(true)
	r.SetDisableWarn(true)
	return r
}

// restyLog hands what resty says of a call on to the client's log.
type restyLog struct {
	c       *Client
	brought *Brought
}

func (l restyLog) Errorf(format string, v ...any) { l.log(slog.LevelError, format, v) }
func (l restyLog) Warnf(format string, v ...any)  { l.log(slog.LevelWarn, format, v) }
func (l restyLog) Debugf(format string, v ...any) { l.log(slog.LevelDebug, format, v) }

func (l restyLog) log(level slog.Level, format string, v []any) {
	l.c.log.Log(context.Background(), level, l.c.scrub(l.brought, fmt.Sprintf(format, v...)))
}

// Close closes the connections that no call uses. Calls under way end as usual.
func (c *Client) Close() {
	for _, u := range c.upstreams {
		u.transport.CloseIdleConnections()
	}
}
