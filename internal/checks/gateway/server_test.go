package gateway

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server"
)

const (
	admin  = "an-admin-token-0123456789abcdef"
	secret = "0123456789abcdef0123456789abcdef"
	listed = "https://app.example.com" // in server.cors.origins
)

// world is a server, the gateway in front of it, and a record of the calls.
type world struct {
	t      *testing.T
	mode   string
	app    *server.App
	client *http.Client

	mu    sync.Mutex
	seen  []*http.Request // calls that reached the server, without bodies
	asked int             // number of calls of the session service
}

func open(t *testing.T, mode string, options ...server.Option) *world {
	t.Helper()
	cfg := configs.Default()
	cfg.DataDir, cfg.Auth.Mode, cfg.Server.CORSOrigins = t.TempDir(), mode, []string{listed}
	if len(options) == 0 { // a demo has no token
		cfg.Auth.AdminToken = admin
	}
	if mode == configs.ModeJWT {
		cfg.Auth.JWT.Secret = secret
	}
	require.NoError(t, cfg.Validate())
	w := &world{t: t, mode: mode}
	var err error
	w.app, err = server.Open(t.Context(), cfg, options...)
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.seen = append(w.seen, &http.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header.Clone()})
		w.mu.Unlock()
		w.app.Handler.ServeHTTP(rw, r)
	}))
	sessions := httptest.NewServer(http.HandlerFunc(w.session))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		sessions.Close()
		require.NoError(t, w.app.Close(context.WithoutCancel(t.Context())))
	})
	w.client = nginx(t, mode, server.Listener.Addr().String(), sessions.Listener.Addr().String())
	return w
}

// session is the session service as the document describes it.
func (w *world) session(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked++
	w.mu.Unlock()
	cookie, err := r.Cookie("session")
	switch {
	case r.URL.Path != "/check" || r.ContentLength != 0:
		rw.WriteHeader(http.StatusBadRequest)
		return
	case err == nil && cookie.Value == "ended":
		rw.WriteHeader(http.StatusUnauthorized)
		return
	case err == nil:
		rw.Header().Set("X-User", cookie.Value)
	}
	rw.WriteHeader(http.StatusNoContent)
}

// answer is the response, with the calls that reached the server.
type answer struct {
	status int
	header http.Header
	body   []byte
	seen   []*http.Request
	asked  int
}

// login returns the headers sent by a browser or an app of the agent.
func (w *world) login(agent string) http.Header {
	if w.mode == configs.ModeJWT {
		return http.Header{"Authorization": {"Bearer " + token(agent)}}
	}
	return http.Header{"Cookie": {"session=" + agent}}
}

// expiry is the same for all tokens, so that the tokens of one agent are equal.
var expiry = time.Now().Add(time.Hour).Unix()

func token(agent string) string {
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		encode(fmt.Appendf(nil, `{"sub":%q,"exp":%d}`, agent, expiry))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}

// send calls the gateway from outside. It does not read streams.
func (w *world) send(method, path string, header http.Header, body []byte) answer {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	resp := w.begin(ctx, method, path, header, body)
	a := answer{status: resp.StatusCode, header: resp.Header}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		var err error
		a.body, err = io.ReadAll(resp.Body)
		require.NoError(w.t, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	a.seen, a.asked = w.seen, w.asked
	w.seen, w.asked = nil, 0
	return a
}

func (w *world) begin(ctx context.Context, method, path string, header http.Header, body []byte) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, site+path, bytes.NewReader(body))
	require.NoError(w.t, err)
	for name, values := range header {
		req.Header[name] = values // with the original spelling
	}
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := w.client.Do(req)
	require.NoError(w.t, err, "%s %s", method, path)
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// direct calls the server without the gateway, as the agent or, if that is empty, as an admin, and
// returns the data of the answer.
func (w *world) direct(agent, method, path, body string) map[string]any {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(body))
	switch {
	case agent == "":
		r.Header.Set("X-Admin-Token", admin)
	case w.mode == configs.ModeJWT:
		r.Header.Set("Authorization", "Bearer "+token(agent))
	default:
		r.Header.Set("X-Agent-ID", agent)
	}
	rec := httptest.NewRecorder()
	w.app.Handler.ServeHTTP(rec, r)
	require.Less(w.t, rec.Code, 300, "%s %s: %s", method, path, rec.Body)
	var in struct{ Data map[string]any }
	require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &in))
	return in.Data
}

// one returns the request of a call that must have reached the server once.
func (a answer) one(t *testing.T, what string) *http.Request {
	t.Helper()
	if !assert.Len(t, a.seen, 1, "%s must reach the server once; it was answered %d: %s", what, a.status, a.body) {
		return &http.Request{}
	}
	return a.seen[0]
}

// isAgent fails the test if the server would have treated the call as one of another agent, or of
// an admin.
func isAgent(t *testing.T, r *http.Request, agent, what string) {
	t.Helper()
	for name, values := range r.Header {
		for _, v := range values {
			assert.NotContains(t, v, admin, "%s: %s brought the admin's token", what, name)
		}
		if strings.EqualFold(strings.ReplaceAll(name, "_", "-"), "X-Agent-ID") {
			assert.Equal(t, []string{agent}, values, "%s: %s", what, name)
		}
	}
	assert.Equal(t, agent, r.Header.Get("X-Agent-ID"), what)
}
