package handler

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
)

const hmacSecret = "a secret of more than thirty-two bytes"

// testNow is the time at which all tokens of these tests are checked.
var testNow = time.Unix(1_770_000_000, 0)

// keyring is created once, because generating RSA keys is slow.
var keyring = sync.OnceValue(func() (k struct {
	rsa, otherRSA, smallRSA *rsa.PrivateKey
	ec, otherEC, p384       *ecdsa.PrivateKey
},
) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	var err error
	k.rsa, err = rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	k.otherRSA, err = rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	k.smallRSA, err = rsa.GenerateKey(rand.Reader, 1024)
	must(err)
	k.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	k.otherEC, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	k.p384, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	must(err)
	return k
})

func goodClaims() map[string]any {
	return map[string]any{"sub": "u_1", "exp": testNow.Add(time.Hour).Unix()}
}

func claimsWith(name string, value any) map[string]any {
	c := goodClaims()
	if value == nil {
		delete(c, name)
	} else {
		c[name] = value
	}
	return c
}

const none jose.SignatureAlgorithm = "none"

// sign returns a token with these claims and this additional header. It signs with a secret of any
// length.
func sign(t testing.TB, method jose.SignatureAlgorithm, key any, claims, header map[string]any) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	require.NoError(t, err)
	if secret, ok := key.([]byte); ok || method == none {
		all := map[string]any{"alg": method}
		maps.Copy(all, header)
		head, err := json.Marshal(all)
		require.NoError(t, err)
		return withMAC(method, secret, raw(string(head), string(payload)))
	}
	options := &jose.SignerOptions{}
	for name, value := range header {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: method, Key: key}, options)
	require.NoError(t, err)
	signed, err := signer.Sign(payload)
	require.NoError(t, err)
	token, err := signed.CompactSerialize()
	require.NoError(t, err)
	return token
}

// withMAC appends the signature of a text, which is empty for the method none.
func withMAC(method jose.SignatureAlgorithm, secret []byte, text string) string {
	hash := sha256.New
	switch method {
	case none:
		return text + "."
	case jose.HS512:
		hash = sha512.New
	}
	mac := hmac.New(hash, secret)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func jwksFile(t testing.TB, keys ...jose.JSONWebKey) string {
	t.Helper()
	data, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "jwks.json")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func newJWTFixture(t testing.TB, cfg JWT) *fixture {
	return newFixture(t, func(c *Config, _ *Deps) {
		c.Auth.Mode, c.Auth.JWT = ModeJWT, cfg
		c.Clock = func() time.Time { return testNow }
	})
}

func raw(parts ...string) string {
	for i, p := range parts {
		parts[i] = base64.RawURLEncoding.EncodeToString([]byte(p))
	}
	return strings.Join(parts, ".")
}

func signRaw(payload string) string {
	return withMAC(hs256, []byte(hmacSecret), raw(`{"alg":"HS256"}`, payload))
}

func TestTokenSignedWithSecret(t *testing.T) {
	t.Parallel()
	hs := func(claims map[string]any) string {
		return sign(t, hs256, []byte(hmacSecret), claims, nil)
	}
	good := hs(goodClaims())
	head, rest, _ := strings.Cut(good, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	k := keyring()
	claims, err := json.Marshal(goodClaims())
	require.NoError(t, err)
	// The signature of RFC 7797, over the payload itself.
	unencoded := withMAC(hs256, []byte(hmacSecret), raw(`{"alg":"HS256","b64":false}`)+"."+string(claims))
	// In a segment of 16 bytes, the last four bits have no meaning.
	spaced := withMAC(hs256, []byte(hmacSecret), raw(`{"alg":"HS256" }`, string(claims)))
	for _, tt := range []struct {
		name, auth string
		ok         bool
	}{
		{"good, with a space", "Bearer " + spaced, true},
		{"good", "Bearer " + good, true},
		{"scheme in other case", "bearer " + good, true},
		{"within the leeway", "Bearer " + hs(claimsWith("exp", testNow.Add(-20*time.Second).Unix())), true},
		{"starts within the leeway", "Bearer " + hs(claimsWith("nbf", testNow.Add(20*time.Second).Unix())), true},
		{"no header", "", false},
		{"other scheme", "Basic " + good, false},
		{"no token", "Bearer ", false},
		{"rubbish", "Bearer rubbish", false},
		{"two dots", "Bearer ..", false},
		{"four parts", "Bearer " + good + "." + signature, false},
		{"too long, though good", "Bearer " + hs(claimsWith("pad", strings.Repeat("A", maxToken))), false},
		{"expired", "Bearer " + hs(claimsWith("exp", testNow.Add(-time.Minute).Unix())), false},
		{"expires at this instant, with the leeway", "Bearer " + hs(claimsWith("exp", testNow.Add(-30*time.Second).Unix())), false},
		{"no exp", "Bearer " + hs(claimsWith("exp", nil)), false},
		{"exp is a word", "Bearer " + hs(claimsWith("exp", "never")), false},
		{"exp beyond all bounds", "Bearer " + raw(`{"alg":"HS256"}`, `{"sub":"u_1","exp":1e400}`) + ".x", false},
		{"not yet", "Bearer " + hs(claimsWith("nbf", testNow.Add(time.Minute).Unix())), false},
		{"issued lately", "Bearer " + hs(claimsWith("iat", testNow.Add(-time.Minute).Unix())), true},
		{"issued within the leeway", "Bearer " + hs(claimsWith("iat", testNow.Add(20*time.Second).Unix())), true},
		{"issued in the future", "Bearer " + hs(claimsWith("iat", testNow.Add(time.Minute).Unix())), false},
		{"issued in a year, with a fraction", "Bearer " + hs(claimsWith("iat", float64(testNow.AddDate(1, 0, 0).Unix())+0.5)), false},
		{"iat is a word", "Bearer " + hs(claimsWith("iat", "lately")), false},
		{"no sub", "Bearer " + hs(claimsWith("sub", nil)), false},
		{"sub is empty", "Bearer " + hs(claimsWith("sub", "")), false},
		{"sub is a list", "Bearer " + hs(claimsWith("sub", []string{"u_1"})), false},
		{"sub is half a character", "Bearer " + signRaw(`{"sub":"u_\ud800","exp":9999999999}`), false},
		{"sub is a number", "Bearer " + hs(claimsWith("sub", 7)), false},
		{"other secret", "Bearer " + sign(t, hs256, []byte("another secret"), goodClaims(), nil), false},
		{"stronger hash", "Bearer " + sign(t, jose.HS512, []byte(hmacSecret), goodClaims(), nil), false},
		{"an RSA token", "Bearer " + sign(t, rs256, k.rsa, goodClaims(), nil), false},
		{"none", "Bearer " + sign(t, none, nil, goodClaims(), nil), false},
		{"none with the signature", "Bearer " + raw(`{"alg":"none"}`) + "." + payload + "." + signature, false},
		{"None", "Bearer " + raw(`{"alg":"None"}`) + "." + payload + ".", false},
		{"no alg", "Bearer " + raw(`{"typ":"JWT"}`) + "." + payload + "." + signature, false},
		{"header null", "Bearer " + raw(`null`) + "." + payload + "." + signature, false},
		{"signature cut", "Bearer " + head + "." + payload + ".", false},
		{"other payload", "Bearer " + head + "." + raw(`{"sub":"u_2","exp":9999999999}`) + "." + signature, false},
		{"critical extension", "Bearer " + sign(t, hs256, []byte(hmacSecret), goodClaims(), map[string]any{"crit": []string{"b64"}, "b64": false}), false},
		{"b64, not listed as critical", "Bearer " + unencoded[:strings.IndexByte(unencoded, '.')] + "." + payload + unencoded[strings.LastIndexByte(unencoded, '.'):], false},
		{"encoded in another way", "Bearer " + strings.Replace(spaced, "fQ.", "fR.", 1), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newJWTFixture(t, JWT{Secret: hmacSecret})
			// The header of the other mode must be ignored.
			got := f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, "X-Agent-ID: u_9", "Authorization: "+tt.auth)
			if tt.ok {
				require.Equal(t, 0, got.Code, got.body)
				require.Equal(t, "u_1", f.feed.asked().Agent)
				return
			}
			require.Equal(t, 401, got.status)
			require.Equal(t, 40101, got.Code)
			require.Equal(t, "Bearer", got.header.Get("WWW-Authenticate"))
			require.Zero(t, f.feed.asked())
			require.NotContains(t, got.Msg, "sign", "how a token failed is nobody's business")
			require.NotContains(t, f.log.String(), payload)
		})
	}
}

func TestTokenAgentID(t *testing.T) {
	t.Parallel()
	const auth0 = "auth0|507f1f77bcf86cd799439011"
	for _, tt := range []struct {
		name, claim string
		claims      map[string]any
		agent       string // "" means refused
	}{
		{"an agent id", "", claimsWith("sub", "u_1"), "u_1"},
		{"another alphabet", "", claimsWith("sub", auth0), "sub.MWbbK5Zp17vDiVSi23ttOejVD9ltIBoU_eE-6WAbvNY"},
		{"beyond ASCII", "", claimsWith("sub", "Zoë"), "sub.xqEmmFgvwRBOokEHotcmgUX_Bu-FlwdynQH9BgiX8Gc"},
		{"another claim", "uid", claimsWith("uid", "u_2"), "u_2"},
		{"another claim, another alphabet", "email", claimsWith("email", "a+b@example.com"), "sub.e5fizV2k6dXOSi230sscQGtOZ-Xj-SiDVATQFKqjj4w"},
		{"a claim with a name that is a link", "https://example.com/uid", claimsWith("https://example.com/uid", "u_3"), "u_3"},
		{"a number", "user_id", claimsWith("user_id", 9007199254740993), "9007199254740993"},
		{"a number below zero", "user_id", claimsWith("user_id", -1), "-1"},
		{"a fraction", "user_id", claimsWith("user_id", 1.5), ""},
		{"a number in another form", "user_id", claimsWith("user_id", json.Number("1e3")), ""},
		{"null", "user_id", map[string]any{"user_id": nil, "sub": "u_1", "exp": testNow.Add(time.Hour).Unix()}, ""},
		{"true", "user_id", claimsWith("user_id", true), ""},
		{"without the claim", "uid", goodClaims(), ""},
		{"the claim without sub", "uid", map[string]any{"uid": "u_4", "exp": testNow.Add(time.Hour).Unix()}, "u_4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newJWTFixture(t, JWT{Secret: hmacSecret, Claim: tt.claim})
			token := "Authorization: Bearer " + sign(t, hs256, []byte(hmacSecret), tt.claims, nil)
			got := f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, token)
			require.Equal(t, tt.agent, f.feed.asked().Agent, got.body)
			if tt.agent == "" {
				require.Equal(t, 40101, got.Code)
				return
			}
			require.Zero(t, f.do(t, "PUT", "/v1/agents/"+tt.agent+"/profile", "{}", token).Code)
			require.Equal(t, 40301, f.do(t, "PUT", "/v1/agents/u_9/profile", "{}", token).Code)
		})
	}
}

func TestTokenSignedNull(t *testing.T) {
	t.Parallel()
	f := newJWTFixture(t, JWT{Secret: hmacSecret})
	require.Equal(t, 40101, f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, "Authorization: Bearer "+signRaw(`null`)).Code)
}

func TestTokenIssuerAndAudience(t *testing.T) {
	t.Parallel()
	cfg := JWT{Secret: hmacSecret, Issuer: "https://id.example", Audience: "feed"}
	claims := func(iss, aud any) map[string]any {
		c := goodClaims()
		for name, value := range map[string]any{"iss": iss, "aud": aud} {
			if value != nil {
				c[name] = value
			}
		}
		return c
	}
	for _, tt := range []struct {
		name   string
		claims map[string]any
		code   int
	}{
		{"both", claims("https://id.example", "feed"), 0},
		{"one of several audiences", claims("https://id.example", []string{"shop", "feed"}), 0},
		{"other issuer", claims("https://evil.example", "feed"), 40101},
		{"no issuer", claims(nil, "feed"), 40101},
		{"other audience", claims("https://id.example", "shop"), 40101},
		{"no audience", claims("https://id.example", nil), 40101},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newJWTFixture(t, cfg)
			token := sign(t, hs256, []byte(hmacSecret), tt.claims, nil)
			require.Equal(t, tt.code, f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, "Authorization: Bearer "+token).Code)
		})
	}
}

func TestTokenSignedWithKeySet(t *testing.T) {
	t.Parallel()
	k := keyring()
	two := []jose.JSONWebKey{
		{Key: &k.rsa.PublicKey, KeyID: "r1", Use: "sig", Algorithm: "RS256"},
		{Key: &k.ec.PublicKey, KeyID: "e1"},
		{Key: &k.p384.PublicKey, KeyID: "e384"},
		{Key: &k.otherRSA.PublicKey, KeyID: "enc", Use: "enc"},
	}
	twoRSA := append([]jose.JSONWebKey{{Key: &k.otherRSA.PublicKey, KeyID: "r2"}}, two[0])
	rsaDER, err := x509.MarshalPKIXPublicKey(&k.rsa.PublicKey)
	require.NoError(t, err)
	rsaPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: rsaDER})
	kid := func(id any) map[string]any { return map[string]any{"kid": id} }

	for _, tt := range []struct {
		name  string
		keys  []jose.JSONWebKey
		token string
		code  int
	}{
		{"RS256", two, sign(t, rs256, k.rsa, goodClaims(), kid("r1")), 0},
		{"ES256", two, sign(t, es256, k.ec, goodClaims(), kid("e1")), 0},
		{"no kid, one key of the kind", two, sign(t, rs256, k.rsa, goodClaims(), nil), 0},
		{"no kid, two keys", twoRSA, sign(t, rs256, k.rsa, goodClaims(), nil), 40101},
		{"second of two", twoRSA, sign(t, rs256, k.rsa, goodClaims(), kid("r1")), 0},
		{"the other key's kid", twoRSA, sign(t, rs256, k.rsa, goodClaims(), kid("r2")), 40101},
		{"unknown kid", two, sign(t, rs256, k.rsa, goodClaims(), kid("r9")), 40101},
		{"kid of another kind", two, sign(t, rs256, k.rsa, goodClaims(), kid("e1")), 40101},
		{"kid is a path", two, sign(t, rs256, k.rsa, goodClaims(), kid("../../dev/null")), 40101},
		{"kid is a number", two, sign(t, rs256, k.rsa, goodClaims(), kid(1)), 40101},
		{"key for encryption", two, sign(t, rs256, k.otherRSA, goodClaims(), kid("enc")), 40101},
		{"not in the set", two, sign(t, rs256, k.otherRSA, goodClaims(), kid("r1")), 40101},
		{"not in the set, EC", two, sign(t, es256, k.otherEC, goodClaims(), kid("e1")), 40101},
		{"expired", two, sign(t, rs256, k.rsa, claimsWith("exp", 1), kid("r1")), 40101},
		{"PS256", two, sign(t, jose.PS256, k.rsa, goodClaims(), kid("r1")), 40101},
		{"RS512", two, sign(t, jose.RS512, k.rsa, goodClaims(), kid("r1")), 40101},
		{"ES384", two, sign(t, jose.ES384, k.p384, goodClaims(), kid("e384")), 40101},
		{"none", two, sign(t, none, nil, goodClaims(), kid("r1")), 40101},
		{"the public key as a secret, PEM", two, sign(t, hs256, rsaPEM, goodClaims(), kid("r1")), 40101},
		{"the public key as a secret, DER", two, sign(t, hs256, rsaDER, goodClaims(), kid("r1")), 40101},
		{"empty secret", two, sign(t, hs256, []byte{}, goodClaims(), kid("r1")), 40101},
		{"a key it brings along", two, sign(t, rs256, k.otherRSA, goodClaims(),
			map[string]any{"jwk": jose.JSONWebKey{Key: &k.otherRSA.PublicKey}, "jku": "https://evil.example/keys"}), 40101},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newJWTFixture(t, JWT{JWKS: jwksFile(t, tt.keys...)})
			got := f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, "Authorization: Bearer "+tt.token)
			require.Equal(t, tt.code, got.Code, got.body)
		})
	}
}

func TestJWTKeyFilesRefused(t *testing.T) {
	t.Parallel()
	k := keyring()
	for name, tt := range map[string]struct {
		keys []jose.JSONWebKey
		says string
	}{
		"empty":         {nil, "no public"},
		"only P-384":    {[]jose.JSONWebKey{{Key: &k.p384.PublicKey, KeyID: "a"}}, "no public"},
		"RSA for RS512": {[]jose.JSONWebKey{{Key: &k.rsa.PublicKey, KeyID: "a", Algorithm: "RS512"}}, "no public"},
		"private":       {[]jose.JSONWebKey{{Key: k.rsa, KeyID: "a"}}, "private"},
		"secret":        {[]jose.JSONWebKey{{Key: []byte(hmacSecret), KeyID: "a"}}, "secret"},
		"small RSA":     {[]jose.JSONWebKey{{Key: &k.smallRSA.PublicKey, KeyID: "a"}}, "2048"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newVerifier(Auth{JWT: JWT{JWKS: jwksFile(t, tt.keys...)}}, time.Now, slog.Default())
			require.ErrorContains(t, err, tt.says)
		})
	}
	_, _, err := parseKeys([]byte("not json"))
	require.ErrorContains(t, err, "JSON Web Key Set")
}

func TestJWTModeOnAdminRoutes(t *testing.T) {
	t.Parallel()
	f := newJWTFixture(t, JWT{Secret: hmacSecret})
	f.items["a"] = `{"id":"a"}`
	agent := "Authorization: Bearer " + sign(t, hs256, []byte(hmacSecret), goodClaims(), nil)
	require.Equal(t, 0, f.do(t, "GET", "/v1/items/a", "", "Authorization: Bearer "+adminToken).Code)
	require.Equal(t, 0, f.do(t, "GET", "/v1/items/a", "", agent, asAdmin).Code)
	require.Equal(t, 40301, f.do(t, "GET", "/v1/items/a", "", agent).Code)
	require.Equal(t, 40101, f.do(t, "GET", "/v1/items/a", "", "Authorization: Bearer x.y.z").Code)
	require.Equal(t, 40101, f.do(t, "GET", "/v1/items/a", "", asAgent).Code)
	require.Equal(t, 0, f.do(t, "PUT", "/v1/agents/u_1/profile", "{}", agent).Code)
	require.Equal(t, 40301, f.do(t, "PUT", "/v1/agents/u_2/profile", "{}", agent).Code)
	require.Equal(t, 40101, f.do(t, "PUT", "/v1/agents/u_1/profile", "{}", asAgent).Code)
}

func TestTokenRefusalReasonLogged(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	debug := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	v, err := newVerifier(Auth{JWT: JWT{Secret: hmacSecret, Audience: "feed"}}, func() time.Time { return testNow }, debug)
	require.NoError(t, err)
	claims := goodClaims()
	claims["aud"] = "shop"
	token := sign(t, hs256, []byte(hmacSecret), claims, nil)
	_, _, err = v.agent(t.Context(), token)
	require.EqualError(t, err, notValid().Error())
	require.Contains(t, log.String(), "audience")
	for part := range strings.SplitSeq(token, ".") {
		require.NotContains(t, log.String(), part)
	}
}

// FuzzToken compares the verifier with a signature computed here: it accepts no token that was not
// signed with the secret.
func FuzzToken(f *testing.F) {
	good := sign(f, hs256, []byte(hmacSecret), goodClaims(), nil)
	for _, seed := range []string{good, good + "=", "a.b.c", "..", raw(`{"alg":"none"}`, `{"sub":"u_1"}`) + ".", "Bearer " + good, raw(`null`, `null`, ``), good[:10] + "\n" + good[10:]} {
		f.Add(seed)
	}
	verifier, err := newVerifier(Auth{JWT: JWT{Secret: hmacSecret}}, func() time.Time { return testNow }, slog.Default())
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, token string) {
		agent, _, err := verifier.agent(t.Context(), token)
		if err != nil {
			require.Equal(t, 40101, problemOf(err).code)
			return
		}
		require.Equal(t, "u_1", agent)
		dot := strings.LastIndexByte(token, '.')
		want, err := base64.RawURLEncoding.DecodeString(withMAC(hs256, []byte(hmacSecret), token[:dot])[dot+1:])
		require.NoError(t, err)
		got, err := base64.RawURLEncoding.DecodeString(token[dot+1:])
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestTokenSentTwice(t *testing.T) {
	t.Parallel()
	f := newJWTFixture(t, JWT{Secret: hmacSecret})
	good := "Authorization: Bearer " + sign(t, hs256, []byte(hmacSecret), goodClaims(), nil)
	other := claimsWith("sub", "u_2")
	second := "Authorization: Bearer " + sign(t, hs256, []byte(hmacSecret), other, nil)
	for _, headers := range [][]string{{good, second}, {second, good}, {good, "Authorization: Bearer x"}, {"Authorization: Bearer x", good}, {"Authorization: ", good}} {
		require.Equal(t, 40101, f.do(t, "POST", "/v1/feed", refresh, headers...).Code, headers)
	}
	require.Equal(t, 0, f.do(t, "POST", "/v1/feed", refresh, good).Code)
}
