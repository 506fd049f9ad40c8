package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// clicksAtOnce has the calls after which a reader clicks on everything in the answer. With ranked,
// the clicks also count for the ranking.
var clicksAtOnce = []struct {
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

// TestActsSentAtOnce clicks on every item of a page right after the answer, on another server, in
// every feed. Each click must be accepted, and count for the feed that has shown the item.
func TestActsSentAtOnce(t *testing.T) {
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
				for _, c := range clicksAtOnce {
					for _, author := range []string{"ann", "bob"} {
						_, err := one.network.fanout.Store().Follow(t.Context(), c.reader, author, time.Time{})
						require.NoError(t, err)
					}
				}
				for _, c := range clicksAtOnce {
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

func callJSON(t *testing.T, a *App, method, path, agent, body string, answer any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-Agent-ID", agent)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), answer))
}
