package rest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// AddressRefused is the Kind of an Error about an address that is not connected
// to: nothing was sent there.
const AddressRefused Kind = "address refused"

// guard connects to addresses that an upstream's connections may go to. The
// check is made on the address that is about to be connected to, behind all
// name resolution, so that no name and no redirect gets around it.
type guard struct {
	upstream     string
	hosts        map[string]bool // that the configuration names, in lower case
	allowPrivate bool
	timeout      time.Duration
}

// dial is a net.Dialer.DialContext that keeps to the guard's rules.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: g.timeout, KeepAlive: 30 * time.Second,
		Control: func(_, resolved string, _ syscall.RawConn) error { return g.permit(host, resolved) }}
	return dialer.DialContext(ctx, network, address)
}

// permit says why a host, found at a resolved address with its port, is not
// connected to.
func (g *guard) permit(host, resolved string) error {
	at, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return fmt.Errorf("%q is no address", resolved)
	}
	kind, reach := classify(at.Addr())
	place := fmt.Sprintf("%s is %s", host, kind)
	if host != at.Addr().String() {
		place = fmt.Sprintf("%s is at %s, %s", host, at.Addr(), kind)
	}
	if reach == never {
		return &Error{Kind: AddressRefused, Message: fmt.Sprintf(
			"the upstream %q: %s, where nothing is ever sent", g.upstream, place)}
	}
	if reach == named && !g.allowPrivate && !g.hosts[strings.ToLower(host)] {
		return &Error{Kind: AddressRefused, Message: fmt.Sprintf(
			"the upstream %q: %s, where only hosts that the configuration names are looked for: set network: allowPrivate: true",
			g.upstream, place)}
	}
	return nil
}

// reach says who may be connected to at an address.
type reach int

const (
	always reach = iota // anyone
	named               // hosts that the configuration names, and others with allowPrivate
	never
)

// special are the blocks that are not the public internet, from the IANA
// special-purpose registries (RFC 6890), and the addresses at which clouds serve
// their machines' credentials. The first block that holds an address counts.
var special = []struct {
	block netip.Prefix
	kind  string
	reach reach
}{
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address", never},
	{netip.MustParsePrefix("fe80::/10"), "a link-local address", never},
	{netip.MustParsePrefix("fd00:ec2::/32"), "a cloud's metadata address", never},      // Amazon
	{netip.MustParsePrefix("fd20:ce::254/128"), "a cloud's metadata address", never},   // Google
	{netip.MustParsePrefix("100.100.100.200/32"), "a cloud's metadata address", never}, // Alibaba
	{netip.MustParsePrefix("192.0.0.192/32"), "a cloud's metadata address", never},     // Oracle
	{netip.MustParsePrefix("168.63.129.16/32"), "a cloud's metadata address", never},   // Azure
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast address", never},
	{netip.MustParsePrefix("ff00::/8"), "a multicast address", never},
	{netip.MustParsePrefix("255.255.255.255/32"), "the broadcast address", never},

	{netip.MustParsePrefix("127.0.0.0/8"), "a loopback address", named},
	{netip.MustParsePrefix("::1/128"), "a loopback address", named},
	{netip.MustParsePrefix("0.0.0.0/8"), "an address of this machine", named},
	{netip.MustParsePrefix("::/128"), "an address of this machine", named},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private address", named},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private address", named},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private address", named},
	{netip.MustParsePrefix("fc00::/7"), "a private address", named},
	{netip.MustParsePrefix("fec0::/10"), "a site-local address", named},
	{netip.MustParsePrefix("100.64.0.0/10"), "a carrier's shared address", named}, // RFC 6598
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved address", named},
	{netip.MustParsePrefix("192.0.2.0/24"), "a reserved address", named},
	{netip.MustParsePrefix("198.18.0.0/15"), "a reserved address", named},
	{netip.MustParsePrefix("198.51.100.0/24"), "a reserved address", named},
	{netip.MustParsePrefix("203.0.113.0/24"), "a reserved address", named},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address", named},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "a private NAT64 address", named}, // RFC 8215
	{netip.MustParsePrefix("100::/64"), "a reserved address", named},
	{netip.MustParsePrefix("2001:db8::/32"), "a reserved address", named},
}

// embedding are the IPv6 blocks whose addresses stand for an IPv4 address, which
// begins at the given byte.
var embedding = []struct {
	block netip.Prefix
	at    int
	mask  byte
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12, 0},    // NAT64, RFC 6052
	{netip.MustParsePrefix("2002::/16"), 2, 0},        // 6to4, RFC 3056
	{netip.MustParsePrefix("2001::/32"), 12, 0xff},    // Teredo, RFC 4380: inverted
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12, 0}, // SIIT, RFC 2765
	{netip.MustParsePrefix("::/96"), 12, 0},           // IPv4-compatible, RFC 4291 §2.5.5.1
}

// classify says what kind of address ip is, and who may be reached there. One
// that stands for an IPv4 address is what that one is.
func classify(ip netip.Addr) (string, reach) {
	ip = ip.Unmap().WithZone("")
	for _, s := range special {
		if s.block.Contains(ip) {
			return s.kind, s.reach
		}
	}
	for _, e := range embedding {
		if e.block.Contains(ip) {
			whole := ip.As16()
			v4 := [4]byte(whole[e.at : e.at+4])
			for i := range v4 {
				v4[i] ^= e.mask
			}
			return classify(netip.AddrFrom4(v4))
		}
	}
	return "a public address", always
}
