package handler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/freshet/freshet/feed"
)

// maxToken is the longest accepted token, in bytes.
const maxToken = 8 << 10

// The supported signature algorithms. The configured keys decide which of them are accepted,
// never the token.
const (
	hs256 = "HS256"
	rs256 = "RS256"
	es256 = "ES256"
)

// notValid is the only error that a caller gets for an invalid token.
func notValid() error { return fmt.Errorf("%w: the token is invalid", feed.ErrUnauthenticated) }

// verifier checks tokens.
type verifier struct {
	log    *slog.Logger
	parser *jwt.Parser
	secret func() string // HS256; nil with keys
	keys   *keyFile
	leeway time.Duration
	claim  string // claim that names the agent
}

// subjectClaim is the default claim that names the agent.
const subjectClaim = "sub"

func newVerifier(auth Auth, clock feed.Clock, log *slog.Logger) (*verifier, error) {
	cfg, v := auth.JWT, &verifier{log: log, leeway: auth.JWT.Leeway, claim: cmp.Or(auth.JWT.Claim, subjectClaim)}
	methods := []string{rs256, es256}
	if cfg.Secret != "" {
		v.secret, methods = func() string { return auth.secrets().JWT }, []string{hs256}
	} else {
		var err error
		if v.keys, err = openKeys(cfg.JWKS, log); err != nil {
			return nil, err
		}
	}
	options := []jwt.ParserOption{
		jwt.WithValidMethods(methods), jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(), jwt.WithLeeway(cfg.Leeway), jwt.WithTimeFunc(clock), jwt.WithJSONNumber(),
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

// agent validates a token and returns its agent. The answer does not say why a token is rejected,
// which would help attackers; the log does, at level debug.
func (v *verifier) agent(ctx context.Context, token string) (string, error) {
	if len(token) > maxToken {
		return "", notValid()
	}
	// A map, because a signed null would leave a struct of claims unset, and the
	// parser would check nothing.
	claims := jwt.MapClaims{}
	if _, err := v.parser.ParseWithClaims(token, claims, v.key); err != nil {
		// The signature is checked first, so only the holder of a genuine token learns that it
		// has expired. Clients need to know, to fetch a new one.
		if errors.Is(err, jwt.ErrTokenExpired) {
			return "", fmt.Errorf("%w: the token has expired", feed.ErrUnauthenticated)
		}
		v.log.DebugContext(ctx, "a token was rejected", "cause", err)
		return "", notValid()
	}
	agent, err := feed.AgentOf(v.subject(claims))
	if err != nil {
		return "", fmt.Errorf("%w: the token's claim %q does not contain a valid agent", feed.ErrUnauthenticated, v.claim)
	}
	return agent, nil
}

// subject returns the text of the claim that names the agent; "" if there is none. A claim other
// than "sub", which RFC 7519 defines as text, may be a whole number.
func (v *verifier) subject(claims jwt.MapClaims) string {
	switch value := claims[v.claim].(type) {
	case string:
		return value
	case json.Number:
		if _, err := value.Int64(); err == nil && v.claim != subjectClaim {
			return value.String()
		}
	}
	return ""
}

// until returns when an accepted token stops being accepted.
func (v *verifier) until(token string) (time.Time, error) {
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil {
		return time.Time{}, err
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || expires == nil {
		return time.Time{}, notValid()
	}
	return expires.Add(v.leeway), nil
}

// key returns the key for a token. Only keys of the token's algorithm are
// searched, so that a public key can never be used as a secret.
func (v *verifier) key(t *jwt.Token) (any, error) {
	// "crit" lists extensions that must be understood; none is supported.
	if _, critical := t.Header["crit"]; critical {
		return nil, errors.New("critical header extensions are not supported")
	}
	if v.secret != nil {
		return []byte(v.secret()), nil
	}
	keys := v.keys.now()[t.Method.Alg()]
	named, hasKid := t.Header["kid"]
	if !hasKid {
		if len(keys) != 1 {
			return nil, errors.New("the token has no kid, and not exactly one key has its algorithm")
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
		return nil, errors.New("unknown kid")
	}
	return key, nil
}
