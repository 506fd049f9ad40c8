package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gohugoio/httpcache"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// TestGuestSeesPublicPosts checks that a post which is not public neither trends nor is in the
// guest feed, and that a deleted post leaves the guest feed.
func TestGuestSeesPublicPosts(t *testing.T) {
	t.Parallel()
	clock := at(noon)
	a := open(t, embedded(t), WithClock(clock.Now))
	store := a.network.fanout.Store()
	publish := func(caption string, public bool) string {
		p, _, err := store.CreatePost(t.Context(), social.Post{
			Author: "ann", Caption: caption, Audience: social.Audience{Public: public, Followers: !public},
		}, social.Creation{})
		require.NoError(t, err)
		return p.ID
	}
	_, err := store.Follow(t.Context(), "bob", "ann", time.Time{})
	require.NoError(t, err)
	shown, hidden, gone := publish("For all to see", true), publish("For followers only", false), publish("Soon regretted", true)
	for _, id := range []string{shown, hidden, gone} {
		_, _, err := store.Like(t.Context(), "bob", id)
		require.NoError(t, err)
	}
	waitSettled(t, a)
	put(t, a, feed.Item{ID: "item", Title: "An item", UpdateTime: noon.Unix(), Likes: 3})
	likesIndexed(t, a, clock)
	set := waitTrending(t, a)
	var ids []string
	for _, e := range set.Entries {
		ids = append(ids, e.ID)
	}
	assert.ElementsMatch(t, []string{"item", shown, gone}, ids, "only public posts trend")
	g := guestFeed(t, a, "")
	assert.ElementsMatch(t, []string{"item", shown, gone}, g.ids())
	require.NoError(t, store.DeletePost(t.Context(), gone, "ann", time.Time{}))
	g = guestFeed(t, a, "")
	assert.ElementsMatch(t, []string{"item", shown}, g.ids())
	assert.NotContains(t, g.raw, "has_liked", "nothing is said of a reader")
}

// TestGuestOnNewSite has items and posts without likes: the guest feed has the newest of both,
// without posts that are not public, and liked ones first.
func TestGuestOnNewSite(t *testing.T) {
	t.Parallel()
	for mode, config := range map[string]func(testing.TB) configs.Config{"embedded": embedded, "services": withPostgres} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clock := at(noon)
			a := open(t, config(t), WithClock(clock.Now))
			waitTrending(t, a)
			require.Empty(t, guestFeed(t, a, "").Data.Items, "there is nothing")
			items := make([]feed.Item, 30)
			var want []string
			for i := range items {
				id := fmt.Sprintf("doc_%02d", i)
				items[i] = feed.Item{ID: id, Title: fmt.Sprintf("i%da i%db i%dc", i, i, i), AuthorID: id, UpdateTime: noon.Add(-time.Duration(i+1) * time.Hour).Unix()}
				want = append(want, id)
			}
			put(t, a, items...)
			store := a.network.fanout.Store()
			for id, audience := range map[string]social.Audience{"post:public": {Public: true}, "post:private": {Followers: true}} {
				_, _, err := store.CreatePost(t.Context(), social.Post{ID: id, Author: "ann", Caption: "Hello", CreatedAt: noon.Unix(), Audience: audience}, social.Creation{At: noon})
				require.NoError(t, err)
			}
			waitSettled(t, a)
			refreshIndex(t, a)
			clock.Advance(time.Minute)
			g := guestFeed(t, a, "?limit=20")
			assert.Equal(t, append([]string{"post:public"}, want[:19]...), g.ids(), g.raw)
			for _, it := range g.Data.Items {
				assert.Equal(t, "discovery", it.InFeed.Source)
			}
			assert.Nil(t, g.Data.Degraded)
			assert.Len(t, guestFeed(t, a, "?limit=100").Data.Items, 31)

			items[25].Likes = 1
			put(t, a, items[25])
			refreshIndex(t, a)
			clock.Advance(time.Minute)
			waitTrending(t, a)
			g = guestFeed(t, a, "?limit=20")
			assert.Equal(t, slices.Concat([]string{"doc_25", "post:public"}, want[:18]), g.ids())
			assert.Equal(t, "trending", g.Data.Items[0].InFeed.Source)
		})
	}
}

// likesIndexed waits until the likes are in the index, which gathers them for a while.
func likesIndexed(t *testing.T, a *App, clock *clock) {
	t.Helper()
	clock.Advance(6 * time.Minute)
	testenv.WaitFor(t, func() bool {
		stats, err := a.network.store.Stats(t.Context())
		if err != nil {
			return false
		}
		for _, row := range stats.Rows {
			if row.State != "completed" {
				return false
			}
		}
		return true
	}, "the likes are counted")
	refreshIndex(t, a)
	// A set that was computed meanwhile may lack some: the next one is due.
	clock.Advance(6 * time.Minute)
}

// TestGuestHTTPCaching reads with a client that caches answers as far as their headers allow.
func TestGuestHTTPCaching(t *testing.T) {
	t.Parallel()
	clock := at(noon)
	cfg := embedded(t)
	a := open(t, cfg, WithClock(clock.Now))
	for _, id := range []string{"a", "b", "c"} {
		put(t, a, feed.Item{ID: id, Title: id, Summary: strings.Repeat("A long summary ", 40), UpdateTime: noon.Unix(), Likes: 9})
	}
	clock.Advance(5 * time.Minute)
	waitTrending(t, a)
	var asked, unchanged atomic.Int64
	var aged atomic.Int64 // simulated age of answers in seconds
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Date", time.Now().Add(-time.Duration(aged.Load())*time.Second).UTC().Format(http.TimeFormat))
		spy := &statusSpy{ResponseWriter: w}
		a.Handler.ServeHTTP(spy, r)
		if spy.status == http.StatusNotModified {
			unchanged.Add(1)
		}
	}))
	t.Cleanup(srv.Close)
	client := &http.Client{Transport: &httpcache.Transport{Cache: &mapCache{}, Transport: srv.Client().Transport}}
	read := func(accept string) string {
		req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/v1/feed/guest", nil)
		require.NoError(t, err)
		if accept != "" {
			req.Header.Set("Accept-Encoding", accept)
		}
		res, err := client.Do(req)
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Equal(t, "public, max-age=60", res.Header.Get("Cache-Control"))
		require.Equal(t, "Accept-Encoding", res.Header.Get("Vary"))
		return string(body)
	}
	first := read("identity")
	for range 5 {
		require.Equal(t, first, read("identity"))
	}
	require.EqualValues(t, 1, asked.Load(), "within its minute the server is not asked again")
	gz := read("gzip")
	require.NotEqual(t, first, gz, "who takes gzip gets gzip")
	require.EqualValues(t, 2, asked.Load())
	before := asked.Load()
	aged.Store(61)
	for _, accept := range []string{"identity", "gzip"} {
		client = &http.Client{Transport: &httpcache.Transport{Cache: &mapCache{}, Transport: srv.Client().Transport}}
		body := read(accept)
		for range 3 {
			require.Equal(t, body, read(accept))
		}
	}
	require.EqualValues(t, before+8, asked.Load(), "after its minute the server is asked")
	require.EqualValues(t, 6, unchanged.Load(), "and says that nothing has changed")
	put(t, a, feed.Item{ID: "d", Title: "D", UpdateTime: clock.Now().Unix(), Likes: 99})
	clock.Advance(5 * time.Minute)
	waitTrending(t, a)
	require.Contains(t, read("identity"), `"id":"d"`)
	require.EqualValues(t, 6, unchanged.Load())
}

type statusSpy struct {
	http.ResponseWriter
	status int
}

func (s *statusSpy) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusSpy) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// mapCache is the store of a caching client.
type mapCache struct{ kept map[string][]byte }

func (m *mapCache) Get(key string) ([]byte, bool) { data, ok := m.kept[key]; return data, ok }

func (m *mapCache) Set(key string, data []byte) {
	if m.kept == nil {
		m.kept = map[string][]byte{}
	}
	m.kept[key] = data
}

func (m *mapCache) Delete(key string) { delete(m.kept, key) }

// TestGuestRedisAndElasticsearchDown reads the guest feed while Redis and Elasticsearch are down:
// the set in memory is shown with cached contents for ten minutes, and calls fail afterwards.
func TestGuestRedisAndElasticsearchDown(t *testing.T) {
	t.Parallel()
	cfg, es := elasticsearchLink(t)
	r := testenv.StartRedis(t)
	cfg.Redis.URL = "redis://" + r.Addr
	shortTimeouts(&cfg)
	clock := at(noon)
	a := open(t, cfg, WithClock(clock.Now))
	put(t, a, feed.Item{ID: "a", Title: "A", UpdateTime: noon.Unix(), Likes: 9}, feed.Item{ID: "b", Title: "B", UpdateTime: noon.Unix(), Likes: 8})
	clock.Advance(5 * time.Minute)
	waitTrending(t, a)
	require.EqualValues(t, 1, a.clients.redis.Exists(t.Context(), cfg.Redis.KeyPrefix+"feed:trending").Val(), "servers share it")
	require.Equal(t, []string{"a", "b"}, guestFeed(t, a, "").ids())
	es.set(true)
	r.Kill()
	clock.Advance(9 * time.Minute)
	g := guestFeed(t, a, "")
	assert.Equal(t, []string{"a", "b"}, g.ids(), "as it was")
	assert.Equal(t, []string{"recall", "catalog"}, g.Data.Degraded)
	clock.Advance(2 * time.Minute)
	g = guestFeed(t, a, "")
	assert.Equal(t, 50301, g.Code, g.raw)
	assert.Equal(t, "no-store", g.header.Get("Cache-Control"))
	es.set(false)
	testenv.WaitFor(t, func() bool { g = guestFeed(t, a, ""); return g.Code == 0 && g.Data.Degraded == nil }, "Elasticsearch is asked again")
	clock.Advance(time.Hour)
	// While the half-open breaker lets a few calls through, it refuses concurrent ones.
	testenv.WaitFor(t, func() bool { g = guestFeed(t, a, ""); return g.Code == 0 }, "Elasticsearch to be asked")
	assert.Equal(t, []string{"a", "b"}, g.ids())
	assert.Equal(t, []string{"trending"}, g.Data.Degraded, "older than an hour")
}

// TestGuestPostgresDown checks that cached public posts are shown, and none that was deleted.
func TestGuestPostgresDown(t *testing.T) {
	t.Parallel()
	db := testenv.StartPostgres(t)
	cfg := withPostgres(t)
	cfg.Postgres.URL = db.URL
	clock := at(noon)
	a := open(t, cfg, WithClock(clock.Now))
	store := a.network.fanout.Store()
	var ids []string
	for _, caption := range []string{"Kept for now", "Deleted in time"} {
		p, _, err := store.CreatePost(t.Context(), social.Post{Author: "ann", Caption: caption, Audience: social.Audience{Public: true}}, social.Creation{})
		require.NoError(t, err)
		_, _, err = store.Like(t.Context(), "bob", p.ID)
		require.NoError(t, err)
		ids = append(ids, p.ID)
	}
	likesIndexed(t, a, clock)
	waitTrending(t, a)
	require.ElementsMatch(t, ids, guestFeed(t, a, "").ids())
	require.NoError(t, store.DeletePost(t.Context(), ids[1], "ann", time.Time{}))
	likesIndexed(t, a, clock)
	db.Crash()
	g := guestFeed(t, a, "")
	assert.Equal(t, ids[:1], g.ids(), g.raw)
	assert.Equal(t, []string{"social"}, g.Data.Degraded)
}

// TestGuestPromotions checks that the guest feed has what is promoted, the same until the next set
// of trending items.
func TestGuestPromotions(t *testing.T) {
	t.Parallel()
	clock := at(noon)
	a := open(t, embedded(t), WithClock(clock.Now))
	items := authored(30)
	for i := range items {
		items[i].Likes = 50
	}
	put(t, a, items...)
	waitTrending(t, a)
	promote(t, a, items[6].ID, items[7].ID, items[8].ID, items[9].ID)
	page := guestFeed(t, a, "?limit=20")
	require.Len(t, page.Data.Items, 20)
	assert.True(t, page.Data.Items[8].InFeed.IsPromoted && page.Data.Items[18].InFeed.IsPromoted)
	clock.Advance(2 * time.Minute)
	assert.Equal(t, page.raw, guestFeed(t, a, "?limit=20").raw)
}
