package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

const testAdmin = "an-admin-token-for-tests"

const (
	guest = ""      // a caller without an agent id
	admin = "admin" // a caller with the admin token
)

func asReader(t *testing.T, a *App, method, path, body string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-Agent-ID", "u_1")
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	if w.Code == http.StatusServiceUnavailable {
		assert.NotEmpty(t, w.Header().Get("Retry-After"), path)
	}
	return w.Code
}

func callJSON(t *testing.T, a *App, method, path, agent, body string, answer any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-Agent-ID", agent)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), answer))
}

// feedCall makes a call of the feed over HTTP with the server's own deadline. It returns the status
// and the body.
func feedCall(ctx context.Context, a *App, agent, body string) (int, string) {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/feed", strings.NewReader(body))
	r.Header.Set("X-Agent-ID", agent)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// askAdmin makes a call as an admin and as an agent, and returns the data of its answer.
func askAdmin[T any](t *testing.T, a *App, method, path, body string) (data T) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("X-Admin-Token", a.cfg.Auth.AdminToken)
	r.Header.Set("X-Agent-ID", "u_1")
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	answer := struct {
		Data *T `json:"data"`
	}{&data}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	return data
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

// outsider is an untrusted client of a real server with a real listener.
type outsider struct {
	t   *testing.T
	url string
	n   *int // number of invalid inputs tried
}

func (s outsider) call(method, path, body string, headers ...string) (status, code int, data string) {
	s.t.Helper()
	*s.n++
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Add(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	var envelope struct {
		Code int             `json:"code"`
		Data json.RawMessage `json:"data"`
	}
	require.NoError(s.t, json.Unmarshal(all, &envelope), "%s %s: %s", method, path, all)
	assert.Less(s.t, res.StatusCode, 500, "%s %s %.200s: %s", method, path, body, all)
	assert.NotContains(s.t, string(all), testAdmin, "%s %s", method, path)
	return res.StatusCode, envelope.Code, string(envelope.Data)
}

// untrusted serves a system with an admin token. Its clock stands still, so that the page of a
// request id does not expire during the test on a busy machine.
func untrusted(t *testing.T, cfg configs.Config) (*App, outsider) {
	t.Helper()
	cfg.Auth.AdminToken = testAdmin
	cfg.Server.RequestTimeout = 30 * time.Second // expensive calls wait, and are answered
	a := open(t, cfg, WithClock(at(time.Now()).Now))
	srv := httptest.NewServer(a.Handler)
	t.Cleanup(srv.Close)
	n := 0
	t.Cleanup(func() { t.Logf("%d calls with bad input", n) })
	return a, outsider{t, srv.URL, &n}
}

const (
	asU1    = "X-Agent-ID: u_1"
	asU2    = "X-Agent-ID: u_2"
	asAdmin = "X-Admin-Token: " + testAdmin
)

// seed gives u_2 a profile and a session, and returns a check that they are unchanged.
func seed(t *testing.T, a *App, s outsider) (unchanged func()) {
	t.Helper()
	now := time.Now().Unix()
	var all []feed.Item
	for i := range 60 {
		all = append(all, feed.Item{ID: fmt.Sprintf("doc_%d", i), Title: "Number", UpdateTime: now - 60 - int64(i), Tags: []string{"go"}})
	}
	put(t, a, all...)
	const profile = `{"interests":{"go":2},"keywords":["kept"]}`
	_, code, _ := s.call("PUT", "/v1/agents/u_2/profile", profile, asU2)
	require.Zero(t, code)
	_, code, first := s.call("POST", "/v1/feed", `{"action":"refresh","request_id":"first"}`, asU2)
	require.Zero(t, code)
	waitRecorded(t, a)
	return func() {
		t.Helper()
		_, _, got := s.call("GET", "/v1/agents/u_2/profile", "", asU2)
		require.JSONEq(t, profile, got, "the profile of another agent")
		_, _, again := s.call("POST", "/v1/feed", `{"action":"refresh","request_id":"first"}`, asU2)
		require.Equal(t, first, again, "the page of another agent")
		_, _, more := s.call("POST", "/v1/feed", `{"action":"load_more","limit":40}`, asU2)
		var page struct {
			Items   []feed.Item `json:"items"`
			HasMore bool        `json:"has_more"`
		}
		require.NoError(t, json.Unmarshal([]byte(more), &page))
		require.Len(t, page.Items, 40, "the rest of another agent's session")
		require.Equal(t, "doc_20", page.Items[0].ID)
	}
}

// httpSystem is a system that is called through its HTTP handler.
type httpSystem struct {
	*testing.T
	a *App
}

func (s *httpSystem) call(reader, method, path, body string, header ...string) (answer httpAnswer) {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), method, path, strings.NewReader(body))
	switch reader {
	case "":
	case admin:
		r.Header.Set("X-Admin-Token", s.a.cfg.Auth.AdminToken)
	default:
		r.Header.Set("X-Agent-ID", reader)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.a.Handler.ServeHTTP(w, r)
	answer.status, answer.body = w.Code, w.Body.String()
	require.NoError(s, json.Unmarshal(w.Body.Bytes(), &answer), answer.body)
	return answer
}

// httpPost is an entry of an answer.
type httpPost struct {
	ID     string `json:"id"`
	InFeed struct {
		Source   string  `json:"source"`
		Reason   *string `json:"reason"`
		HasLiked bool    `json:"has_liked"`
		CanReply bool    `json:"can_reply"`
		CanReact bool    `json:"can_react"`
	} `json:"in_feed"`
}

// httpAnswer is an answer with a post or a list of posts.
type httpAnswer struct {
	status int
	body   string
	Data   struct {
		httpPost
		Items      []httpPost `json:"items"`
		NextCursor *string    `json:"next_cursor"`
		HasMore    bool       `json:"has_more"`
		Degraded   []string   `json:"degraded"`
	} `json:"data"`
}

func (k httpAnswer) ids() []string {
	out := []string{}
	for _, p := range k.Data.Items {
		out = append(out, p.ID)
	}
	return out
}

// readiness is the status of /readyz, and what it says about Elasticsearch.
type readiness struct {
	status      int
	state       string
	error       string
	secondsLeft *int64
}

func ready(t *testing.T, a *App) readiness {
	t.Helper()
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	var got struct {
		Data struct {
			Dependencies map[string]struct {
				State       string `json:"state"`
				Error       string `json:"error"`
				SecondsLeft *int64 `json:"seconds_left"`
			} `json:"dependencies"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	es := got.Data.Dependencies["elasticsearch"]
	return readiness{w.Code, es.State, es.Error, es.SecondsLeft}
}

func waitReady(t *testing.T, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool { return ready(t, a).status == http.StatusOK }, "the server is ready")
}

// served is a system that is served as by freshet serve.
type served struct {
	*App
	t    *testing.T
	url  string
	stop func() // stops the server as SIGTERM does, and returns when it has stopped
}
