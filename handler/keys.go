package handler

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/freshet/freshet/internal/repeatable"
)

// minRSABits is the smallest RSA key that RFC 7518 allows (section 3.3).
const minRSABits = 2048

// keysFor is how long the keys of a file are used before it is read again: a removed key should
// be rejected soon.
const keysFor = 2 * time.Second

// keySet maps algorithm and kid to a public key.
type keySet map[jose.SignatureAlgorithm]map[string]any

// errNoKeys is the error of a key set without usable keys.
var errNoKeys = errors.New("the file has no public RSA or P-256 key for signatures")

// errUnusable is the kind of the errors of a key that is skipped.
var errUnusable = errors.New("unusable key")

// keyFile is a file of public keys that is reread while in use.
type keyFile struct {
	path string
	log  *slog.Logger
	keys atomic.Pointer[keySet]

	mu      sync.Mutex
	read    time.Time
	content []byte
	problem string // error of the last read; "" for none
}

// CheckKeys validates the file auth.jwt.jwks.
func CheckKeys(path string) error {
	_, err := openKeys(path, slog.New(slog.DiscardHandler))
	return err
}

func openKeys(path string, log *slog.Logger) (*keyFile, error) {
	f := &keyFile{path: path, log: log, read: time.Now()}
	if err := f.load(); err != nil {
		return nil, err
	}
	return f, nil
}

// load reads the file. Its errors name the setting.
func (f *keyFile) load() error {
	data, err := repeatable.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("auth.jwt.jwks: %w", err)
	}
	if f.keys.Load() != nil && bytes.Equal(data, f.content) {
		return nil
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("auth.jwt.jwks: %s is empty", f.path)
	}
	keys, unusable, err := parseKeys(data)
	if errors.Is(err, errNoKeys) { // all keys were removed, on purpose
		f.keys.Store(&keySet{})
	}
	if err != nil {
		return fmt.Errorf("auth.jwt.jwks %s: %w", f.path, err)
	}
	for _, cause := range unusable {
		f.log.Warn("a token key cannot be used; tokens that it has signed are rejected", "file", f.path, "cause", cause)
	}
	f.content = data
	f.keys.Store(&keys)
	return nil
}

// now returns the keys of the file, at most seconds old. While the file cannot be read, the
// previous keys stay valid, and a problem is logged when it begins or changes.
func (f *keyFile) now() keySet {
	if f.mu.TryLock() {
		if time.Since(f.read) >= keysFor {
			f.reload()
		}
		f.mu.Unlock()
	}
	return *f.keys.Load()
}

func (f *keyFile) reload() {
	f.read = time.Now()
	before, problem := f.keys.Load(), ""
	if err := f.load(); err != nil {
		problem = err.Error()
	}
	switch {
	case problem != "" && problem != f.problem:
		f.log.Error("the token keys could not be reloaded; the previous ones stay in use", "error", problem)
	case f.keys.Load() != before:
		f.log.Info("the token keys were reloaded", "file", f.path)
	}
	f.problem = problem
}

// parseKeys reads a JSON Web Key Set. Keys for encryption, of other algorithms and of unknown kinds
// are skipped. So are keys that cannot be used, which it returns the causes of: an identity provider
// may publish such a key besides others (RFC 7517, section 5). Of several keys with one algorithm and
// kid the first is used. A private or secret key is an error.
func parseKeys(data []byte) (keys keySet, unusable []error, err error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, nil, fmt.Errorf("the file is not a JSON Web Key Set: %w", err)
	}
	keys = keySet{}
	for i, entry := range set.Keys {
		k, method, err := parseKey(entry)
		if errors.Is(err, errUnusable) {
			unusable = append(unusable, fmt.Errorf("key %d (kid %q): %w", i+1, k.KeyID, err))
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("key %d (kid %q): %w", i+1, k.KeyID, err)
		}
		if method == "" {
			continue
		}
		if keys[method] == nil {
			keys[method] = map[string]any{}
		}
		first, twice := keys[method][k.KeyID]
		switch {
		case !twice:
			keys[method][k.KeyID] = k.Key
		case !equalKeys(first, k.Key):
			unusable = append(unusable, fmt.Errorf("key %d (kid %q): %w: an earlier %s key has the same kid", i+1, k.KeyID, errUnusable, method))
		}
	}
	switch {
	case len(keys) > 0:
		return keys, unusable, nil
	case len(unusable) > 0:
		return nil, nil, errors.Join(unusable...)
	}
	return nil, nil, errNoKeys
}

// equalKeys reports whether two public keys of one algorithm are the same.
func equalKeys(a, b any) bool {
	key, ok := a.(interface {
		Equal(other crypto.PublicKey) bool
	})
	return ok && key.Equal(b)
}

// parseKey reads a key and returns its algorithm, "" if the key is for another one, for encryption or
// of an unknown kind.
func parseKey(entry []byte) (k jose.JSONWebKey, method jose.SignatureAlgorithm, err error) {
	var head struct {
		KeyID string `json:"kid"`
		Use   string `json:"use"`
	}
	if err := json.Unmarshal(entry, &head); err != nil {
		return k, "", fmt.Errorf("%w: %w", errUnusable, err)
	}
	if head.Use != "" && head.Use != "sig" {
		return k, "", nil
	}
	if err := json.Unmarshal(entry, &k); err != nil {
		k.KeyID = head.KeyID
		if errors.Is(err, jose.ErrUnsupportedKeyType) {
			return k, "", nil
		}
		return k, "", fmt.Errorf("%w: %w", errUnusable, err)
	}
	method, err = methodOf(&k)
	if k.Algorithm != "" && k.Algorithm != string(method) {
		method = ""
	}
	return k, method, err
}

// methodOf returns the algorithm of a key, "" if the key is not supported.
func methodOf(k *jose.JSONWebKey) (jose.SignatureAlgorithm, error) {
	if !k.Valid() {
		return "", fmt.Errorf("%w: invalid", errUnusable)
	}
	switch key := k.Key.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < minRSABits {
			return "", fmt.Errorf("%w: RSA keys must have at least %d bits, not %d", errUnusable, minRSABits, key.N.BitLen())
		}
		return rs256, nil
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P256() {
			return es256, nil
		}
		return "", nil
	}
	if !k.IsPublic() {
		return "", errors.New("private or secret key; the file must contain public keys only")
	}
	return "", nil
}
