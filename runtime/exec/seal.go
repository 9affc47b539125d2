package exec

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// Sealer makes cursors: texts that callers hand back and can neither read nor
// change. scope is what a cursor belongs to; with another one it does not open.
type Sealer interface {
	Seal(ctx context.Context, scope string, content []byte) (string, error)
	Open(ctx context.Context, scope, cursor string) ([]byte, error)
}

// Readable is a Sealer whose cursors can be read, and so be expected by tests and
// given at a shell: the JSON object {"p": POSITION, "a": ARGUMENTS}. It is for who
// may call everything anyway.
type Readable struct{}

// Seal gives the content.
func (Readable) Seal(_ context.Context, _ string, content []byte) (string, error) {
	return string(content), nil
}

// Open gives the cursor.
func (Readable) Open(_ context.Context, _, cursor string) ([]byte, error) { return []byte(cursor), nil }

// errCursor is what a caller is told of a cursor that does not open.
var errCursor = errors.New("cursor: it was not given by this server for this tool, or is no longer valid: leave it out to begin with the first page")

// aesSealer seals by AES-256-GCM (NIST SP 800-38D), with a random nonce for each
// cursor and a key derived by HKDF (RFC 5869).
type aesSealer struct {
	secret func(context.Context) (string, error)

	mu   sync.Mutex
	of   string // what aead was made from
	aead cipher.AEAD
}

// keyInfo binds derived keys to their use.
const keyInfo = "metacue: cursors, AES-256-GCM, 1"

// NewSealer makes a Sealer whose key is derived from secret, which is read for
// each cursor and may change. Without a secret the key is random: cursors then
// end with the process and mean nothing to others, which log is told once.
func NewSealer(secret func(context.Context) (string, error), log *slog.Logger) Sealer {
	if secret == nil {
		random := sync.OnceValue(func() string {
			if log != nil {
				log.Info("cursors of pages are sealed with a random key: they end with this process, and no replica can read them; set server: sealKey to share one")
			}
			return rand.Text() + rand.Text()
		})
		secret = func(context.Context) (string, error) { return random(), nil }
	}
	return &aesSealer{secret: secret}
}

// cipher gives the cipher for the secret as it is now.
func (s *aesSealer) cipher(ctx context.Context) (cipher.AEAD, error) {
	secret, err := s.secret(ctx)
	if err != nil {
		return nil, fmt.Errorf("the key of cursors (server: sealKey) cannot be used: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aead != nil && s.of == secret {
		return s.aead, nil
	}
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, keyInfo, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	s.of, s.aead = secret, aead
	return aead, nil
}

func (s *aesSealer) Seal(ctx context.Context, scope string, content []byte) (string, error) {
	aead, err := s.cipher(ctx)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, content, []byte(scope))), nil
}

func (s *aesSealer) Open(ctx context.Context, scope, cursor string) ([]byte, error) {
	aead, err := s.cipher(ctx)
	if err != nil {
		return nil, err
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(sealed) < aead.Overhead() {
		return nil, errCursor
	}
	content, err := aead.Open(nil, nil, sealed, []byte(scope))
	if err != nil {
		return nil, errCursor
	}
	return content, nil
}
