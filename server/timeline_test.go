package server

import (
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/socialtest"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// TestTimelineScenarios runs the cases of a timeline over whole systems, in both modes.
func TestTimelineScenarios(t *testing.T) {
	t.Parallel()
	for _, m := range []mode{{"embedded", embedded}, {"services", withoutElastic}} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			enginetest.RunTimelines(t, func(t *testing.T, lists bool, clock feed.Clock) (enginetest.TimelineSystem, bool) {
				if lists && m.name == "embedded" {
					return enginetest.TimelineSystem{}, false
				}
				cfg := m.config(t)
				var r *testenv.OwnRedis
				if lists {
					r = testenv.StartRedis(t)
					cfg.Redis.URL = "redis://" + r.Addr
				}
				a := open(t, cfg, WithClock(clock))
				return enginetest.TimelineSystem{
					Store: a.network.fanout.Store(), Timelines: a.network.timelines,
					Settle: func(t *testing.T) { waitSettled(t, a) }, Lists: func(t *testing.T, up bool) {
						setRedis(t, a, r, up)
						if !up {
							openBreaker(t, a.clients.breaker.Breaker, "command")
						}
					},
				}, true
			})
		})
	}
}

// TestTimelineReadYourWrites checks that agents see their change in the next call on another
// server, although the server that accepted it cannot reach the lists and no worker runs.
func TestTimelineReadYourWrites(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(k *link) (restore func()){
		"refused": func(k *link) func() { k.set(true); return func() { k.set(false) } },
		"held":    (*link).hold,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := withPostgres(t)
			shortTimeouts(&cfg)
			cfg.Jobs.Workers = 0
			other := open(t, cfg)
			k := newLink(t, redisAddrs(t)[0])
			cfg.DataDir, cfg.Redis.URL = t.TempDir(), "redis://"+k.l.Addr().String()
			s := open(t, cfg).network.fanout.Store()
			publish := func(author string, to social.Audience) string {
				p, _, err := s.CreatePost(t.Context(), social.Post{Author: author, Caption: "Hello", Audience: to}, social.Creation{})
				require.NoError(t, err)
				return p.ID
			}
			read := func(agent string) (ids []string) {
				page, err := other.network.timelines.Timeline(t.Context(), timeline.Request{Agent: agent, Limit: 100})
				require.NoError(t, err)
				for _, c := range page.Posts {
					ids = append(ids, c.ID)
				}
				return ids
			}
			socialtest.PutCircle(t, s, social.Circle{ID: "c", Owner: "ann"}, []string{"kim"}, time.Time{})
			public := publish("ann", social.Audience{Public: true})
			for _, agent := range []string{"publisher", "follower", "importer", "kim", "lee"} {
				_ = read(agent) // builds their list
			}
			t.Cleanup(lose(k))

			own := publish("publisher", social.Audience{})
			assert.Equal(t, []string{own}, read("publisher"))
			_, err := s.Follow(t.Context(), "follower", "ann", time.Time{})
			require.NoError(t, err)
			assert.Equal(t, []string{public}, read("follower"))
			_, _, err = s.FollowAll(t.Context(), []social.Edge{{Agent: "importer", Author: "ann"}}, time.Time{})
			require.NoError(t, err)
			assert.Equal(t, []string{public}, read("importer"))
			_, err = s.AddMember(t.Context(), "c", "lee", "ann", time.Time{})
			require.NoError(t, err)
			assert.Equal(t, []string{publish("ann", social.Audience{Circles: []string{"c"}})}, read("lee"))
			socialtest.PutCircle(t, s, social.Circle{ID: "c", Owner: "ann"}, []string{"kim", "lee"}, time.Time{})
			assert.Len(t, read("kim"), 1)
		})
	}
}

// TestTimelineIncompleteOnNewServer checks that already the first page of a new server reports a
// timeline as incomplete while a post of an earlier server waits for its delivery.
func TestTimelineIncompleteOnNewServer(t *testing.T) {
	t.Parallel()
	clock, cfg := at(noon), withPostgres(t)
	cfg.Jobs.Workers = 0
	first := func(a *App) (page struct{ Data struct{ Degraded []string } }) {
		callJSON(t, a, http.MethodGet, "/v1/timeline", "r", "", &page)
		return page
	}
	one := open(t, cfg, WithClock(clock.Now))
	require.Empty(t, first(one).Data.Degraded)
	_, _, err := one.network.store.CreatePost(t.Context(), social.Post{Author: "ann", Caption: "Hello", Audience: social.Audience{Public: true}}, social.Creation{})
	require.NoError(t, err)
	clock.Advance(3 * time.Second)
	cfg.DataDir = t.TempDir()
	require.Equal(t, []string{"timeline"}, first(open(t, cfg, WithClock(clock.Now))).Data.Degraded)
}

// TestTimelineCompleteAfterRedisOutage reads while Redis recovers from an outage: posts accepted
// meanwhile never disappear.
func TestTimelineCompleteAfterRedisOutage(t *testing.T) {
	t.Parallel()
	cfg := withPostgres(t)
	r := testenv.StartRedis(t)
	cfg.Redis.URL = "redis://" + r.Addr
	shortTimeouts(&cfg)
	a := open(t, cfg)
	store := a.network.fanout.Store()
	read := func() (ids []string) {
		page, err := a.network.timelines.Timeline(t.Context(), timeline.Request{Agent: "u", Limit: 100})
		// On a busy machine PostgreSQL may not answer in time. Such a page says so, and has only
		// posts with cached cards.
		for try := 0; try < 20 && err == nil && slices.Contains(page.Degraded, "social"); try++ {
			page, err = a.network.timelines.Timeline(t.Context(), timeline.Request{Agent: "u", Limit: 100})
		}
		require.NoError(t, err)
		require.NotContains(t, page.Degraded, "social")
		for _, c := range page.Posts {
			ids = append(ids, c.ID)
		}
		return ids
	}
	second := cfg
	second.DataDir = t.TempDir()
	other := open(t, second)
	_, err := store.Follow(t.Context(), "u", "ann", time.Time{})
	require.NoError(t, err)
	require.Empty(t, read())
	waitSettled(t, a)
	r.Freeze()
	var want []string
	for _, author := range []string{"ann", "bob", "ann"} {
		p, _, err := store.CreatePost(t.Context(), social.Post{Author: author, Caption: "Hello", Audience: social.Audience{Public: true}}, social.Creation{})
		require.NoError(t, err)
		want = append(want, p.ID)
	}
	_, err = store.Follow(t.Context(), "u", "bob", time.Time{})
	require.NoError(t, err)
	require.ElementsMatch(t, want, read(), "the store answers")
	testenv.WaitFor(t, other.network.completeness.Incomplete, "a server that nobody reads from to be late")
	r.Thaw()
	for i := range 200 {
		require.ElementsMatch(t, want, read(), "read %d after the outage", i)
	}
	testenv.WaitFor(t, func() bool { return !a.network.completeness.Incomplete() }, "the lists to be up to date")
	waitSettled(t, a)
	require.ElementsMatch(t, want, read())
}

// TestTimelineIncompleteWithoutWorkers checks that, when no server runs jobs, the timelines of the
// followers who have lists report that they are incomplete.
func TestTimelineIncompleteWithoutWorkers(t *testing.T) {
	t.Parallel()
	cfg := withPostgres(t)
	cfg.Jobs.Workers = 0
	a := open(t, cfg)
	read := func(agent string) []string {
		page, err := a.network.timelines.Timeline(t.Context(), timeline.Request{Agent: agent, Limit: 100})
		require.NoError(t, err)
		return page.Degraded
	}
	testenv.WaitFor(t, func() bool {
		// The call runs the job of the follow itself, but gives up soon on a busy machine. No
		// worker runs it, so the call is repeated.
		_, err := a.network.fanout.Store().Follow(t.Context(), "u", "ann", time.Time{})
		require.NoError(t, err)
		return len(read("u")) == 0
	}, "a list of all there is")
	p := social.Post{Author: "ann", Caption: "Hello", Audience: social.Audience{Public: true}}
	_, _, err := a.network.store.CreatePost(t.Context(), p, social.Creation{})
	require.NoError(t, err)
	testenv.WaitFor(t, func() bool { return slices.Contains(read("u"), "timeline") }, "the timeline to say what it lacks")
	require.False(t, a.network.completeness.Incomplete(), "the lists can be reached, and answer")
}

// TestJobLeasesOfCrashedProcess checks that in embedded mode leases of a dead process are not
// waited for: no other process can hold one.
func TestJobLeasesOfCrashedProcess(t *testing.T) {
	t.Parallel()
	clock, cfg := at(noon), embedded(t)
	file := filepath.Join(cfg.DataDir, socialsqlite.FileName)
	died, err := socialsqlite.Open(t.Context(), file, social.Options{Clock: clock.Now})
	require.NoError(t, err)
	require.NoError(t, died.Enqueue(t.Context(), jobs.Spec{Kind: jobs.Deliver, Key: "post:a"}, jobs.Spec{Kind: jobs.AuthorAgent, Key: "a/b"}))
	_, err = died.LeaseKey(t.Context(), jobs.AuthorAgent, "a/b", time.Hour)
	require.NoError(t, err)
	list, err := died.Lease(t.Context(), 1, time.Hour)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NoError(t, died.Close())
	waitSettled(t, open(t, cfg, WithClock(clock.Now)))
}

// TestTimelineDegradedOnFullDisk checks the pages over HTTP while the disk of an embedded system is
// full.
func TestTimelineDegradedOnFullDisk(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t), WithClock(at(noon).Now))
	fillHome(t, a)
	s, f := &httpSystem{t, a}, makeFlaky(t, a)
	for _, path := range []string{"/v1/timeline?limit=2", "/v1/authors/bob/posts?limit=2"} {
		f.broken.Store(1)
		for _, want := range [][]string{{"session"}, nil} {
			answer := s.call("u", "GET", path, "")
			require.Equal(t, 200, answer.status, answer.body)
			require.Len(t, answer.ids(), 2)
			require.Equal(t, want, answer.Data.Degraded, path)
		}
	}
}
