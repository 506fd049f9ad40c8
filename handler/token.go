package handler

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/freshet/freshet/feed"
)

// maxToken is the longest accepted token, in bytes.
const maxToken = 8 << 10

// The supported signature algorithms. The configured keys decide which of them are accepted,
// never the token.
const (
	hs256 = jose.HS256
	rs256 = jose.RS256
	es256 = jose.ES256
)

// notValid is the only error that a caller gets for an invalid token.
func notValid() error { return fmt.Errorf("%w: the token is invalid", feed.ErrUnauthenticated) }

// verifier checks tokens.
type verifier struct {
	log      *slog.Logger
	clock    feed.Clock
	methods  []jose.SignatureAlgorithm
	secret   func() string // HS256; nil with keys
	keys     *keyFile
	expected jwt.Expected
	leeway   time.Duration
	claim    string // claim that names the agent
	told     rejections
}

// subjectClaim is the default claim that names the agent.
const subjectClaim = "sub"

func newVerifier(auth Auth, clock feed.Clock, log *slog.Logger) (*verifier, error) {
	cfg := auth.JWT
	v := &verifier{
		log: log, clock: clock, methods: []jose.SignatureAlgorithm{rs256, es256},
		expected: jwt.Expected{Issuer: cfg.Issuer}, leeway: cfg.Leeway, claim: cmp.Or(cfg.Claim, subjectClaim),
	}
	if cfg.Audience != "" {
		v.expected.AnyAudience = jwt.Audience{cfg.Audience}
	}
	if cfg.Secret != "" {
		v.secret, v.methods = func() string { return auth.secrets().JWT }, []jose.SignatureAlgorithm{hs256}
		return v, nil
	}
	var err error
	v.keys, err = openKeys(cfg.JWKS, log)
	return v, err
}

// tokenClaims are the claims of a token that are checked. The claim that names the agent is read
// separately: "sub" may have any type if another claim names the agent.
type tokenClaims struct {
	Issuer    string           `json:"iss"`
	Audience  jwt.Audience     `json:"aud"`
	Expiry    *jwt.NumericDate `json:"exp"`
	NotBefore *jwt.NumericDate `json:"nbf"`
	IssuedAt  *jwt.NumericDate `json:"iat"`
}

// agent validates a token and returns its agent, and when it was issued, in Unix seconds; 0 if it does not
// say. The answer does not say why a token is rejected, which would help attackers; the log does: see
// [rejections].
func (v *verifier) agent(ctx context.Context, token string) (agent string, issued int64, err error) {
	if len(token) > maxToken {
		return "", 0, notValid()
	}
	subject, issued, err := v.verify(token)
	switch {
	case errors.Is(err, jwt.ErrExpired):
		// The signature is checked first, so only the holder of a genuine token learns that it
		// has expired. Clients need to know, to fetch a new one.
		return "", 0, fmt.Errorf("%w: the token has expired", feed.ErrUnauthenticated)
	case err != nil:
		v.told.log(ctx, v.log, v.clock(), err)
		return "", 0, notValid()
	}
	agent, err = feed.AgentOf(subject)
	if err != nil {
		return "", 0, fmt.Errorf("%w: the token's claim %q does not contain a valid agent", feed.ErrUnauthenticated, v.claim)
	}
	return agent, issued, nil
}

// verify checks a token and returns the text of the claim that names the agent, and when it was issued.
func (v *verifier) verify(token string) (subject string, issued int64, err error) {
	if !canonical(token) {
		return "", 0, rejected(ofForm, errors.New("a part of the token is not in canonical base64url"))
	}
	t, err := jwt.ParseSigned(token, v.methods)
	if err != nil {
		return "", 0, rejected(ofForm, err)
	}
	keys, err := v.keysFor(t.Headers[0])
	if err != nil {
		return "", 0, rejected(ofKey, err)
	}
	var claims tokenClaims
	var all map[string]json.RawMessage
	for _, key := range keys {
		claims, all = tokenClaims{}, nil
		err = t.Claims(key, &claims, &all)
		if err == nil {
			break
		}
	}
	if err != nil {
		return "", 0, rejected(ofSignature, err)
	}
	if claims.Expiry == nil {
		return "", 0, rejected(ofExpiry, errors.New("the token has no exp"))
	}
	now := v.clock()
	if !now.Before(claims.Expiry.Time().Add(v.leeway)) {
		return "", 0, jwt.ErrExpired
	}
	checked := jwt.Claims{
		Issuer: claims.Issuer, Audience: claims.Audience, NotBefore: claims.NotBefore, IssuedAt: claims.IssuedAt,
	}
	err = checked.ValidateWithLeeway(v.expected.WithTime(now), v.leeway)
	return textOf(all[v.claim], v.claim != subjectClaim), claims.issued(), v.explain(err, claims)
}

// explain says which claim of a genuine token is not as configured, and both values.
func (v *verifier) explain(err error, claims tokenClaims) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return rejected("iss", fmt.Errorf("its iss is %q, and auth.jwt.issuer is %q", claims.Issuer, v.expected.Issuer))
	case errors.Is(err, jwt.ErrInvalidAudience):
		return rejected("aud", fmt.Errorf("its aud is %q, and auth.jwt.audience is %q", []string(claims.Audience), []string(v.expected.AnyAudience)))
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		return rejected("time", fmt.Errorf("%w: compare the clocks of this machine and of the one that signs tokens", err))
	}
	return rejected("claims", err)
}

// canonical reports whether each part of a token is what encoding its bytes gives. The library
// computes the signature of the encoded bytes, not of the received text, so it would accept other
// spellings of a signed token.
func canonical(token string) bool {
	for part := range strings.SplitSeq(token, ".") {
		data, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || base64.RawURLEncoding.EncodeToString(data) != part {
			return false
		}
	}
	return true
}

// textOf returns the text of the claim that names the agent; "" if there is none. A claim other
// than "sub", which RFC 7519 defines as text, may be a whole number.
func textOf(claim json.RawMessage, numbers bool) string {
	var value any
	d := json.NewDecoder(bytes.NewReader(claim))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return ""
	}
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		if _, err := value.Int64(); err == nil && numbers {
			return value.String()
		}
	}
	return ""
}

// until returns when an accepted token stops being accepted.
func (v *verifier) until(token string) (time.Time, error) {
	t, err := jwt.ParseSigned(token, v.methods)
	if err != nil {
		return time.Time{}, err
	}
	var claims tokenClaims
	if err := t.UnsafeClaimsWithoutVerification(&claims); err != nil || claims.Expiry == nil {
		return time.Time{}, notValid()
	}
	return claims.Expiry.Time().Add(v.leeway), nil
}

// issued returns when an accepted token was issued, in Unix seconds; 0 if it does not say.
func (v *verifier) issued(token string) int64 {
	var claims tokenClaims
	t, err := jwt.ParseSigned(token, v.methods)
	if err != nil || t.UnsafeClaimsWithoutVerification(&claims) != nil {
		return 0
	}
	return claims.issued()
}

func (c *tokenClaims) issued() int64 {
	if c.IssuedAt == nil {
		return 0
	}
	return c.IssuedAt.Time().Unix()
}

// keysFor returns the keys that may have signed a token with this header: one, or two secrets while
// they are rotated. Only keys of the token's algorithm are searched, so that a public key can never be
// used as a secret.
func (v *verifier) keysFor(header jose.Header) (keys []any, err error) {
	// "crit" lists extensions that must be understood; none is supported. The library applies "b64"
	// (RFC 7797), even if it is not listed.
	for _, name := range []jose.HeaderKey{"crit", "b64"} {
		_, found := header.ExtraHeaders[name]
		if found {
			return nil, fmt.Errorf("the header %q is not supported", name)
		}
	}
	if v.secret != nil {
		for line := range strings.SplitSeq(v.secret(), "\n") {
			if line != "" { // everybody can sign with an empty one
				keys = append(keys, []byte(line))
			}
		}
		if keys == nil {
			return nil, errors.New("there is no secret")
		}
		return keys, nil
	}
	named := v.keys.now()[jose.SignatureAlgorithm(header.Algorithm)]
	if header.KeyID == "" {
		if len(named) != 1 {
			return nil, errors.New("the token has no kid, and not exactly one key has its algorithm")
		}
		for _, key := range named {
			return []any{key}, nil
		}
	}
	key, ok := named[header.KeyID]
	if !ok {
		return nil, errors.New("unknown kid: if the issuer has new keys, fetch them into the file auth.jwt.jwks")
	}
	return []any{key}, nil
}
