package rest

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// TestSSRF pins ssrf: what an address is decides, in whatever way it is written.
func TestSSRF(t *testing.T) {
	for _, tt := range []struct {
		ip    string
		kind  string
		reach reach
	}{
		{"8.8.8.8", "public", always},
		{"2606:4700::1111", "public", always},
		{"172.32.0.1", "public", always},
		{"100.128.0.1", "public", always},
		{"64:ff9b::8.8.8.8", "public", always},
		{"2002:808:808::1", "public", always},

		{"127.0.0.1", "loopback", named},
		{"127.255.0.1", "loopback", named},
		{"::1", "loopback", named},
		{"0.0.0.0", "this machine", named},
		{"::", "this machine", named},
		{"10.1.2.3", "private", named},
		{"172.16.0.1", "private", named},
		{"172.31.255.255", "private", named},
		{"192.168.0.1", "private", named},
		{"fd12::1", "private", named},
		{"fec0::1", "site-local", named},
		{"100.64.0.1", "carrier's", named},
		{"198.18.0.1", "reserved", named},
		{"240.0.0.1", "reserved", named},
		{"64:ff9b:1::1", "NAT64", named},
		{"::ffff:127.0.0.1", "loopback", named},
		{"::ffff:10.0.0.1", "private", named},
		{"64:ff9b::10.0.0.1", "private", named},
		{"64:ff9b::127.0.0.1", "loopback", named},
		{"2002:7f00:1::", "loopback", named},
		{"2001:0:1:2:3:4:80ff:fffe", "loopback", named},
		{"::ffff:0:10.0.0.1", "private", named},
		{"::10.0.0.1", "private", named},

		{"169.254.169.254", "link-local", never},
		{"169.254.0.1", "link-local", never},
		{"fe80::1", "link-local", never},
		{"fe80::1%eth0", "link-local", never},
		{"::ffff:169.254.169.254", "link-local", never},
		{"64:ff9b::169.254.169.254", "link-local", never},
		{"2002:a9fe:a9fe::", "link-local", never},
		{"fd00:ec2::254", "metadata", never},
		{"fd20:ce::254", "metadata", never},
		{"100.100.100.200", "metadata", never},
		{"192.0.0.192", "metadata", never},
		{"168.63.129.16", "metadata", never},
		{"224.0.0.1", "multicast", never},
		{"ff02::1", "multicast", never},
		{"255.255.255.255", "broadcast", never},
	} {
		kind, reach := classify(netip.MustParseAddr(tt.ip))
		if !strings.Contains(kind, tt.kind) || reach != tt.reach {
			t.Errorf("%s is %s, %d; want %s, %d", tt.ip, kind, reach, tt.kind, tt.reach)
		}
	}
}

// TestPermit shows whom the kinds of address let through, and that the refusal
// names the option, if there is one.
func TestPermit(t *testing.T) {
	strict := &guard{upstream: "api", hosts: map[string]bool{"api.example": true, "10.0.0.1": true}}
	loose := &guard{upstream: "api", hosts: strict.hosts, allowPrivate: true}
	for _, tt := range []struct {
		g              *guard
		host, resolved string
		want           string // "" means permitted
	}{
		{strict, "api.example", "8.8.8.8:443", ""},
		{strict, "other.example", "8.8.8.8:443", ""},
		{strict, "api.example", "10.0.0.1:443", ""},
		{strict, "API.example", "127.0.0.1:443", ""},
		{strict, "10.0.0.1", "10.0.0.1:443", ""},
		{strict, "other.example", "10.0.0.1:443", "other.example is at 10.0.0.1, a private address, where only hosts that the configuration names are looked for: set network: allowPrivate: true"},
		{strict, "other.example", "[::1]:443", "a loopback address"},
		{loose, "other.example", "10.0.0.1:443", ""},
		{strict, "api.example", "169.254.169.254:80", "api.example is at 169.254.169.254, a link-local address, where nothing is ever sent"},
		{loose, "api.example", "[fe80::1%lo]:80", "where nothing is ever sent"},
		{loose, "api.example", "[fd00:ec2::254]:80", "a cloud's metadata address"},
		{strict, "api.example", "/run/socket", "is no address"},
	} {
		err := tt.g.permit(tt.host, tt.resolved)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s at %s: got %v, want %q", tt.host, tt.resolved, err, tt.want)
		}
	}
}

// TestSSRFAtDialTime shows that the check stands in the way of connections, for
// names as for addresses.
func TestSSRFAtDialTime(t *testing.T) {
	s := record(t, nil)
	u := s.upstream(t) // names 127.0.0.1
	c := newClient(t, Options{}, u)
	if _, err := c.Do(t.Context(), get(u, "/x"), CallOptions{}); err != nil {
		t.Errorf("the configured host: %v", err)
	}
	dial := c.upstreams["api"].transport.DialContext
	var e *Error
	if _, err := dial(t.Context(), "tcp", "localhost:"+u.URL.Port()); !errors.As(err, &e) || e.Kind != AddressRefused {
		t.Errorf("another name: got %v", err)
	}
	if _, err := dial(t.Context(), "tcp", "localhost"); err == nil {
		t.Error("an address without a port was dialled")
	}
	u.AllowPrivate = true
	conn, err := newClient(t, Options{}, u).upstreams["api"].transport.DialContext(t.Context(), "tcp", "localhost:"+u.URL.Port())
	if err != nil {
		t.Fatalf("with allowPrivate: %v", err)
	}
	conn.Close()

	metadata := Upstream{Name: "api", URL: mustURL(t, "http://169.254.169.254/latest"), AllowPrivate: true}
	_, err = newClient(t, Options{}, metadata).Do(t.Context(), get(metadata, "/meta-data"), CallOptions{})
	if e := wantKind(t, err, AddressRefused); e.Sent || e.Message != `the upstream "api": 169.254.169.254 is a link-local address, where nothing is ever sent` {
		t.Errorf("got %+v", e)
	}
}
