package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
)

// totals returns the stored counts of the days around noon by variant, after the server has written
// them.
func totals(t *testing.T, a *App) map[string]events.Totals {
	t.Helper()
	require.NoError(t, a.tally.Flush(t.Context()))
	day := feed.DayOf(noon)
	totals, err := a.counts.Read(t.Context(), day-2, day+2)
	require.NoError(t, err)
	out := map[string]events.Totals{}
	for _, x := range totals {
		out[x.Variant] = x
	}
	return out
}

func react(t *testing.T, a *App, agent string, acts ...engine.Act) api.EventsTaken {
	t.Helper()
	taken, err := a.Engine.React(t.Context(), agent, acts)
	require.NoError(t, err)
	return taken
}

func act(kind events.Kind, id string) engine.Act { return engine.Act{Kind: kind, ID: id} }

// TestAnActOnAHiddenPostDoesNotCount clicks a post that the reader was shown, and no longer may
// see once its author blocks the reader.
func TestAnActOnAHiddenPostDoesNotCount(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t))
	p, _, err := a.Social.CreatePost(t.Context(), social.Post{Author: "ann", Caption: "for all", Audience: social.Audience{Public: true}}, social.Creation{})
	require.NoError(t, err)
	require.Equal(t, 200, asReader(t, a, "GET", "/v1/authors/ann/posts", ""), "shows it")
	assert.Equal(t, 1, react(t, a, "u_1", act(events.Click, p.ID)).Accepted)
	_, err = a.Social.Block(t.Context(), "ann", "u_1")
	require.NoError(t, err)
	assert.Equal(t, 1, react(t, a, "u_1", act(events.Click, p.ID)).NotShown)
}

// authored returns n items of five authors, an hour old.
func authored(n int) []feed.Item {
	all := madeItems(n)
	for i := range all {
		all[i].AuthorID = fmt.Sprint("author_", i%5)
		all[i].UpdateTime = noon.Add(-time.Hour).Unix()
	}
	return all
}

// closeApp closes a system as a SIGTERM does, including the drain.
func closeApp(t *testing.T, a *App) {
	t.Helper()
	require.NoError(t, a.Close(t.Context()))
}

// TestActsOutlastTheServer stops a server right after an answer: the next server has its counts and
// the hidden items.
func TestActsOutlastTheServer(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, authored(30)...)
	page := ask(t, a, refresh("u_1", 20))
	react(t, a, "u_1", act(events.Click, page.Docs[3].ID), act(events.Hide, "doc_0025"))
	closeApp(t, a)
	b := open(t, cfg, WithClock(at(noon).Now))
	got := totals(t, b)[feed.Control]
	assert.Equal(t, []int64{20, 1}, []int64{got.Counts["impressions"], got.Counts["click"]})
	left := ids(ask(t, b, refresh("u_1", 20)))
	assert.Len(t, left, 9)
	assert.NotContains(t, left, "doc_0025")
}

func TestHide(t *testing.T) {
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
	recorded(t, a)

	// A profile without muted items retains them.
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"tag-3": 2}}))
	for _, days := range []int{1, 8, 30} {
		clock.Advance(time.Duration(days) * 24 * time.Hour)
		answer := ask(t, a, refresh("u_1", 100))
		for _, id := range append(hidden, all[30].ID) {
			assert.NotContains(t, ids(answer), id, "after %d days", days)
		}
		recorded(t, a) // long pending impressions are recorded again, on the day of that write
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

// TestEventsOutlastRedis checks that counting goes on while Redis is frozen.
func TestEventsOutlastRedis(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, authored(200)...)
	before := ask(t, a, refresh("u_1", 10))
	recorded(t, a)
	require.EqualValues(t, 10, totals(t, a)[feed.Control].Counts["impressions"])

	r.Freeze()
	shown := len(before.Docs)
	clicks := 0
	for range 4 {
		page := ask(t, a, refresh("u_1", 10))
		require.Contains(t, page.Degraded, "dedup")
		shown += len(page.Docs)
		taken, err := a.Engine.React(t.Context(), "u_1", []engine.Act{act(events.Click, page.Docs[0].ID), act(events.Click, page.Docs[1].ID)})
		require.NoError(t, err)
		require.Equal(t, api.EventsTaken{Accepted: 2}, taken)
		clicks += 2
	}
	_, err := a.counts.Read(t.Context(), feed.DayOf(noon), feed.DayOf(noon))
	require.ErrorIs(t, err, events.ErrUnavailable)

	r.Thaw()
	asked(t, a)
	got := totals(t, a)[feed.Control]
	probes := got.Counts["impressions"] - int64(shown) // the pages of asked, with one item each
	assert.GreaterOrEqual(t, probes, int64(1))
	assert.LessOrEqual(t, probes, int64(200), "none of the items twice")
	assert.EqualValues(t, clicks, got.Counts["click"])
	assert.EqualValues(t, 2, got.Agents)
}

// TestAnExperimentsNameUsedAgain starts an experiment, ends it and reuses its name: the report has
// no data of the first one.
func TestAnExperimentsNameUsedAgain(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			var cfg configs.Config
			all := adminServers(t, m, &cfg)
			a, b := all[0], all[len(all)-1]
			put(t, a, authored(60)...)
			shown := func(agent string) int64 {
				ask(t, a, refresh(agent, 5))
				require.NoError(t, a.tally.Flush(t.Context()))
				var report struct{ Variants []api.ReportRow }
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/ranking/report", nil)
				r.Header.Set("X-Admin-Token", rankingSecret)
				w := httptest.NewRecorder()
				b.Handler.ServeHTTP(w, r)
				require.NoError(t, json.Unmarshal(w.Body.Bytes(), &struct{ Data any }{&report}))
				for _, row := range report.Variants {
					if row.Name == "new" {
						return row.Impressions
					}
				}
				return -1
			}
			require.EqualValues(t, -1, shown("u_0"))
			putRanking(t, a, `{"experiments":[{"name":"new","share":1,"ranking":{"base":1}}]}`)
			require.EqualValues(t, 5, shown("u_1"))
			putRanking(t, b, `{"experiments":[{"name":"new","share":1}]}`)
			inForce(t, a, 2)
			require.EqualValues(t, 10, shown("u_2"), "it goes on")
			_, status, msg := rank(t, b, http.MethodPut, "/v1/ranking", `{"experiments":[{"name":"new","share":1,"ranking":{"base":2}}]}`, "")
			require.Equal(t, http.StatusBadRequest, status)
			require.Contains(t, msg, "use another name, or end it first")
			putRanking(t, a, `{"experiments":[]}`)
			require.EqualValues(t, 10, shown("u_3"), "of the one that has ended")
			putRanking(t, a, `{"experiments":[{"name":"new","share":1,"ranking":{"base":2}}]}`)
			require.EqualValues(t, 5, shown("u_4"))
		})
	}
}
