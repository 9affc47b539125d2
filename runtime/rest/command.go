package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// plainLife is how long the output of a command is kept that does not say when
// it ends.
const plainLife = time.Minute + renewBefore

// maxOutput bounds what is read of a command's output, in bytes.
const maxOutput = 64 << 10

// commands runs the commands of secrets and keeps what they give.
type commands struct {
	run    func(ctx context.Context, argv []string) ([]byte, error)
	mu     sync.Mutex
	leases map[string]*lease
}

// lease gives the one lease of a command.
func (c *commands) lease(argv []string) *lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := strings.Join(argv, "\x00")
	if c.leases[key] == nil {
		if c.leases == nil {
			c.leases = map[string]*lease{}
		}
		c.leases[key] = newLease()
	}
	return c.leases[key]
}

// fetch gives what a command hands out.
func (c *commands) fetch(ctx context.Context, argv []string) (string, error) {
	return c.lease(argv).get(ctx, "", func() (string, time.Time, error) {
		out, err := c.run(ctx, argv)
		if err != nil {
			return "", time.Time{}, err
		}
		value, until, err := parseOutput(out)
		if err == nil {
			err = usable(value) // what is of no use is not kept
		}
		return value, until, err
	})
}

// runCommand runs a command without a shell. What it says on its standard error
// is not shown: nobody knows what is in it.
func runCommand(ctx context.Context, argv []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second // for children that keep its output open
	var out bytes.Buffer
	stdout := &bounded{&out, maxOutput}
	cmd.Stdout = stdout
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case stdout.left < 0:
		return nil, fmt.Errorf("it gives more than %d bytes", maxOutput)
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("there is no such command")
	case errors.As(err, &exit):
		return nil, fmt.Errorf("it ended with %s: run it by hand to see why", exit.ProcessState)
	case err != nil:
		return nil, errors.New("it cannot be run")
	}
	return out.Bytes(), nil
}

// bounded is a writer that fails beyond a number of bytes.
type bounded struct {
	w    io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errTooLarge
	}
	return b.w.Write(p)
}

// parseOutput reads what a command gives: the secret as plain text, or a JSON
// object with the secret and the time when it ends, as the commands of clouds
// print them.
func parseOutput(out []byte) (string, time.Time, error) {
	text := strings.TrimSpace(string(out))
	plain := time.Now().Add(plainLife)
	if !strings.HasPrefix(text, "{") {
		return text, plain, nil
	}
	var members map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&members); err != nil {
		return "", time.Time{}, errors.New("its output begins like JSON and is none")
	}
	value := ""
	for _, name := range []string{"accessToken", "access_token", "token"} {
		if s, ok := members[name].(string); ok && value == "" {
			value = s
		}
	}
	if value == "" {
		return "", time.Time{}, errors.New("its output has no member accessToken, access_token or token")
	}
	// expires_on comes first: expiresOn is local time without a zone.
	for _, name := range []string{"expires_on", "expiresOn", "expiry"} {
		if given, ok := members[name]; ok {
			until, err := parseTime(fmt.Sprint(given))
			if err != nil {
				return "", time.Time{}, fmt.Errorf("its member %s is no time", name)
			}
			return value, until, nil
		}
	}
	return value, plain, nil
}

// parseTime reads seconds since 1970, RFC 3339, or the local time of the Azure
// command.
func parseTime(s string) (time.Time, error) {
	if seconds, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Unix(seconds, 0), nil
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	return time.ParseInLocation("2006-01-02 15:04:05", s, time.Local) // takes a fraction too
}
