package rest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
)

// minSecret is the least length of a secret in bytes. Secrets are masked by
// value; a shorter one would mask ordinary text too.
const minSecret = 8

// Secret refers to a secret; exactly one member is given. The value is read
// each time that a call needs it.
type Secret struct {
	// Env names an environment variable.
	Env string
	// File is a path; white space at the end of the content is dropped.
	File string
	// Exec is a command with its arguments, run without a shell. It prints the
	// secret, or a JSON object with accessToken, access_token or token, and
	// expires_on, expiresOn or expiry. Its output is kept until shortly before
	// that time, or for a minute.
	Exec []string
	// InboundHeader names a header of the HTTP request that brought the call.
	InboundHeader string
}

// String gives the reference for people: "env NAME", "file PATH", "exec COMMAND"
// without the arguments, or "inbound header NAME".
func (s Secret) String() string {
	switch {
	case s.Env != "":
		return "env " + s.Env
	case s.File != "":
		return "file " + s.File
	case len(s.Exec) > 0:
		return "exec " + s.Exec[0]
	}
	return "inbound header " + s.InboundHeader
}

// Check says what is wrong with the reference itself.
func (s Secret) Check() error {
	given := 0
	for _, is := range []bool{s.Env != "", s.File != "", s.Exec != nil, s.InboundHeader != ""} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("a secret needs exactly one of env, file, exec and inboundHeader")
	case s.Exec != nil && (len(s.Exec) == 0 || s.Exec[0] == ""):
		return errors.New("exec needs a command")
	case s.InboundHeader != "":
		return checkInbound(s.InboundHeader)
	}
	return nil
}

// secrets reads what references refer to.
type secrets struct {
	getenv   func(string) (string, bool)
	readFile func(string) ([]byte, error)
	commands commands
}

// fetch gives the value behind a reference as it stands there.
func (r *secrets) fetch(ctx context.Context, s Secret, inbound http.Header) (string, error) {
	switch {
	case s.Env != "":
		value, ok := r.getenv(s.Env)
		if !ok {
			return "", errors.New("it is not set")
		}
		return value, nil
	case s.File != "":
		b, err := r.readFile(s.File)
		if err != nil {
			return "", unreadable(err)
		}
		return strings.TrimRight(string(b), " \t\r\n\v\f"), nil
	case len(s.Exec) > 0:
		return r.commands.fetch(ctx, s.Exec)
	}
	return fromInbound(inbound, s.InboundHeader)
}

// unreadable says why a file cannot be read, without its name.
func unreadable(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied")
	}
	return errors.New("the file cannot be read")
}

// Secret gives the value of a secret that is for this server itself, fit for
// use, and has it masked from then on: the latest values of one that is rotated.
// The error names the reference.
func (c *Client) Secret(ctx context.Context, s Secret) (string, error) {
	return c.reader(ctx, CallOptions{})(s)
}

// reader gives the value of a secret, fit for use, or an error that names the
// reference and never the value.
type reader func(Secret) (string, error)

// reader reads secrets for one call. A value of the server's own is masked from then on,
// as one of the latest of its secret; one that the caller has brought in that call.
func (c *Client) reader(ctx context.Context, o CallOptions) reader {
	return func(s Secret) (string, error) {
		value, err := c.secrets.fetch(ctx, s, o.Inbound)
		if err == nil {
			err = usable(value)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", s, err)
			if s.InboundHeader != "" && o.Inbound != nil {
				err = notBrought{err}
			}
			return "", err
		}
		c.maskOf(o, s.brought()).add(s.owner(), value)
		return value, nil
	}
}

// notBrought is an error about a secret that the caller of a call must bring.
type notBrought struct{ error }

// Look says why a secret cannot be read as things are. It looks at variables and
// files alone: commands are run when a call needs them, and headers come with one.
func (c *Client) Look(s Secret) error {
	if s.Env == "" && s.File == "" {
		return nil
	}
	_, err := c.Secret(context.Background(), s)
	return err
}

// Absent lists, in sentences, what exchanges with an upstream need and what cannot
// be read as things are: secrets in variables and files, and the files of TLS.
func (c *Client) Absent(upstream string) []string {
	u := c.upstreams[upstream]
	if u == nil {
		return nil
	}
	var secrets []Secret
	for _, d := range u.credentials {
		secrets = append(secrets, d.refs...)
	}
	if u.Proxy != nil && u.Proxy.Auth != nil {
		secrets = append(secrets, u.Proxy.Auth.refs()...)
	}
	var all []string
	for _, s := range secrets {
		if err := c.Look(s); err != nil {
			all = append(all, err.Error())
		}
	}
	for _, file := range u.TLS.files() {
		if _, err := c.secrets.readFile(file); err != nil {
			all = append(all, fmt.Sprintf("file %s: %v", file, unreadable(err)))
		}
	}
	return all
}

// usable says why a value cannot serve as a secret.
func usable(value string) error {
	switch {
	case value == "":
		return errors.New("it is empty")
	case strings.ContainsFunc(value, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return errors.New("it holds a line break or another control character")
	case len(value) < minSecret:
		return fmt.Errorf("it is shorter than %d bytes", minSecret)
	}
	return nil
}
