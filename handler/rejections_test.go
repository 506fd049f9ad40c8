package handler

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRejectionsAreExplained has tokens that do not fit the configuration, one for each step of the check: the
// log says at its default level which setting or claim it is, with both values, and says it again only after
// ten minutes.
func TestRejectionsAreExplained(t *testing.T) {
	t.Parallel()
	now := testNow
	genuine := func(claims map[string]any) string { return sign(t, jose.HS256, []byte(hmacSecret), claims, nil) }
	with := func(name string, value any) string {
		c := goodClaims()
		c["iss"], c["aud"] = "https://id.example.com/", "feed"
		c[name] = value
		if value == nil {
			delete(c, name)
		}
		return genuine(c)
	}
	tokens := map[string]struct{ token, says string }{
		"iss":       {with("iss", "https://id.example.com"), `its iss is \"https://id.example.com\", and auth.jwt.issuer is \"https://id.example.com/\"`},
		"aud":       {with("aud", []string{"feeds", "mail"}), `its aud is [\"feeds\" \"mail\"], and auth.jwt.audience is [\"feed\"]`},
		"exp":       {with("exp", nil), "the token has no exp"},
		"time":      {with("nbf", testNow.Add(time.Hour).Unix()), "compare the clocks"},
		"signature": {sign(t, jose.HS256, []byte(strings.Repeat("another", 8)), goodClaims(), nil), "error in cryptographic primitive"},
		"form":      {sign(t, jose.HS512, []byte(hmacSecret), goodClaims(), nil), "HS512"},
		"key":       {sign(t, jose.HS256, []byte(hmacSecret), goodClaims(), map[string]any{"crit": []string{"x"}}), "crit"},
	}
	var log bytes.Buffer
	cfg := JWT{Secret: hmacSecret, Issuer: "https://id.example.com/", Audience: "feed"}
	v, err := newVerifier(Auth{JWT: cfg}, func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	reject := func() {
		for step, of := range tokens {
			_, _, err := v.agent(t.Context(), of.token)
			require.ErrorContains(t, err, "the token is invalid", step)
		}
	}
	reject()
	for step, of := range tokens {
		assert.Contains(t, log.String(), "level=WARN", step)
		assert.Contains(t, log.String(), "step="+step+" ")
		assert.Contains(t, log.String(), of.says)
	}
	require.Equal(t, len(tokens), strings.Count(log.String(), "\n"), log.String())
	for range 3 {
		now = now.Add(time.Minute)
		reject()
	}
	require.Equal(t, len(tokens), strings.Count(log.String(), "\n"), "at most one warning of a step in ten minutes")
	now = now.Add(tellEvery)
	reject()
	require.Equal(t, 2*len(tokens), strings.Count(log.String(), "\n"))
	_, _, err = v.agent(t.Context(), with("sub", "u_1"))
	require.NoError(t, err)
}
