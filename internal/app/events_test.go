package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/events"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/social"
)

// counted is what is in the store for the days around noon, by variant, once
// all servers have written.
func counted(t *testing.T, all ...*App) map[string]events.Totals {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, a := range all {
		require.NoError(t, a.tally.Flush(ctx))
	}
	day := feed.DayOf(noon)
	totals, err := all[0].counts.Read(ctx, day-2, day+2)
	require.NoError(t, err)
	out := map[string]events.Totals{}
	for _, x := range totals {
		out[x.Variant] = x
	}
	return out
}

func react(t *testing.T, a *App, agent string, acts ...engine.Act) engine.Taken {
	t.Helper()
	taken, err := a.Engine.React(t.Context(), agent, acts)
	require.NoError(t, err)
	return taken
}

func act(kind events.Kind, id string) engine.Act { return engine.Act{Kind: kind, ID: id} }

// authored are items of five authors, an hour old.
func authored(n int) []feed.Item {
	all := madeItems(n)
	for i := range all {
		all[i].AuthorID = fmt.Sprint("author_", i%5)
		all[i].UpdateTime = noon.Add(-time.Hour).Unix()
	}
	return all
}

// TestEventsPerVariant counts on two servers what forty agents are shown and
// do, half of them in an experiment, and finds it again after a restart.
func TestEventsPerVariant(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			var cfg configs.Config
			all := servers(t, m, func(c *configs.Config) { cfg = *c })
			_, err := all[0].ranking.Change(t.Context(), ranking.Change{Experiments: []ranking.Experiment{{Name: "slow", Share: 0.5}}})
			require.NoError(t, err)
			for _, a := range all {
				require.Eventually(t, func() bool { return len(a.ranking.InForce().Live.Variants) == 1 }, time.Minute, 10*time.Millisecond)
			}
			put(t, all[0], authored(60)...)
			want := map[string]*events.Totals{feed.Control: {}, "slow": {}}
			for i := range 40 {
				agent := fmt.Sprint("u_", i)
				a, b := all[i%len(all)], all[(i+1)%len(all)]
				variant, _ := a.ranking.For(agent)
				w := want[variant]
				first := refresh(agent, 6)
				first.RequestID = "once"
				page := ask(t, a, first)
				require.Len(t, page.Docs, 6)
				require.Equal(t, ids(page), ids(ask(t, a, first)), "the same page again is not counted again")
				peek := refresh(agent, 6)
				peek.Silent = true
				ask(t, b, peek) // nor is a look
				ask(t, b, loadMore(agent, 4))
				w.Impressions += 10
				w.Agents++
				clicked := page.Docs[0].ID
				for _, s := range []*App{a, b, a} {
					require.Equal(t, engine.Taken{Accepted: 2}, react(t, s, agent, act(events.Click, clicked), act(events.Click, clicked)))
				}
				w.Clicks++
				if i%2 == 0 {
					react(t, b, agent, act(events.Like, clicked), act(events.Dislike, page.Docs[1].ID))
					w.Likes, w.Dislikes = w.Likes+1, w.Dislikes+1
				}
			}
			check := func(got map[string]events.Totals) {
				t.Helper()
				require.Len(t, got, 2)
				for variant, w := range want {
					g := got[variant]
					assert.Equal(t, w.Impressions, g.Impressions, variant)
					assert.Equal(t, []int64{w.Clicks, w.Likes, w.Dislikes, 0}, []int64{g.Clicks, g.Likes, g.Dislikes, g.Hides}, variant)
					assert.InDelta(t, w.Agents, g.Agents, 1, variant)
					assert.EqualValues(t, 5, g.Authors, variant)
					assert.Equal(t, w.Impressions, g.Ages[events.AgeBucket(3600)], variant)
				}
			}
			check(counted(t, all...))

			closeApp(t, all[0])
			again := open(t, cfg, WithClock(at(noon).Now))
			check(counted(t, again))
		})
	}
}

// closeApp closes a system as a SIGTERM does, with time to drain.
func closeApp(t *testing.T, a *App) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(t, a.Close(ctx))
}

// TestEventsAreWrittenAtTheEnd stops a server right after it has answered.
func TestEventsAreWrittenAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			cfg := m.config(t)
			a := open(t, cfg, WithClock(at(noon).Now))
			put(t, a, authored(30)...)
			page := ask(t, a, refresh("u_1", 20))
			react(t, a, "u_1", act(events.Click, page.Docs[3].ID))
			closeApp(t, a)
			got := counted(t, open(t, cfg, WithClock(at(noon).Now)))
			assert.EqualValues(t, 20, got[feed.Control].Impressions)
			assert.EqualValues(t, 1, got[feed.Control].Clicks)
		})
	}
}

// TestEventsOfWhatWasNotShown are taken and do not count; a hide hides all the
// same.
func TestEventsOfWhatWasNotShown(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			a := open(t, m.config(t), WithClock(at(noon).Now))
			all := authored(20)
			all[4].GroupID, all[5].GroupID = "story", "story"
			put(t, a, all...)
			page := ask(t, a, refresh("u_1", 5))
			shown := page.Docs[0].ID
			put(t, a, feed.Item{ID: "later", Title: "Later", UpdateTime: noon.Add(-time.Minute).Unix()})
			assert.Equal(t, engine.Taken{Accepted: 1, Unshown: 3}, react(t, a, "u_1",
				act(events.Click, shown), act(events.Click, "later"), act(events.Like, "no_such_item"), act(events.Hide, "later")))
			assert.Equal(t, engine.Taken{Unshown: 1}, react(t, a, "u_2", act(events.Click, shown)), "it was another agent")
			require.NoError(t, a.Catalog.Remove(t.Context(), shown))
			assert.Equal(t, engine.Taken{Accepted: 1}, react(t, a, "u_1", act(events.Like, shown)), "deleted since")

			got := counted(t, a)[feed.Control]
			assert.Equal(t, []int64{1, 1, 0}, []int64{got.Clicks, got.Likes, got.Hides})
			refreshIndex(t, a)
			assert.NotContains(t, ids(ask(t, a, refresh("u_1", 50))), "later")
			assert.Contains(t, ids(ask(t, a, refresh("u_2", 50))), "later")
		})
	}
}

// TestHide hides items in every place they could come back from.
func TestHide(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			clock := at(noon)
			a := open(t, m.config(t), WithClock(clock.Now))
			all := authored(40)
			all[10].GroupID, all[30].GroupID = "story", "story"
			put(t, a, all...)
			first := refresh("u_1", 5)
			first.RequestID = "r1"
			page := ask(t, a, first)
			seen := newOnce()
			seen.add(t, "first", ids(page))

			// One that was shown, and two that wait in the session.
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
			recorded(t, a)

			// A profile that does not name them keeps them.
			require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"tag-3": 2}}))
			for _, days := range []int{1, 8, 30} {
				clock.Advance(time.Duration(days) * 24 * time.Hour)
				answer := ask(t, a, refresh("u_1", 100))
				for _, id := range append(hidden, all[30].ID) {
					assert.NotContains(t, ids(answer), id, "after %d days", days)
				}
				recorded(t, a) // what was pending for long is recorded again, on the day that it is written
				if days == 8 {
					assert.Len(t, answer.Docs, 36, "all the others are back")
				}
			}
			// Nobody else misses them.
			assert.Len(t, ask(t, a, refresh("u_2", 100)).Docs, 39)

			// Naming none brings them back.
			require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{MutedItems: []string{}}))
			answer := ids(ask(t, a, refresh("u_1", 100)))
			assert.Contains(t, answer, all[10].ID)
			assert.Contains(t, answer, all[20].ID)
		})
	}
}

// TestHiddenAfterARestart hides an item, and finds it hidden by the next
// process.
func TestHiddenAfterARestart(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			cfg := m.config(t)
			a := open(t, cfg, WithClock(at(noon).Now))
			put(t, a, authored(10)...)
			react(t, a, "u_1", act(events.Hide, "doc_0003"))
			closeApp(t, a)
			b := open(t, cfg, WithClock(at(noon).Now))
			answer := ids(ask(t, b, refresh("u_1", 20)))
			assert.Len(t, answer, 9)
			assert.NotContains(t, answer, "doc_0003")
		})
	}
}

// TestEventsOutlastRedis counts on while Redis is frozen.
func TestEventsOutlastRedis(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, authored(200)...)
	before := ask(t, a, refresh("u_1", 10))
	recorded(t, a)
	require.EqualValues(t, 10, counted(t, a)[feed.Control].Impressions)

	r.Freeze()
	shown := len(before.Docs)
	clicks := 0
	for range 4 {
		page := ask(t, a, refresh("u_1", 10))
		require.Contains(t, page.Degraded, "dedup")
		shown += len(page.Docs)
		taken, err := a.Engine.React(t.Context(), "u_1", []engine.Act{act(events.Click, page.Docs[0].ID), act(events.Click, page.Docs[1].ID)})
		require.NoError(t, err)
		require.Equal(t, engine.Taken{Accepted: 2}, taken)
		clicks += 2
	}
	_, err := a.counts.Read(t.Context(), feed.DayOf(noon), feed.DayOf(noon))
	require.ErrorIs(t, err, events.ErrUnavailable)

	r.Thaw()
	healthy(t, a)
	got := counted(t, a)[feed.Control]
	probes := got.Impressions - int64(shown) // those of healthy, one item each
	assert.GreaterOrEqual(t, probes, int64(1))
	assert.LessOrEqual(t, probes, int64(200), "none of the items twice")
	assert.EqualValues(t, clicks, got.Clicks)
	assert.EqualValues(t, 2, got.Agents)
}

// TestEventsOverHTTP goes the way of a client.
func TestEventsOverHTTP(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Auth.AdminToken = "an-admin-token"
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, authored(10)...)
	call := func(method, path, body string) string {
		t.Helper()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("X-Agent-ID", "u_1")
		r.Header.Set("X-Admin-Token", cfg.Auth.AdminToken)
		w := httptest.NewRecorder()
		a.Handler.ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		return w.Body.String()
	}
	page := ask(t, a, refresh("u_1", 4))
	body := fmt.Sprintf(`{"events":[{"type":"click","id":%q},{"type":"hide","id":%q},{"type":"like","id":"doc_0009x"}]}`, page.Docs[0].ID, page.Docs[1].ID)
	assert.JSONEq(t, `{"code":0,"msg":"success","data":{"accepted":2,"not_shown":1}}`, call("POST", "/v1/events", body))
	counted(t, a)
	report := call("GET", "/v1/ranking/report?days=1", "")
	assert.Contains(t, report, `"impressions":4,"clicks":1,"ctr":0.25,`)
	assert.Contains(t, report, `"hides":1,`)
	assert.Contains(t, report, `"authors":4,"agents":1,"difference":null`)
	assert.Contains(t, call("PUT", "/v1/agents/u_1/profile", `{"keywords":["k"]}`), fmt.Sprintf(`"muted_items":[%q]`, page.Docs[1].ID))
}

// TestEventsOnTimelinePosts counts acts on posts for a variant where for-you gave them out,
// and not where a timeline alone showed them; after a restart too.
func TestEventsOnTimelinePosts(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := m.config(t)
			a := open(t, cfg, WithClock(at(noon).Now))
			store := a.network.fanout.Store()
			_, err := store.Follow(t.Context(), "u_1", "ann", noon)
			require.NoError(t, err)
			for _, id := range []string{"post:1", "post:2"} {
				_, _, err := store.CreatePost(t.Context(),
					social.Post{ID: id, Author: "ann", Caption: "By ann", Audience: social.Audience{Public: true}}, social.Creation{})
				require.NoError(t, err)
			}
			settled(t, a)
			refreshIndex(t, a)
			ranked := ids(ask(t, a, refresh("u_1", 1)))
			require.Len(t, ranked, 1)
			page, err := a.network.timelines.Timeline(t.Context(), engine.TimelineRequest{Agent: "u_1", Limit: 20})
			require.NoError(t, err)
			require.Len(t, page.Posts, 2)
			recorded(t, a)
			require.Equal(t, engine.Taken{Accepted: 2}, react(t, a, "u_1", act(events.Click, "post:1"), act(events.Click, "post:2")))
			got := counted(t, a)[feed.Control]
			assert.Equal(t, []int64{1, 1}, []int64{got.Impressions, got.Clicks}, "shown and clicked")

			closeApp(t, a)
			a = open(t, cfg, WithClock(at(noon).Now))
			require.Equal(t, engine.Taken{Accepted: 2}, react(t, a, "u_1", act(events.Like, "post:1"), act(events.Like, "post:2")))
			assert.EqualValues(t, 1, counted(t, a)[feed.Control].Likes)
		})
	}
}
