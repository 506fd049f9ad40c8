package server

import (
	"net/http"
	"strings"
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

// TestEventsOnInvisiblePostNotCounted clicks a post that the reader was shown, and no longer may
// see once its author blocks the reader.
func TestEventsOnInvisiblePostNotCounted(t *testing.T) {
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

// TestEventsSurviveRestart stops a server right after an answer: the next server has its counts and
// the hidden items.
func TestEventsSurviveRestart(t *testing.T) {
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

// TestEventsCountedWhileRedisFrozen checks that counting goes on while Redis is frozen.
func TestEventsCountedWhileRedisFrozen(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, authored(200)...)
	before := ask(t, a, refresh("u_1", 10))
	waitRecorded(t, a)
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
	waitRedisUsed(t, a)
	got := totals(t, a)[feed.Control]
	probes := got.Counts["impressions"] - int64(shown) // the pages of waitRedisUsed, with one item each
	assert.GreaterOrEqual(t, probes, int64(1))
	assert.LessOrEqual(t, probes, int64(200), "none of the items twice")
	assert.EqualValues(t, clicks, got.Counts["click"])
	assert.EqualValues(t, 2, got.Agents)
}

// pagesToClick has the calls after which a reader clicks on everything in the answer. With ranked,
// the clicks also count for the ranking.
var pagesToClick = []struct {
	reader, feed, action string // of POST /v1/feed
	path                 string // of GET
	ranked               bool
}{
	{reader: "of_for_you", feed: "for_you", action: "refresh", ranked: true},
	{reader: "of_for_you", feed: "for_you", action: "load_more", ranked: true},
	{reader: "of_home", feed: "home", action: "refresh", ranked: true},
	{reader: "of_home", feed: "home", action: "load_more", ranked: true},
	{reader: "of_timeline", path: "/v1/timeline?limit=20"},
	{reader: "of_author", path: "/v1/authors/bob/posts?limit=20"},
}

// TestEventsRightAfterPageAreCounted clicks on every item of a page right after the answer, on
// another server, in every feed. Each click must be accepted, and count for the feed that has shown
// the item.
func TestEventsRightAfterPageAreCounted(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		for _, on := range []string{configs.OnServed, configs.OnSeen} {
			t.Run(m.name+", impressions when "+on, func(t *testing.T) {
				t.Parallel()
				cfg := m.config(t)
				cfg.Impressions.On = on
				one := open(t, cfg)
				two := one
				if m.name == "services" {
					cfg.DataDir = t.TempDir()
					two = open(t, cfg)
				}
				fillHome(t, one)
				for _, c := range pagesToClick {
					for _, author := range []string{"ann", "bob"} {
						_, err := one.network.fanout.Store().Follow(t.Context(), c.reader, author, time.Time{})
						require.NoError(t, err)
					}
				}
				for _, c := range pagesToClick {
					before := clicksOf(t, one, two)
					var page homeAnswer
					var err error
					if c.path == "" {
						page, err = askFeed(t.Context(), one, c.reader, c.feed, c.action, 20)
						require.NoError(t, err)
					} else {
						callJSON(t, one, http.MethodGet, c.path, c.reader, "", &page)
					}
					require.Len(t, page.Data.Items, 20)
					var sent struct{ Events []api.Event }
					want := map[string]int64{"click": before.Counts["click"]}
					for name, n := range before.Counts {
						if strings.HasPrefix(name, "source_click:") {
							want[name] = n
						}
					}
					for _, it := range page.Data.Items {
						sent.Events = append(sent.Events, api.Event{Type: string(events.Click), ID: it.ID})
						if source := it.InFeed.Source; c.feed == "home" && source != "" {
							want["source_click:"+source]++
						}
					}
					if c.ranked {
						want["click"] += 20
					}
					var answer struct{ Data api.EventsTaken }
					callJSON(t, two, http.MethodPost, "/v1/events", c.reader, strings.ToLower(asJSON(t, sent)), &answer)
					assert.Equal(t, api.EventsTaken{Accepted: 20}, answer.Data, "%+v", c)
					got := clicksOf(t, one, two)
					for name, n := range want {
						assert.Equal(t, n, got.Counts[name], "%s of %+v", name, c)
					}
				}
			})
		}
	}
}

// clicksOf returns the counts of all servers after they have written them.
func clicksOf(t *testing.T, all ...*App) events.Totals {
	t.Helper()
	for _, a := range all {
		require.NoError(t, a.tally.Flush(t.Context()))
	}
	day := feed.DayOf(all[0].clock())
	totals, err := all[0].counts.Read(t.Context(), day-1, day+1)
	require.NoError(t, err)
	for _, x := range totals {
		if x.Variant == feed.Control {
			return x
		}
	}
	return events.Totals{}
}
