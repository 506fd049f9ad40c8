package handler

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"github.com/freshet/freshet/feed"
)

// maxToken is the longest accepted token, in bytes.
const maxToken = 8 << 10

// The supported signature algorithms. The configured keys decide which of them are
// accepted, never the token.
const (
	hs256 = "HS256"
	rs256 = "RS256"
	es256 = "ES256"
)

// minRSABits is the smallest RSA key that RFC 7518 allows (section 3.3).
const minRSABits = 2048

// adviseSecret is the length of an HS256 secret that RFC 7518 requires (section 3.2).
const adviseSecret = 32

// notValid is all that a caller learns about a token that is not valid.
func notValid() error { return fmt.Errorf("%w: the token is not valid", feed.ErrUnauthenticated) }

// verifier checks tokens.
type verifier struct {
	log    *slog.Logger
	parser *jwt.Parser
	secret []byte // HS256; nil with keys
	keys   keySet
}

// keySet holds public keys by algorithm and kid.
type keySet map[string]map[string]any

func newVerifier(cfg JWT, clock feed.Clock, log *slog.Logger) (*verifier, error) {
	v := &verifier{log: log}
	var methods []string
	if cfg.Secret != "" {
		if len(cfg.Secret) < adviseSecret {
			log.Warn("auth.jwt.secret is short; use at least 32 random bytes", "bytes", len(cfg.Secret))
		}
		v.secret, methods = []byte(cfg.Secret), []string{hs256}
	} else {
		data, err := os.ReadFile(cfg.JWKS)
		if err != nil {
			return nil, fmt.Errorf("auth.jwt.jwks: %w", err)
		}
		if v.keys, err = parseKeys(data); err != nil {
			return nil, fmt.Errorf("auth.jwt.jwks %s: %w", cfg.JWKS, err)
		}
		for method := range v.keys {
			methods = append(methods, method)
		}
	}
	options := []jwt.ParserOption{
		jwt.WithValidMethods(methods), jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(), jwt.WithLeeway(cfg.Leeway), jwt.WithTimeFunc(clock),
	}
	if cfg.Issuer != "" {
		options = append(options, jwt.WithIssuer(cfg.Issuer))
	}
	if cfg.Audience != "" {
		options = append(options, jwt.WithAudience(cfg.Audience))
	}
	v.parser = jwt.NewParser(options...)
	return v, nil
}

// parseKeys reads a JSON Web Key Set. Keys for encryption and of other algorithms
// are skipped; a private or secret key is an error.
func parseKeys(data []byte) (keySet, error) {
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, fmt.Errorf("it is not a JSON Web Key Set: %w", err)
	}
	keys := keySet{}
	for i := range set.Keys {
		k := &set.Keys[i]
		if k.Use != "" && k.Use != "sig" {
			continue
		}
		method, err := methodOf(k)
		if err != nil {
			return nil, fmt.Errorf("key %d (kid %q): %w", i+1, k.KeyID, err)
		}
		if method == "" || k.Algorithm != "" && k.Algorithm != method {
			continue
		}
		if keys[method] == nil {
			keys[method] = map[string]any{}
		}
		if _, twice := keys[method][k.KeyID]; twice {
			return nil, fmt.Errorf("two %s keys have the kid %q", method, k.KeyID)
		}
		keys[method][k.KeyID] = k.Key
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no public RSA or P-256 key for signatures")
	}
	return keys, nil
}

// methodOf returns the algorithm of a key, "" for one that is not supported.
func methodOf(k *jose.JSONWebKey) (string, error) {
	if !k.Valid() {
		return "", errors.New("it is not a valid key")
	}
	switch key := k.Key.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < minRSABits {
			return "", fmt.Errorf("RSA keys need at least %d bits, this one has %d", minRSABits, key.N.BitLen())
		}
		return rs256, nil
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P256() {
			return es256, nil
		}
		return "", nil
	}
	if !k.IsPublic() {
		return "", errors.New("it is a private or secret key; the file must hold public keys only")
	}
	return "", nil
}

// agent checks a token and returns its subject. The answer does not say why a token
// is refused, which would help attackers; the log does, at level debug.
func (v *verifier) agent(ctx context.Context, token string) (string, error) {
	if len(token) > maxToken {
		return "", notValid()
	}
	// A map, because a signed null would leave a struct of claims unset, and the
	// parser would check nothing.
	claims := jwt.MapClaims{}
	if _, err := v.parser.ParseWithClaims(token, claims, v.key); err != nil {
		// The signature is checked first, so only the owner of a real token learns
		// that it has expired. Clients need to know, to fetch a new one.
		if errors.Is(err, jwt.ErrTokenExpired) {
			return "", fmt.Errorf("%w: the token has expired", feed.ErrUnauthenticated)
		}
		v.log.DebugContext(ctx, "a token was refused", "cause", err)
		return "", notValid()
	}
	subject, err := claims.GetSubject()
	if err != nil || feed.CheckAgentID(subject) != nil {
		return "", fmt.Errorf("%w: the token's subject is not an agent id", feed.ErrUnauthenticated)
	}
	return subject, nil
}

// key returns the key for a token. Only keys of the token's algorithm are
// searched, so that a public key can never be used as a secret.
func (v *verifier) key(t *jwt.Token) (any, error) {
	// "crit" lists extensions that must be understood; none is supported.
	if _, critical := t.Header["crit"]; critical {
		return nil, errors.New("critical extensions are not known")
	}
	if v.secret != nil {
		return v.secret, nil
	}
	keys := v.keys[t.Method.Alg()]
	named, hasKid := t.Header["kid"]
	if !hasKid {
		if len(keys) != 1 {
			return nil, errors.New("the token does not name its key")
		}
		for _, key := range keys {
			return key, nil
		}
	}
	kid, ok := named.(string)
	if !ok {
		return nil, errors.New("the kid is not a string")
	}
	key, ok := keys[kid]
	if !ok {
		return nil, errors.New("the kid is not known")
	}
	return key, nil
}
