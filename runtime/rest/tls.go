package rest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// TLS says whom an upstream's connections trust, and who they are.
type TLS struct {
	// CAFile holds certificates in PEM; it alone is trusted then, and not what
	// the system trusts. It is read before the first connection.
	CAFile string
	// CertFile and KeyFile hold the client's certificate, with its chain, and its
	// key in PEM. They are read at each handshake, so that they can be renewed.
	CertFile, KeyFile string
	// InsecureSkipVerify accepts any certificate: whoever is in between can read
	// and change everything. It is logged loudly.
	InsecureSkipVerify bool
}

// FileUnreadable is the Kind of an Error about a file of TLS: nothing was sent.
const FileUnreadable Kind = "file unreadable"

// check lists what is wrong with the settings themselves.
func (t *TLS) check(u *url.URL) (faults []error) {
	if t == nil {
		return nil
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		faults = append(faults, errors.New("tls: certFile and keyFile go together"))
	}
	if t.CAFile != "" && t.InsecureSkipVerify {
		faults = append(faults, errors.New("tls: caFile says whom to trust and insecureSkipVerify to trust anyone"))
	}
	if u != nil && u.Scheme == "http" {
		faults = append(faults, errors.New("tls: the url is plain http"))
	}
	return faults
}

// files lists the files that the settings name.
func (t *TLS) files() []string {
	if t == nil {
		return nil
	}
	return slices.DeleteFunc([]string{t.CAFile, t.CertFile, t.KeyFile}, func(name string) bool { return name == "" })
}

// tlsConfig gives the settings that need no file.
func (c *Client) tlsConfig(u *upstream) *tls.Config {
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	t := u.TLS
	if t == nil {
		return out
	}
	if t.InsecureSkipVerify {
		c.log.Warn("INSECURE: the certificates of this upstream are not checked (tls: insecureSkipVerify): anyone in between can read and change what is sent and answered",
			"upstream", u.Name, "host", u.URL.Host)
		out.InsecureSkipVerify = true
	}
	if t.CertFile != "" {
		out.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			cert, err := c.clientCertificate(t)
			if err != nil {
				return nil, &Error{Kind: FileUnreadable, Message: fmt.Sprintf("the upstream %q: tls: %v", u.Name, err)}
			}
			return cert, nil
		}
	}
	return out
}

// clientCertificate reads the certificate that connections are made with.
func (c *Client) clientCertificate(t *TLS) (*tls.Certificate, error) {
	cert, err := c.secrets.readFile(t.CertFile)
	if err != nil {
		return nil, fmt.Errorf("certFile %s: %w", t.CertFile, unreadable(err))
	}
	key, err := c.secrets.readFile(t.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("keyFile %s: %w", t.KeyFile, unreadable(err))
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("certFile %s and keyFile %s: they are no certificate and its key", t.CertFile, t.KeyFile)
	}
	return &pair, nil
}

// trusting is a transport that reads CAFile before its first request. New reads
// no files, so that a configuration can be checked where they are not.
type trusting struct {
	*http.Transport
	upstream string
	caFile   string
	readFile func(string) ([]byte, error)
	mu       sync.Mutex
}

func (t *trusting) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.load(); err != nil {
		return nil, &Error{Kind: FileUnreadable, Message: fmt.Sprintf("the upstream %q: tls: caFile %s: %v", t.upstream, t.caFile, err)}
	}
	return t.Transport.RoundTrip(r)
}

// load reads CAFile unless that has been done.
func (t *trusting) load() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.TLSClientConfig.RootCAs != nil {
		return nil
	}
	pem, err := t.readFile(t.caFile)
	if err != nil {
		return unreadable(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return errors.New("it holds no certificate in PEM")
	}
	t.TLSClientConfig.RootCAs = pool
	return nil
}
