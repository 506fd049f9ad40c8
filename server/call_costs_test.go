package server

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

var updateCosts = flag.Bool("update", false, "write "+costsFile)

// costsFile has the costs of the calls that matter. A change that raises one writes the file anew, and
// its commit says why.
const costsFile = "testdata/costs.txt"

// costs counts what a call costs: commands of Redis with those inside scripts, round trips to
// PostgreSQL, requests to Elasticsearch, and allocations of the server.
type costs map[string]int

// allocations is the only count that varies a little from run to run.
const allocations = "allocations"

// lower lowers each count to that of an equal call.
func (c costs) lower(other costs) {
	for what := range c {
		c[what] = min(c[what], other[what])
		if c[what] == 0 {
			delete(c, what)
		}
	}
}

func (c costs) String() string {
	parts := []string{}
	for _, what := range slices.Sorted(maps.Keys(c)) {
		parts = append(parts, fmt.Sprintf("%s=%d", what, c[what]))
	}
	return strings.Join(parts, " ")
}

// meter counts what a server asks its services.
type meter struct {
	redis    *testenv.OwnRedis
	postgres *faultproxy.Proxy
	mu       sync.Mutex
	searches costs
}

// metered returns the configuration of services of which a meter counts all calls.
func metered(t *testing.T) (configs.Config, *meter) {
	m := &meter{redis: testenv.StartRedis(t), searches: costs{}}
	cfg := withPostgres(t)
	cfg.Redis.URL = "redis://" + m.redis.Addr
	forward := testenv.Forward(t, cfg.Elasticsearch.Addresses[0], nil)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.searches["elasticsearch:"+r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]++
		m.mu.Unlock()
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	cfg.Elasticsearch.Addresses = []string{proxy.URL}
	db, err := url.Parse(cfg.Postgres.URL)
	require.NoError(t, err)
	m.postgres = faultproxy.StartPostgres(t, db.Host)
	db.Host = m.postgres.Addrs[0]
	cfg.Postgres.URL = db.String()
	return cfg, m
}

// awaitQuiet waits until what earlier calls left to the background is done.
func awaitQuiet() {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	for range 500 {
		last := stats.Mallocs
		time.Sleep(2 * time.Millisecond)
		runtime.ReadMemStats(&stats)
		if stats.Mallocs == last {
			return
		}
	}
}

// count returns what a function costs. A nil meter counts allocations only.
func (m *meter) count(t *testing.T, do func()) costs {
	t.Helper()
	awaitQuiet()
	sum := costs{}
	measured := func() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		sum[allocations] = int(after.Mallocs - before.Mallocs)
	}
	if m == nil {
		measured()
		return sum
	}
	c := redis.NewClient(&redis.Options{Addr: m.redis.Addr})
	defer func() { _ = c.Close() }()
	require.NoError(t, c.Do(t.Context(), "CONFIG", "RESETSTAT").Err())
	m.mu.Lock()
	clear(m.searches)
	m.mu.Unlock()
	if n := len(m.postgres.Record(measured)); n > 0 {
		sum["postgres"] = n
	}
	m.mu.Lock()
	maps.Copy(sum, m.searches)
	m.mu.Unlock()
	for name, stat := range testenv.CommandStats(t, c) {
		// A wake of streams is published in the background, mostly after the call.
		if !slices.Contains([]string{"info", "config|resetstat", "hello", "client|setinfo", "publish"}, name) {
			sum["redis:"+name] = stat.Calls
		}
	}
	return sum
}

// TestCostsOfCalls compares the costs of calls with costsFile. The lowest of several equal calls
// counts, since the server works in the background, too.
func TestCostsOfCalls(t *testing.T) {
	testenv.WithoutRace(t)
	got := map[string]costs{}
	for _, mode := range []string{"embedded", "services"} {
		cfg, m := embedded(t), (*meter)(nil)
		if mode == "services" {
			cfg, m = metered(t)
		}
		for name, c := range costsOf(t, cfg, m) {
			got[mode+", "+name] = c
		}
	}
	if *updateCosts {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(got)) {
			fmt.Fprintf(&b, "%s: %s\n", name, got[name])
		}
		require.NoError(t, os.WriteFile(costsFile, []byte(b.String()), 0o600))
	}
	want := readCosts(t)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	for name, c := range got {
		if most := want[name][allocations] * 11 / 10; most > 0 {
			assert.LessOrEqual(t, c[allocations], most, "allocations of %s; if this is meant, run the test with -update", name)
			c[allocations] = want[name][allocations]
		}
		assert.Equal(t, want[name].String(), c.String(), "%s; if this is meant, run the test with -update", name)
	}
}

func readCosts(t *testing.T) map[string]costs {
	t.Helper()
	text, err := os.ReadFile(costsFile)
	require.NoError(t, err)
	all := map[string]costs{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[name] = costs{}
		for _, part := range strings.Fields(rest) {
			i := strings.LastIndexByte(part, '=')
			n, err := strconv.Atoi(part[i+1:])
			require.NoError(t, err, line)
			all[name][part[:i]] = n
		}
	}
	return all
}

// costlyCalls are made in this order, each by the readers of a group, who follow two authors. Those who
// read one feed do not read another.
var costlyCalls = []struct{ group, name, method, path, body string }{
	{"x", "refresh", http.MethodPost, "/v1/feed", `{"action":"refresh","limit":20}`},
	{"x", "load_more", http.MethodPost, "/v1/feed", `{"action":"load_more","limit":20}`},
	{"x", "silent refresh", http.MethodPost, "/v1/feed", `{"action":"refresh","limit":20,"silent":true}`},
	{"h", "refresh of home", http.MethodPost, "/v1/feed", `{"action":"refresh","feed":"home","limit":20}`},
	{"h", "load_more of home", http.MethodPost, "/v1/feed", `{"action":"load_more","feed":"home","limit":10}`},
	{"t", "first timeline", http.MethodGet, "/v1/timeline?limit=20", ""},
	{"t", "timeline", http.MethodGet, "/v1/timeline?limit=20", ""},
	{"p", "posts of an author", http.MethodGet, "/v1/authors/ann/posts?limit=20", ""},
	{"p", "replies", http.MethodGet, "/v1/posts/post:ann_2/replies", ""},
	{"p", "guest feed", http.MethodGet, "/v1/feed/guest?limit=20", ""},
	{acts, "like", http.MethodPut, "/v1/posts/post:ann_2/like", ""},
	{acts, "unlike", http.MethodDelete, "/v1/posts/post:ann_2/like", ""},
	{acts, "follow", http.MethodPut, "/v1/agents/~/following/cat", ""},
	{acts, "post", http.MethodPost, "/v1/posts", `{"caption":"A post without followers"}`},
}

// acts is a group whose calls are followed by work in the background, so that only what they ask the
// services is counted.
const acts = "a"

func costsOf(t *testing.T, cfg configs.Config, m *meter) map[string]costs {
	t.Helper()
	// The first three warm up. They are few, so that what one call of a reader caches for a short time
	// is still there at the next, on a busy machine too.
	const readers = 14
	filled := open(t, cfg, WithClock(at(noon).Now))
	put(t, filled, madeItems(200)...)
	fillHome(t, filled)
	for i := range readers {
		for _, group := range []string{"x", "h", "t", "p", acts} {
			reader := fmt.Sprint(group, i)
			require.NoError(t, filled.Engine.PutProfile(t.Context(), reader, feed.Profile{Interests: map[string]float64{"tag-1": 2}}))
			for _, author := range []string{"ann", "bob"} {
				_, err := filled.network.fanout.Store().Follow(t.Context(), reader, author, time.Time{})
				require.NoError(t, err)
			}
		}
	}
	waitSettled(t, filled)
	refreshIndex(t, filled)
	// The measured server does no work in the background.
	closeApp(t, filled)
	if m != nil {
		cfg.Jobs.Workers = 0
	}
	filled = open(t, cfg, WithClock(at(noon).Now), WithRecorder(dedup.RecorderConfig{Linger: time.Hour}))
	if m != nil {
		// A write leaves a mark that prevents caching for some seconds.
		clearCache(t, filled, "item")
	}
	cheapest := map[string]costs{}
	for _, call := range costlyCalls {
		if m == nil && call.group == acts {
			continue
		}
		for i := range readers {
			r := httptest.NewRequestWithContext(t.Context(), call.method, call.path, strings.NewReader(call.body))
			r.Header.Set("X-Agent-ID", fmt.Sprint(call.group, i))
			w := httptest.NewRecorder()
			sum := m.count(t, func() { filled.Handler.ServeHTTP(w, r) })
			require.Less(t, w.Code, 300, "%s: %s", call.name, w.Body)
			require.Contains(t, w.Body.String(), `"code":0`, call.name)
			if call.group == acts {
				delete(sum, allocations)
			}
			switch {
			case i < 3: // caches are filled
			case i == 3:
				cheapest[call.name] = sum
			default:
				cheapest[call.name].lower(sum)
			}
		}
	}
	return cheapest
}
