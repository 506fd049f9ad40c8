package handler

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/ranking"
)

// liveRanking is a ranking in force that never changes.
type liveRanking struct {
	Rankings
	ranking feed.Ranking
}

func (l liveRanking) Current(context.Context) (ranking.Version, error) {
	return ranking.Version{Live: feed.Live{Ranking: l.ranking}}, nil
}

var tuned = feed.Ranking{Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}, Base: 0.1}

// fakeOffline ranks the same item for every agent, and records its calls.
type fakeOffline struct {
	agents []string
	rank   func(ctx context.Context) error

	mu       sync.Mutex
	at       time.Time
	rankings []feed.Ranking
}

func (f *fakeOffline) Rank(ctx context.Context, _ string, at time.Time, _ int, rankings ...feed.Ranking) (feed.Profile, [][]feed.Candidate, error) {
	if f.rank != nil {
		if err := f.rank(ctx); err != nil {
			return feed.Profile{}, nil, err
		}
	}
	f.mu.Lock()
	f.at, f.rankings = at, rankings
	f.mu.Unlock()
	lists := make([][]feed.Candidate, len(rankings))
	for i := range lists {
		lists[i] = []feed.Candidate{{ID: "a", Group: "a", UpdateTime: at.Unix() - 60}}
	}
	return feed.Profile{}, lists, nil
}

func (f *fakeOffline) LeftOut(time.Time, ...feed.Ranking) []string { return nil }

func (f *fakeOffline) Profile(context.Context, string) (feed.Profile, error) {
	return feed.Profile{}, feed.ErrNotFound
}

func (f *fakeOffline) Factors(_ context.Context, _ feed.Query, ids []string) ([]offline.Factors, error) {
	return make([]offline.Factors, len(ids)), nil
}

func (f *fakeOffline) Docs(_ context.Context, ids []string) ([]feed.Doc, error) {
	docs := make([]feed.Doc, len(ids))
	for i, id := range ids {
		docs[i] = feed.Doc{ID: id, JSON: json.RawMessage(`{"id":"` + id + `","title":"A","update_time":1}`)}
	}
	return docs, nil
}

func (f *fakeOffline) Agents(_ context.Context, n int, _ int64) ([]string, error) {
	return f.agents[:min(n, len(f.agents))], nil
}

func offlineFixture(t testing.TB, from *fakeOffline) *fixture {
	return newFixture(t, func(cfg *Config, deps *Deps) {
		deps.Offline, deps.Rankings = from, liveRanking{ranking: tuned}
		cfg.Clock = func() time.Time { return time.Unix(1_772_000_000, 5) }
	})
}

func TestCompareChangeForms(t *testing.T) {
	t.Parallel()
	from := &fakeOffline{agents: []string{"u_1", "u_2", "u_3"}}
	f := offlineFixture(t, from)
	want := tuned
	want.Decay.Scale, want.PopularityWeight = 72*time.Hour, 0.5
	for _, b := range []string{
		`"scale=72h,weight=0.5"`, `{"decay":{"scale":"72h"},"popularity":{"weight":0.5}}`, ` { "popularity" : {"weight":5e-1}, "decay":{"scale":"4320m"}} `,
	} {
		got := f.do(t, "POST", "/v1/compare", `{"b":`+b+`,"sample":2}`, asAdmin)
		require.Equal(t, 200, got.status, got.body)
		assert.Equal(t, []feed.Ranking{tuned, want}, from.rankings, b)
		var c offline.Comparison
		require.NoError(t, json.Unmarshal(got.Data, &c))
		assert.Equal(t, 2, c.Figures.Agents)
		assert.Equal(t, 20, c.K)
		assert.Equal(t, time.Unix(1_772_000_000, 0).UTC(), c.At)
		assert.Empty(t, want.Changes(c.B))
		assert.Nil(t, c.Lists)
	}
	for _, at := range []string{`"2026-03-06T12:00:00Z"`, `"2026-03-06T13:00:00+01:00"`, `1772798400`} {
		got := f.do(t, "POST", "/v1/compare", `{"agents":["u_9"],"lists":true,"k":1,"at":`+at+`}`, asAdmin)
		require.Equal(t, 200, got.status, got.body)
		assert.Equal(t, int64(1772798400), from.at.Unix(), at)
		assert.Contains(t, got.body, `"lists":{"agent_id":"u_9"`)
	}
}

func TestReplayRoute(t *testing.T) {
	t.Parallel()
	from := &fakeOffline{}
	f := offlineFixture(t, from)
	got := f.do(t, "POST", "/v1/replay",
		`{"clicks":[{"agent_id":"u_1","id":"a","at":1772798400},{"agent_id":"u_1","id":"b","at":"2026-03-06T12:00:00Z"}],"rankings":["","scale=72h"],"depth":7}`, asAdmin)
	require.Equal(t, 200, got.status, got.body)
	var out offline.Replayed
	require.NoError(t, json.Unmarshal(got.Data, &out))
	assert.Equal(t, 7, out.Depth)
	assert.Empty(t, tuned.Changes(out.Rankings[0]))
	assert.Equal(t, 72*time.Hour, out.Rankings[1].Decay.Scale)
	assert.Equal(t, []offline.Outcome{{State: offline.Ranked, Ranks: []int{1, 1}}, {State: offline.Unranked, Ranks: []int{0, 0}}}, out.Outcomes)
}

func TestOfflineRoutesRefuse(t *testing.T) {
	t.Parallel()
	f := offlineFixture(t, &fakeOffline{})
	click := `{"agent_id":"u_1","id":"a","at":1}`
	for _, tt := range []struct {
		path, body string
		code       int
		says       string
	}{
		{"/v1/compare", ``, 40001, "the JSON is empty"},
		{"/v1/compare", `[]`, 40001, "must be an object"},
		{"/v1/compare", `{"b":"scale=72h"}`, 40001, "agents and sample are missing"},
		{"/v1/compare", `{"agents":["u_1"],"sample":3}`, 40001, "not both"},
		{"/v1/compare", `{"agents":[]}`, 40001, "not 0"},
		{"/v1/compare", `{"agents":null}`, 40001, "agents and sample are missing"},
		{"/v1/compare", `{"agents":"u_1"}`, 40001, "agents must be an array of strings, not a string"},
		{"/v1/compare", `{"agents":["u_1",2]}`, 40004, "agents[1] must be a string, not a number"},
		{"/v1/compare", `{"agents":["u:1"]}`, 40004, `has ":" at position 2`},
		{"/v1/compare", `{"agents":["u_1","u_1"]}`, 40001, "named twice"},
		{"/v1/compare", `{"sample":201}`, 40001, "1 to 200, not 201"},
		{"/v1/compare", `{"sample":-1}`, 40001, "not -1"},
		{"/v1/compare", `{"sample":0}`, 40001, "sample must be 1 to 200, not 0"},
		{"/v1/compare", `{"agents":["u_1"],"sample":0}`, 40001, "not both"},
		{"/v1/compare", `{"sample":1.5}`, 40001, "a whole number"},
		{"/v1/compare", `{"sample":3}`, 40001, "no agents to sample"},
		{"/v1/compare", `{"agents":["u_1"],"k":0}`, 40001, "k must be 1 to 100"},
		{"/v1/compare", `{"agents":["u_1"],"k":"20"}`, 40001, "k must be a whole number"},
		{"/v1/compare", `{"agents":["u_1","u_2"],"lists":true}`, 40001, "for one agent only"},
		{"/v1/compare", `{"agents":["u_1"],"lists":1}`, 40001, "true or false"},
		{"/v1/compare", `{"agents":["u_1"],"at":"yesterday"}`, 40001, "at must be a time"},
		{"/v1/compare", `{"agents":["u_1"],"at":0}`, 40001, "at must be a time"},
		{"/v1/compare", `{"agents":["u_1"],"at":9e18}`, 40001, "at must be a time"},
		{"/v1/compare", `{"agents":["u_1"],"a":"scael=1h"}`, 40001, `a: bad ranking parameters: unknown parameter "scael"`},
		{"/v1/compare", `{"agents":["u_1"],"b":{"decay":{"scale":"0s"}}}`, 40001, "b: bad ranking parameters: decay.scale must be at least 1s"},
		{"/v1/compare", `{"agents":["u_1"],"b":{"dekay":{}}}`, 40001, "unknown field"},
		{"/v1/compare", `{"agents":["u_1"],"b":7}`, 40001, "b must be an object"},
		{"/v1/compare", `{"agents":["u_1"],"c":{}}`, 40001, `unknown field "c"`},
		{"/v1/compare", `{"agents":["u_1"],"k":1,"k":2}`, 40001, `duplicate field "k"`},
		{"/v1/compare", `{"agents":["` + strings.Repeat("x", MaxCompareBody) + `"]}`, 41301, "64 KiB"},
		{"/v1/replay", `{}`, 40001, "clicks"},
		{"/v1/replay", `{"clicks":[` + click + `]}`, 40001, "rankings"},
		{"/v1/replay", `{"clicks":[` + click + `],"rankings":["scale=x"]}`, 40001, "rankings[0]: bad ranking parameters: scale must be"},
		{"/v1/replay", `{"clicks":[` + click + `],"rankings":[null]}`, 40001, "rankings[0] must be an object"},
		{"/v1/replay", `{"clicks":[{"agent_id":"u_1","id":"a"}],"rankings":[""]}`, 40001, "clicks[0].at is missing"},
		{"/v1/replay", `{"clicks":[{"agent_id":"u_1","id":"a","at":true}],"rankings":[""]}`, 40001, "clicks[0].at must be a time"},
		{"/v1/replay", `{"clicks":[{"agent_id":"u_1","item":"a","at":1}],"rankings":[""]}`, 40001, `unknown field "item" in clicks[0]; known are agent_id, id, at`},
		{"/v1/replay", `{"clicks":[{"agent_id":"u_1","id":"a b","at":1}],"rankings":[""]}`, 40004, "click 1"},
		{"/v1/replay", `{"clicks":[` + strings.Repeat(click+",", 200) + click + `],"rankings":[""]}`, 40001, "not 201"},
		{"/v1/replay", `{"clicks":[` + click + `],"rankings":[""],"depth":2001}`, 40001, "depth must be 1 to 2000"},
		{"/v1/replay", `{"clicks":[` + click + `],"rankings":[""],"k":1}`, 40001, `unknown field "k"`},
	} {
		got := f.do(t, "POST", tt.path, tt.body, asAdmin)
		assert.Equal(t, tt.code, got.Code, "%s %.80s: %s", tt.path, tt.body, got.body)
		assert.Contains(t, got.Msg, tt.says, "%s %.80s", tt.path, tt.body)
	}
}

func TestOfflineRoutesNeedAdmin(t *testing.T) {
	t.Parallel()
	f := offlineFixture(t, &fakeOffline{})
	for _, path := range []string{"/v1/compare", "/v1/replay"} {
		assert.Equal(t, 40101, f.do(t, "POST", path, `{}`).Code)
		assert.Equal(t, 40301, f.do(t, "POST", path, `{}`, asAgent).Code)
	}
}

// The number of concurrent comparisons is limited. Readers have a separate limit.
func TestOfflineConcurrencyLimit(t *testing.T) {
	t.Parallel()
	inside, release := make(chan struct{}), make(chan struct{})
	from := &fakeOffline{rank: func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok {
			return fmt.Errorf("there is no deadline")
		}
		inside <- struct{}{}
		<-release
		return context.DeadlineExceeded
	}}
	f := offlineFixture(t, from)
	done := make(chan reply)
	for range offlineAtOnce {
		go func() { done <- f.do(t, "POST", "/v1/compare", `{"agents":["u_1"]}`, asAdmin) }()
		<-inside
	}
	got := f.do(t, "POST", "/v1/compare", `{"agents":["u_1"]}`, asAdmin)
	assert.Equal(t, 50301, got.Code, got.body)
	assert.Equal(t, 200, f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent).status)
	close(release)
	for range offlineAtOnce {
		assert.Equal(t, 50301, (<-done).Code, "what took too long")
	}
}

// A client that hangs up frees its slot, and its work ends.
func TestOfflineClientDisconnects(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{
		"/v1/compare": `{"agents":["u_1"]}`,
		"/v1/replay":  `{"clicks":[{"agent_id":"u_1","id":"a","at":4102444800}],"rankings":[""]}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			var begun, ended atomic.Int64
			f := offlineFixture(t, &fakeOffline{rank: func(ctx context.Context) error {
				begun.Add(1)
				<-ctx.Done()
				ended.Add(1)
				return ctx.Err()
			}})
			p := openPipes(t, &http.Server{Handler: f.handler})
			for n := range int64(offlineAtOnce + 1) { // more than there are slots
				conn := p.send(adminPost(path, body))
				synctest.Wait()
				require.Equal(t, n+1, begun.Load(), path)
				require.Equal(t, n, ended.Load(), path)
				require.NoError(t, conn.Close())
				synctest.Wait()
				require.Equal(t, n+1, ended.Load(), path)
			}
		})
	}
}

func adminPost(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nX-Admin-Token: %s\r\nContent-Length: %d\r\n\r\n%s", path, adminToken, len(body), body)
}
