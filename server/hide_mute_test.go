package server

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// TestHideItemAndGroup hides items that were shown and items of the session: they and their groups
// are in no later page, session or retry, until they are unmuted.
func TestHideItemAndGroup(t *testing.T) {
	t.Parallel()
	clock := at(noon)
	a := open(t, embedded(t), WithClock(clock.Now))
	all := authored(40)
	all[10].GroupID, all[30].GroupID = "story", "story"
	put(t, a, all...)
	first := refresh("u_1", 5)
	first.RequestID = "r1"
	page := ask(t, a, first)
	seen := newOnce()
	seen.add(t, "first", ids(page))

	// Hide one item that was shown, and two that are still in the session.
	hidden := []string{page.Docs[2].ID, all[10].ID, all[20].ID}
	for _, id := range hidden {
		react(t, a, "u_1", act(events.Hide, id))
		react(t, a, "u_1", act(events.Hide, id))
	}
	profile, err := a.Engine.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	assert.Equal(t, []string{hidden[0], "story", hidden[1], hidden[2]}, profile.MutedItems)
	again := ids(ask(t, a, first))
	assert.Equal(t, []string{page.Docs[0].ID, page.Docs[1].ID, page.Docs[3].ID, page.Docs[4].ID}, again[:4], "the same page again is without it")
	seen.add(t, "filled up", again[4:])

	total := 5 + len(again[4:])
	for range 20 {
		more := ask(t, a, loadMore("u_1", 7))
		seen.add(t, "session", ids(more))
		total += len(more.Docs)
		if !more.HasMore {
			break
		}
	}
	assert.Equal(t, 37, total, "everything but three groups of two, one and one, the first of which was shown")
	waitRecorded(t, a)

	// A profile without muted items retains them.
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"tag-3": 2}}))
	for _, days := range []int{1, 8, 30} {
		clock.Advance(time.Duration(days) * 24 * time.Hour)
		answer := ask(t, a, refresh("u_1", 100))
		for _, id := range append(hidden, all[30].ID) {
			assert.NotContains(t, ids(answer), id, "after %d days", days)
		}
		waitRecorded(t, a) // long pending impressions are recorded again, on the day of that write
		if days == 8 {
			assert.Len(t, answer.Docs, 36, "all the others are back")
		}
	}
	// The items are still shown to others.
	assert.Len(t, ask(t, a, refresh("u_2", 100)).Docs, 39)

	// An empty list unmutes them.
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{MutedItems: []string{}}))
	answer := ids(ask(t, a, refresh("u_1", 100)))
	assert.Contains(t, answer, all[10].ID)
	assert.Contains(t, answer, all[20].ID)
}

// TestHideRemovedItemHidesGroup removes items that a reader was shown, one for each way to remove
// them. A hide that comes later still mutes the group.
func TestHideRemovedItemHidesGroup(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			a := open(t, mode.config(t), WithClock(at(noon).Now))
			all := madeItems(6)
			for i, group := range []string{"removed", "erased", "removed", "erased", "", "stays"} {
				all[i].GroupID = group
			}
			all[1].AuthorID = "leaves"
			put(t, a, all...)
			page := ids(ask(t, a, refresh("u_1", 10)))
			require.Subset(t, page, []string{all[0].ID, all[1].ID})
			require.NoError(t, a.Catalog.Remove(t.Context(), all[0].ID))
			require.NoError(t, a.works().Erase(t.Context(), "leaves"))
			for _, it := range all[:2] {
				react(t, a, "u_1", act(events.Hide, it.ID))
			}
			profile, err := a.Engine.Profile(t.Context(), "u_1")
			require.NoError(t, err)
			for _, other := range all[2:4] {
				assert.True(t, profile.Refuses(&other), "another item of the group %s", other.GroupID)
			}
			assert.Equal(t, []string{"removed", all[0].ID, "erased", all[1].ID}, profile.MutedItems)
			assert.False(t, profile.Refuses(&feed.Item{ID: all[5].ID, GroupID: "stays"}))
		})
	}
}

// TestHideRaceWithPaging has one agent page through the feed on all servers while it hides items on
// others: no page requested after the answer to a hide has the item, whatever calls were in
// progress.
func TestHideRaceWithPaging(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			all := servers(t, m, nil)
			items := authored(500)
			put(t, all[0], items...)
			var mu sync.Mutex
			hidden := map[string]bool{}
			snapshot := func() map[string]bool {
				mu.Lock()
				defer mu.Unlock()
				before := make(map[string]bool, len(hidden))
				for id := range hidden {
					before[id] = true
				}
				return before
			}
			var paging, hiding sync.WaitGroup
			stop := make(chan struct{})
			for w := range 4 {
				paging.Go(func() {
					for i := 0; ; i++ {
						select {
						case <-stop:
							return
						default:
						}
						r := refresh("u_1", 5)
						switch i % 3 {
						case 1:
							r = loadMore("u_1", 5)
							r.RequestID = fmt.Sprint("r", i/2) // every other one is a retry
						case 2:
							r.Silent = true
						}
						before := snapshot()
						answer, err := all[(i+w)%len(all)].Engine.Feed(t.Context(), r)
						if !assert.NoError(t, err) {
							return
						}
						for _, id := range ids(answer) {
							assert.False(t, before[id], "%s was hidden before this page was asked for", id)
						}
					}
				})
			}
			for w := range 2 {
				hiding.Go(func() {
					dice := rand.New(rand.NewPCG(uint64(w), 7))
					for i := range 25 {
						id := items[dice.IntN(len(items))].ID
						_, err := all[(i+w+1)%len(all)].Engine.React(t.Context(), "u_1", []engine.Act{act(events.Hide, id)})
						if !assert.NoError(t, err) {
							return
						}
						mu.Lock()
						hidden[id] = true
						mu.Unlock()
					}
				})
			}
			hiding.Wait()
			close(stop)
			paging.Wait()
			for _, a := range all {
				p, err := a.Engine.Profile(t.Context(), "u_1")
				require.NoError(t, err)
				for id := range hidden {
					require.Contains(t, p.MutedItems, id, "no hide is lost")
				}
			}
		})
	}
}

func hides(from, n int) string {
	events := make([]string, n)
	for i := range events {
		events[i] = fmt.Sprintf(`{"type":"hide","id":"none_%d"}`, from+i)
	}
	return `{"events":[` + strings.Join(events, ",") + `]}`
}

// TestHideFlood has one agent hide 500 unknown items per call, in many concurrent calls, again and
// again.
func TestHideFlood(t *testing.T) {
	t.Parallel()
	a, s := untrusted(t, embedded(t))
	unchanged := seed(t, a, s)
	var wg sync.WaitGroup
	n := make([]int, 48)
	for w := range n {
		wg.Go(func() {
			mine := outsider{t, s.url, &n[w]}
			_, code, data := mine.call("POST", "/v1/events", hides(500*w, 500), asU1)
			if code == 42202 {
				return
			}
			assert.Zero(t, code)
			assert.JSONEq(t, `{"accepted":0,"not_shown":500}`, data)
		})
	}
	wg.Wait()
	p, err := a.Engine.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	require.Len(t, p.MutedItems, feed.MaxMutedItems)
	for _, who := range []string{asU1, "X-Agent-ID: u_3"} {
		_, code, data := s.call("POST", "/v1/feed", `{"action":"refresh"}`, who)
		require.Zero(t, code)
		require.Contains(t, data, `"doc_0"`)
	}
	_, code, _ := s.call("POST", "/v1/events", hides(0, 501), asU1)
	require.Equal(t, 40001, code)
	_, code, _ = s.call("POST", "/v1/events", `{"type":"click","id":"`+strings.Repeat("a", 256<<10)+`"}`, asU1)
	require.Equal(t, 41301, code)
	unchanged()
}

var profileChanges = []struct{ method, path, body string }{
	{"PUT", "/v1/agents/u_1/profile", `{"muted_tags":["tag-1"]}`},
	{"PATCH", "/v1/agents/u_1/profile", `{"muted_tags":["tag-1"]}`},
	{"PUT", "/v1/agents/u_1/muted/tags/tag-1", ""},
	{"POST", "/v1/events", `{"events":[{"type":"hide","id":"doc_0001"}]}`},
	{"DELETE", "/v1/agents/u_1/profile", ""},
}

// TestMuteRefusedWhileRedisUnreachable checks that such a mute is refused and not stored: a server
// that cannot reach Redis cannot delete the old profile from the cache that other servers read.
func TestMuteRefusedWhileRedisUnreachable(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	shortTimeouts(&cfg)
	direct := cfg
	direct.DataDir = t.TempDir()
	u, err := url.Parse(cfg.Redis.URL)
	require.NoError(t, err)
	k := newLink(t, u.Host)
	cfg.Redis.URL = "redis://" + k.l.Addr().String()
	a, b := open(t, cfg, WithClock(at(noon).Now), shortPauses), open(t, direct, WithClock(at(noon).Now))
	put(t, a, madeItems(30)...)
	require.Equal(t, 200, asReader(t, a, "PUT", "/v1/agents/u_1/profile", `{"interests":{"tag-2":1}}`))
	_, err = b.Engine.Profile(t.Context(), "u_1") // now it is cached
	require.NoError(t, err)

	k.set(true)
	for _, c := range profileChanges {
		assert.Equal(t, 503, asReader(t, a, c.method, c.path, c.body), "%s %s", c.method, c.path)
	}
	for _, server := range []*App{a, b} {
		p, err := server.Engine.Profile(t.Context(), "u_1")
		require.NoError(t, err)
		assert.False(t, p.HasMutes())
	}

	k.set(false)
	waitHealthy(t, a)
	require.Equal(t, 200, asReader(t, a, "PUT", "/v1/agents/u_1/profile", `{"muted_tags":["tag-1"]}`))
	for _, d := range ask(t, b, refresh("u_1", 30)).Docs {
		it, err := d.Item()
		require.NoError(t, err)
		assert.NotContains(t, it.Tags, "tag-1")
	}
}

// TestMuteWhileRedisFrozen checks that a mute applies to the next page of a session that could not
// be ended. Only sessions and filters are in Redis.
func TestMuteWhileRedisFrozen(t *testing.T) {
	t.Parallel()
	cfg, r := redisAlone(t)
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	put(t, a, madeItems(60)...)
	ask(t, a, refresh("u_1", 10))
	waitRecorded(t, a)
	r.Freeze()
	for _, c := range profileChanges[:len(profileChanges)-1] {
		assert.Less(t, asReader(t, a, c.method, c.path, c.body), 300, "%s %s", c.method, c.path)
	}
	r.Thaw()
	waitHealthy(t, a)
	for range 3 {
		for _, d := range ask(t, a, loadMore("u_1", 10)).Docs {
			it, err := d.Item()
			require.NoError(t, err)
			assert.NotContains(t, it.Tags, "tag-1")
		}
	}
}
