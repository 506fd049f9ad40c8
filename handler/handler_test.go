package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/feed/personal"
	"github.com/freshet/freshet/internal/testenv"
)

const adminToken = "an-admin-token-for-tests"

// TestMain holds the test files in memory: no test here depends on the disk.
func TestMain(m *testing.M) {
	testenv.FilesInMemory()
	m.Run()
}

// fakeFeed gives configured answers and records its requests.
type fakeFeed struct {
	answer func(ctx context.Context, r engine.Request) (engine.Answer, error)
	seen   func(agent string, ids []string) error

	mu   sync.Mutex
	last engine.Request
}

func (f *fakeFeed) Feed(ctx context.Context, r engine.Request) (engine.Answer, error) {
	f.mu.Lock()
	f.last = r
	f.mu.Unlock()
	if f.answer == nil {
		return engine.Answer{}, nil
	}
	return f.answer(ctx, r)
}

func (f *fakeFeed) Seen(_ context.Context, agent string, ids []string) error {
	if f.seen == nil {
		return nil
	}
	return f.seen(agent, ids)
}

func (f *fakeFeed) asked() engine.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

type mapProfiles struct {
	mu  sync.Mutex
	all map[string]feed.Profile
}

func (m *mapProfiles) Profile(_ context.Context, agent string) (feed.Profile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.all[agent]
	if !ok {
		return p, feed.ErrNotFound
	}
	return p, nil
}

func (m *mapProfiles) EditProfile(_ context.Context, agent string, change func(*feed.Profile) (bool, error)) (feed.Profile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.all[agent]
	p.Learned.Alone = !ok
	changed, err := change(&p)
	if err != nil || !changed {
		return m.all[agent], err
	}
	p.Learned.Alone = false
	m.all[agent] = p
	return p, p.Validate()
}

func (m *mapProfiles) RemoveProfile(_ context.Context, agent string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.all[agent]; !ok {
		return feed.ErrNotFound
	}
	delete(m.all, agent)
	return nil
}

func (m *mapProfiles) Learned(string, *feed.Profile) []feed.LearnedGain { return nil }

func (m *mapProfiles) ForgetLearned(context.Context, string) error { return nil }

func (m *mapProfiles) Forget(_ context.Context, agent string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, agent)
	return nil
}

// fakeSettings is a configuration that can be loaded.
type fakeSettings struct {
	changes []api.ConfigChange
	err     error
	by      []string // who asked for reloads
}

func (s *fakeSettings) Diff() ([]api.ConfigChange, error) {
	return append([]api.ConfigChange{}, s.changes...), s.err
}

func (s *fakeSettings) Reload(_ context.Context, by string) ([]api.ConfigChange, error) {
	s.by = append(s.by, by)
	return s.Diff()
}

type mapItems map[string]string

func (m mapItems) Docs(_ context.Context, ids []string) ([]feed.Doc, error) {
	docs := make([]feed.Doc, len(ids))
	for i, id := range ids {
		docs[i] = feed.Doc{ID: id, JSON: json.RawMessage(m[id])}
	}
	return docs, nil
}

// Put makes mapItems the catalog that the real intake writes to.
func (m mapItems) Put(_ context.Context, items []feed.Item) ([]error, error) {
	for _, it := range items {
		data, err := json.Marshal(it)
		if err != nil {
			return nil, err
		}
		m[it.ID] = string(data)
	}
	return nil, nil
}

func (m mapItems) Update(_ context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	out := make([]catalog.Updated, len(ids))
	for i, id := range ids {
		out[i].Item, out[i].Err = m.update(id, change)
	}
	return out, nil
}

func (m mapItems) update(id string, change func(feed.Item) (feed.Item, error)) (it feed.Item, err error) {
	if _, ok := m[id]; !ok {
		return it, feed.ErrNotFound
	}
	if err := json.Unmarshal([]byte(m[id]), &it); err != nil {
		return it, err
	}
	if it, err = change(it); err != nil {
		return it, err
	}
	data, err := json.Marshal(it)
	m[id] = string(data)
	return it, err
}

func (m mapItems) List(_ context.Context, s catalog.Selection) (page catalog.Page, err error) {
	for _, id := range slices.Sorted(maps.Keys(m)) {
		page.Items = append(page.Items, feed.Doc{ID: id, JSON: json.RawMessage(m[id])})
	}
	page.Items = page.Items[:min(s.Limit, len(page.Items))]
	return page, nil
}

func (m mapItems) Remove(_ context.Context, id string) error {
	if _, ok := m[id]; !ok {
		return feed.ErrNotFound
	}
	delete(m, id)
	return nil
}

// noRankings is for tests of other routes.
type noRankings struct{ Rankings }

// noOffline is for tests of other routes.
type noOffline struct{ offline.Source }

// noGuest is for tests of other routes.
type noGuest struct{ Guest }

type intakeFunc func(ctx context.Context, r io.Reader) (api.Upload, error)

func (f intakeFunc) Counts(context.Context, io.Reader) (api.Upload, error) {
	return api.Upload{}, catalog.ErrUnavailable
}

func (f intakeFunc) Patch(context.Context, string, []byte) (feed.Item, error) {
	return feed.Item{}, feed.ErrNotFound
}

func (f intakeFunc) Read(ctx context.Context, r io.Reader) (api.Upload, error) { return f(ctx, r) }

func (f intakeFunc) ReadNewer(ctx context.Context, r io.Reader) (api.Upload, error) { return f(ctx, r) }

type healthFunc func(ctx context.Context) map[string]Dependency

func (f healthFunc) Check(ctx context.Context) map[string]Dependency { return f(ctx) }

// syncBuffer is a log that may be read and written concurrently.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// fixture is a handler over fakes.
type fixture struct {
	handler   http.Handler
	feed      *fakeFeed
	profiles  *mapProfiles
	reactions *fakeReactions
	items     mapItems
	log       *syncBuffer
}

// fakeEngine explains nothing.
type fakeEngine struct {
	*fakeFeed
	*mapProfiles
	*fakeReactions
	noExplain
}

type noExplain struct{ Engine }

func newFixture(t testing.TB, change func(*Config, *Deps)) *fixture {
	t.Helper()
	f := &fixture{
		feed: &fakeFeed{}, profiles: &mapProfiles{all: map[string]feed.Profile{}}, reactions: &fakeReactions{}, items: mapItems{}, log: &syncBuffer{},
	}
	cfg := Config{Auth: Auth{AdminToken: adminToken}}
	deps := Deps{
		Engine: fakeEngine{f.feed, f.profiles, f.reactions, noExplain{}}, Items: f.items, List: f.items, Ingest: catalog.NewIngest(f.items, catalog.IngestConfig{}),
		Rankings: noRankings{}, Offline: noOffline{}, Counts: countsFunc(nil), Guest: noGuest{},
		Health: healthFunc(func(context.Context) map[string]Dependency { return nil }),
		Log:    slog.New(slog.NewJSONHandler(f.log, nil)), Settings: &fakeSettings{},
		Personal: personal.Sources{{Erase: f.profiles.Forget}},
	}
	if change != nil {
		change(&cfg, &deps)
	}
	var err error
	f.handler, err = New(cfg, deps)
	require.NoError(t, err)
	return f
}

type reply struct {
	status int
	header http.Header
	body   string
	Code   int             `json:"code"`
	Msg    string          `json:"msg"`
	Data   json.RawMessage `json:"data"`
}

// do calls the handler; headers have the form "Name: value".
func (f *fixture) do(t testing.TB, method, target, body string, headers ...string) reply {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return f.serve(t, r)
}

func (f *fixture) serve(t testing.TB, r *http.Request) reply {
	t.Helper()
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return decodeReply(t, w.Result())
}

func decodeReply(t testing.TB, res *http.Response) reply {
	t.Helper()
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	out := reply{status: res.StatusCode, header: res.Header, body: string(body)}
	require.Equal(t, "application/json; charset=utf-8", res.Header.Get("Content-Type"), "body: %s", body)
	require.Contains(t, res.Header.Get("Cache-Control"), "no-store")
	require.NoError(t, json.Unmarshal(body, &out), "body: %s", body)
	return out
}

const (
	asAgent = "X-Agent-ID: u_1"
	asAdmin = "X-Admin-Token: " + adminToken
)

func TestUnknownRoutesAndMethods(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, tt := range []struct {
		method, path string
		status, code int
	}{
		{"GET", "/v1", 404, 40401},
		{"GET", "/v2/feed", 404, 40401},
		{"POST", "/v1/feed/", 404, 40401},
		{"POST", "/v1/agents/u_1/profile/x", 404, 40401},
		{"GET", "/v1/feed", 405, 40501},
		{"POST", "/v1/agents/u_1/profile", 405, 40501},
		{"PUT", "/v1/items", 405, 40501},
		{"PUT", "/v1/items/a", 405, 40501},
		{"POST", "/livez", 405, 40501},
	} {
		t.Run(tt.method+tt.path, func(t *testing.T) {
			got := f.do(t, tt.method, tt.path, "", asAgent, asAdmin)
			require.Equal(t, tt.status, got.status)
			require.Equal(t, tt.code, got.Code)
			if tt.status == 405 {
				require.NotEmpty(t, got.header.Get("Allow"))
			}
		})
	}
}

func TestNewRefusesAmbiguousCallers(t *testing.T) {
	t.Parallel()
	deps := Deps{
		Engine: fakeEngine{}, Items: mapItems{}, List: mapItems{}, Ingest: catalog.NewIngest(mapItems{}, catalog.IngestConfig{}),
		Rankings: noRankings{}, Offline: noOffline{}, Counts: countsFunc(nil), Guest: noGuest{},
		Health: healthFunc(func(context.Context) map[string]Dependency { return nil }),
		Log:    slog.New(slog.DiscardHandler),
	}
	for name, tt := range map[string]struct {
		cfg  Config
		says string
	}{
		"unknown mode":     {Config{Auth: Auth{Mode: "cookie"}}, "auth.mode"},
		"no key":           {Config{Auth: Auth{Mode: ModeJWT}}, "exactly one"},
		"two keys":         {Config{Auth: Auth{Mode: ModeJWT, JWT: JWT{Secret: "s", JWKS: "f"}}}, "exactly one"},
		"no such key file": {Config{Auth: Auth{Mode: ModeJWT, JWT: JWT{JWKS: "no/such/file.json"}}}, "auth.jwt.jwks"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(tt.cfg, deps)
			require.ErrorContains(t, err, tt.says)
		})
	}
}
