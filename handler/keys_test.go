package handler

import (
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
)

// TestJWTKeysReloaded checks that two seconds after a change of the file a removed key is rejected
// and an added one accepted, and that an unreadable file changes nothing.
func TestJWTKeysReloaded(t *testing.T) {
	t.Parallel()
	k := keyring()
	one, other := jose.JSONWebKey{Key: &k.rsa.PublicKey, KeyID: "one"}, jose.JSONWebKey{Key: &k.ec.PublicKey, KeyID: "other"}
	set := func(keys ...jose.JSONWebKey) string {
		data, err := json.Marshal(jose.JSONWebKeySet{Keys: append([]jose.JSONWebKey{}, keys...)})
		require.NoError(t, err)
		return string(data)
	}
	path := jwksFile(t, one)
	synctest.Test(t, func(t *testing.T) {
		f := newJWTFixture(t, JWT{JWKS: path})
		claims := goodClaims()
		tokens := []string{
			sign(t, rs256, k.rsa, claims, map[string]any{"kid": "one"}),
			sign(t, es256, k.ec, claims, map[string]any{"kid": "other"}),
		}
		for _, step := range []struct {
			name, content string
			opens         [2]bool // whether the tokens of the keys one and other are accepted
		}{
			{"as at the start", set(one), [2]bool{true, false}},
			{"both", set(one, other), [2]bool{true, true}},
			{"half written", set(one)[:20], [2]bool{true, true}},
			{"only the other", set(other), [2]bool{false, true}},
			{"none", set(), [2]bool{false, false}},
			{"one again", set(one), [2]bool{true, false}},
		} {
			require.NoError(t, os.WriteFile(path, []byte(step.content), 0o600))
			time.Sleep(keysFor)
			for i, token := range tokens {
				got := f.do(t, "GET", "/v1/agents/u_1/profile", "", "Authorization: Bearer "+token)
				require.Equal(t, step.opens[i], got.status != 401, "%s, token %d", step.name, i)
			}
		}
		require.NoError(t, os.Remove(path))
		for range 3 {
			time.Sleep(keysFor)
			require.NotEqual(t, 401, f.do(t, "GET", "/v1/agents/u_1/profile", "", "Authorization: Bearer "+tokens[0]).status)
		}
		require.Contains(t, f.log.String(), "no such file")
	})
}

func TestCallerSecretsReloaded(t *testing.T) {
	t.Parallel()
	now := Secrets{Admin: "first-admin", JWT: hmacSecret}
	f := newFixture(t, func(c *Config, _ *Deps) {
		c.Auth = Auth{Mode: ModeJWT, AdminToken: now.Admin, JWT: JWT{Secret: now.JWT}, Current: func() Secrets { return now }}
		c.Clock = func() time.Time { return testNow }
	})
	claims := goodClaims()
	token := sign(t, hs256, []byte(hmacSecret), claims, nil)
	status := func(header string) int { return f.do(t, "GET", "/v1/agents/u_1/profile", "", header).status }
	require.NotEqual(t, 401, status("Authorization: Bearer "+token))
	require.NotEqual(t, 401, status("X-Admin-Token: first-admin"))
	now = Secrets{Admin: "second-admin", JWT: "another secret that is as long as the first"}
	require.Equal(t, 401, status("Authorization: Bearer "+token))
	require.Equal(t, 401, status("X-Admin-Token: first-admin"))
	require.NotEqual(t, 401, status("X-Admin-Token: second-admin"))

	// In rotation, both are accepted, each as a whole.
	now = Secrets{Admin: "third-admin\nsecond-admin", JWT: "a third secret that is as long as the first\n" + hmacSecret}
	require.NotEqual(t, 401, status("Authorization: Bearer "+token))
	require.NotEqual(t, 401, status("Authorization: Bearer "+sign(t, hs256, []byte("a third secret that is as long as the first"), claims, nil)))
	for token, opens := range map[string]bool{"third-admin": true, "second-admin": true, "first-admin": false, "": false, now.Admin: false} {
		require.Equal(t, opens, status("X-Admin-Token: "+strings.ReplaceAll(token, "\n", " ")) != 401, "%q", token)
	}
	now.JWT += "\n" // as no file can make it
	for _, secret := range []string{"", now.JWT, "another secret that is as long as the first"} {
		forged := withMAC(hs256, []byte(secret), token[:strings.LastIndexByte(token, '.')])
		require.Equal(t, 401, status("Authorization: Bearer "+forged), "%q", secret)
	}
}

// TestJWTUnusableKeysIgnored checks that keys which the server cannot use, as identity providers
// publish them besides others, keep no other key from being used, at the start and later.
func TestJWTUnusableKeysIgnored(t *testing.T) {
	t.Parallel()
	k := keyring()
	good, err := json.Marshal(jose.JSONWebKey{Key: &k.ec.PublicKey, KeyID: "good", Use: "sig"})
	require.NoError(t, err)
	small, err := json.Marshal(jose.JSONWebKey{Key: &k.smallRSA.PublicKey, KeyID: "small"})
	require.NoError(t, err)
	unusable := map[string]string{
		"Ed448":                `{"kty":"OKP","crv":"Ed448","kid":"a","use":"sig","x":"AAAA"}`,
		"X25519":               `{"kty":"OKP","crv":"X25519","kid":"a","use":"enc","x":"AAAA"}`,
		"secp256k1":            `{"kty":"EC","crv":"secp256k1","kid":"a","x":"AAAA","y":"AAAA"}`,
		"ML-DSA":               `{"kty":"AKP","alg":"ML-DSA-44","kid":"a","pub":"AAAA"}`,
		"kind of the future":   `{"kty":"NEW","kid":"a","value":{"n":1}}`,
		"without kind":         `{"kid":"a"}`,
		"damaged point":        `{"kty":"EC","crv":"P-256","kid":"a","x":"AAAA","y":"AAAA"}`,
		"damaged certificate":  `{"kty":"RSA","kid":"a","n":"AAAA","e":"AQAB","x5c":["AAAA"]}`,
		"kid that is a number": `{"kty":"EC","crv":"P-256","kid":1,"x":"AAAA","y":"AAAA"}`,
		"small RSA":            string(small),
		"no object":            `"key"`,
	}
	for name, bad := range unusable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys, _, err := parseKeys([]byte(`{"keys":[` + bad + `,` + string(good) + `]}`))
			require.NoError(t, err)
			require.Equal(t, keySet{es256: {"good": &k.ec.PublicKey}}, keys)
		})
	}
}

// TestJWTKeysOfOneKid checks that of two keys with one algorithm and kid the first is used, and the log
// names the other one. The same key twice is no mistake.
func TestJWTKeysOfOneKid(t *testing.T) {
	t.Parallel()
	k := keyring()
	of := func(key any) jose.JSONWebKey { return jose.JSONWebKey{Key: key, KeyID: "a"} }
	path := jwksFile(t, of(&k.rsa.PublicKey), of(&k.ec.PublicKey), of(&k.otherRSA.PublicKey), of(&k.ec.PublicKey))
	var log syncBuffer
	f, err := openKeys(path, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	require.Equal(t, keySet{rs256: {"a": &k.rsa.PublicKey}, es256: {"a": &k.ec.PublicKey}}, *f.keys.Load())
	require.Equal(t, 1, strings.Count(log.String(), "level=WARN"))
	require.Contains(t, log.String(), `key 3 (kid \"a\"): unusable key: an earlier RS256 key has the same kid`)
}

// TestJWTUnusableKeysLogged checks that a key that is not used is named in the log, and that a file in
// which nothing is usable because it is damaged does not remove the previous keys.
func TestJWTUnusableKeysLogged(t *testing.T) {
	t.Parallel()
	k := keyring()
	good := jose.JSONWebKey{Key: &k.ec.PublicKey, KeyID: "good"}
	path := jwksFile(t, good, jose.JSONWebKey{Key: &k.smallRSA.PublicKey, KeyID: "small"})
	var log syncBuffer
	f, err := openKeys(path, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	require.Contains(t, log.String(), "small")
	require.Contains(t, log.String(), "2048")
	require.NoError(t, os.WriteFile(path, []byte(`{"keys":[{"kty":"EC","crv":"P-256","kid":"good","x":"AAAA","y":"AAAA"}]}`), 0o600))
	f.reload()
	require.Contains(t, log.String(), "previous ones stay in use")
	require.Contains(t, *f.keys.Load(), es256)
}
