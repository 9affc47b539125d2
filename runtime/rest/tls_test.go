package rest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// issue makes a certificate and its key, in PEM, signed by itself.
func issue(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

// secure starts an upstream over TLS that answers with the client's name and the
// protocol, and gives its certificate too.
func secure(t *testing.T, clients tls.ClientAuthType) (Upstream, []byte) {
	t.Helper()
	cert, key := issue(t, "server")
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) > 0 {
			io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName+" ")
		}
		io.WriteString(w, r.Proto)
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: clients}
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return Upstream{Name: "api", URL: mustURL(t, s.URL+"/base")}, cert
}

// files is a ReadFile over a map.
func files(m map[string][]byte) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if b, ok := m[name]; ok {
			return b, nil
		}
		return nil, fs.ErrNotExist
	}
}

// TestPrivateCA pins private-ca: a certificate authority of one's own is trusted
// where it is named, client certificates are shown, and nothing else changes.
func TestPrivateCA(t *testing.T) {
	clientCert, clientKey := issue(t, "client-one")
	renewedCert, renewedKey := issue(t, "client-two")
	strangeCA, _ := issue(t, "strange")
	u, ca := secure(t, tls.RequireAnyClientCert)
	all := map[string][]byte{"ca": ca, "strange": strangeCA, "cert": clientCert, "key": clientKey, "junk": []byte("junk")}
	for _, tt := range []struct {
		name string
		tls  *TLS
		kind Kind
		want string // in the answer or in the error
	}{
		{"not named", nil, ConnectionFailed, "certificate signed by unknown authority"},
		{"another", &TLS{CAFile: "strange"}, ConnectionFailed, "certificate signed by unknown authority"},
		{"missing", &TLS{CAFile: "none"}, FileUnreadable, "tls: caFile none: there is no such file"},
		{"junk", &TLS{CAFile: "junk"}, FileUnreadable, "tls: caFile junk: it holds no certificate in PEM"},
		{"both", &TLS{CAFile: "ca", CertFile: "cert", KeyFile: "key"}, "", "client-one HTTP/2.0"},
		{"certificate missing", &TLS{CAFile: "ca", CertFile: "none", KeyFile: "key"}, FileUnreadable, "tls: certFile none: there is no such file"},
		{"key missing", &TLS{CAFile: "ca", CertFile: "cert", KeyFile: "none"}, FileUnreadable, "tls: keyFile none: there is no such file"},
		{"no pair", &TLS{CAFile: "ca", CertFile: "cert", KeyFile: "junk"}, FileUnreadable, "they are no certificate and its key"},
		{"skipped", &TLS{InsecureSkipVerify: true, CertFile: "cert", KeyFile: "key"}, "", "client-one HTTP/2.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := u
			u.TLS = tt.tls
			r, err := newClient(t, Options{ReadFile: files(all)}, u).Do(t.Context(), get(u, "/x"), CallOptions{})
			if tt.kind == "" {
				if err != nil || string(r.Body) != tt.want {
					t.Fatalf("got %v, %v", r, err)
				}
				return
			}
			if e := wantKind(t, err, tt.kind); !strings.Contains(e.Message, tt.want) || e.Sent {
				t.Errorf("got %+v", e)
			}
		})
	}
	t.Run("renewed", func(t *testing.T) {
		u := u
		u.TLS = &TLS{CAFile: "ca", CertFile: "cert", KeyFile: "key"}
		now := map[string][]byte{"cert": clientCert, "key": clientKey}
		c := newClient(t, Options{ReadFile: files(now)}, u)
		_, err := c.Do(t.Context(), get(u, "/x"), CallOptions{})
		wantKind(t, err, FileUnreadable)
		now["ca"] = ca // what is missing may come later
		var answers []string
		for range 2 {
			r, err := c.Do(t.Context(), get(u, "/x"), CallOptions{})
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, string(r.Body))
			now["cert"], now["key"] = renewedCert, renewedKey
			c.Close() // the next call makes a connection
		}
		if got := fmt.Sprint(answers); got != "[client-one HTTP/2.0 client-two HTTP/2.0]" {
			t.Errorf("got %s", got)
		}
	})
}

// TestInsecureIsLoud shows that certificates are not left unchecked in silence.
func TestInsecureIsLoud(t *testing.T) {
	var logged bytes.Buffer
	u := Upstream{Name: "api", URL: mustURL(t, "https://api.example"), TLS: &TLS{InsecureSkipVerify: true}}
	newClient(t, Options{Log: slog.New(slog.NewTextHandler(&logged, nil))}, u)
	if !strings.Contains(logged.String(), "level=WARN msg=\"INSECURE") || !strings.Contains(logged.String(), "upstream=api") {
		t.Errorf("got %q", logged.String())
	}
}

// TestProxy shows that requests leave by the configured proxy, with credentials
// of its own, and that without usable ones nothing is sent.
func TestProxy(t *testing.T) {
	proxy := record(t, nil)
	u := Upstream{Name: "api", URL: mustURL(t, "http://api.invalid/base"), Proxy: &Proxy{URL: mustURL(t, proxy.URL)}}
	if _, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x"), CallOptions{}); err != nil {
		t.Fatal(err)
	}
	u.Proxy.Auth = &Basic{Username: Text{Literal: "me"}, Password: Secret{Env: "TOKEN"}}
	c := newClient(t, Options{}, u)
	if _, err := c.Do(t.Context(), get(u, "/x"), CallOptions{}); err != nil {
		t.Fatal(err)
	}
	got := proxy.got()
	if got[0].URI != "http://api.invalid/base/x" || got[0].Header.Get("Proxy-Authorization") != "" {
		t.Errorf("got %+v", got[0])
	}
	if h := got[1].Header.Get("Proxy-Authorization"); h != "Basic "+basic("me", token) || c.Scrub(h) != "Basic ***" {
		t.Errorf("got %q, shown as %q", h, c.Scrub(h))
	}

	u.Proxy.Auth = &Basic{Username: Text{Secret: &Secret{Env: "EMPTY"}}, Password: Secret{Env: "UNSET"}}
	_, err := newClient(t, Options{}, u).Do(t.Context(), get(u, "/x"), CallOptions{})
	want := `nothing was sent to the upstream "api", because the credentials for its proxy cannot be used: env EMPTY: it is empty; env UNSET: it is not set`
	if e := wantKind(t, err, SecretUnreadable); e.Message != want || len(proxy.got()) != 2 {
		t.Errorf("got %+v", e)
	}
}
