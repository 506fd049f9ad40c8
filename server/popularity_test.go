package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/signals/events"
)

// firstFor returns the first item for a reader without impressions.
func firstFor(t *testing.T, a *App, agent string) string {
	t.Helper()
	return ask(t, a, refresh(agent, 3)).Docs[0].ID
}

// TestPopularityFollowsClicks follows a click into the next refresh of other readers, across a
// restart and a newer version of the item, to the deletion of the item.
func TestPopularityFollowsClicks(t *testing.T) {
	t.Parallel()
	now, cfg := at(noon), embedded(t)
	cfg.Ranking.PopularityWeight = 1
	a := open(t, cfg, WithClock(now.Now))
	items := authored(30)
	for i := range items {
		items[i].UpdateTime -= int64(i) * 600
	}
	put(t, a, items...)
	read := items[8].ID
	require.Equal(t, items[0].ID, firstFor(t, a, "before"))

	for _, agent := range []string{"u_1", "u_2", "u_3"} {
		require.NoError(t, a.Engine.Seen(t.Context(), agent, []string{read}))
		for _, kind := range []events.Kind{events.Click, events.Like, events.Click, events.Dislike} {
			require.Equal(t, 1, react(t, a, agent, act(kind, read)).Accepted)
		}
	}
	require.Equal(t, 1, react(t, a, "liar", act(events.Click, items[9].ID)).NotShown)
	require.NoError(t, a.Engine.Seen(t.Context(), "grump", []string{items[9].ID}))
	require.Equal(t, 2, react(t, a, "grump", act(events.Dislike, items[9].ID), act(events.Hide, items[9].ID)).Accepted)
	n2h, n2d := popular(t, a, items[9].ID)
	assert.Zero(t, n2h+n2d, "what was not shown, and dislikes and hides, add nothing")
	n2h, n2d = popular(t, a, read)
	assert.InDelta(t, 3, n2h, 1e-9, "each reader once")
	assert.InDelta(t, 3, n2d, 1e-9)
	assert.Equal(t, read, firstFor(t, a, "after"))

	now.Advance(2 * time.Hour)
	n2h, n2d = popular(t, a, read)
	assert.InDelta(t, 1.5, n2h, 1e-9)
	assert.Greater(t, n2d, 2.9)

	require.NoError(t, a.Close(t.Context()))
	a = open(t, cfg, WithClock(now.Now))
	again, _ := popular(t, a, read)
	assert.InDelta(t, n2h, again, 1e-9, "it survives a restart")
	require.Equal(t, 1, react(t, a, "u_1", act(events.Click, read)).Accepted)
	again, _ = popular(t, a, read)
	assert.InDelta(t, n2h, again, 1e-9, "and so does who has acted")

	items[8].Title = "A newer version"
	put(t, a, items[8])
	again, _ = popular(t, a, read)
	assert.InDelta(t, n2h, again, 1e-9)
	uploaded := items[20].ID
	report, err := catalog.NewIngest(a.Catalog, catalog.IngestConfig{}).Counts(t.Context(),
		strings.NewReader(fmt.Sprintf(`[{"id":%q,"likes":2},{"id":%q,"likes":1000000000}]`, read, uploaded)))
	require.NoError(t, err)
	require.Equal(t, 2, report.Accepted)
	again, _ = popular(t, a, read)
	assert.InDelta(t, n2h, again, 1e-9, "counts of another system leave it alone")
	assert.Equal(t, uploaded, firstFor(t, a, "counted"), "and are in force")
	require.NoError(t, a.Catalog.Remove(t.Context(), read))
	put(t, a, items[8])
	again, _ = popular(t, a, read)
	assert.Zero(t, again, "a deleted item loses its counts")
	require.Equal(t, 1, react(t, a, "u_1", act(events.Click, read)).Accepted)
	again, _ = popular(t, a, read)
	assert.InDelta(t, 1, again, 1e-9, "and is forgotten by those who acted on it")

	// Counts reach recall without an explicit flush.
	require.NoError(t, a.Engine.Seen(t.Context(), "u_2", []string{read}))
	require.Equal(t, 1, react(t, a, "u_2", act(events.Click, read)).Accepted)
	waitCounted(t, a, read, 1.5)
}

// TestPopularityAfterErase erases an agent over HTTP: their clicks and likes are forgotten, and
// their contributions to counts remain.
func TestPopularityAfterErase(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Auth.AdminToken = "test-admin-token-of-enough-length"
	a := open(t, cfg, WithClock(at(noon).Now))
	items := authored(5)
	put(t, a, items...)
	read := items[2].ID
	click := func(agent string) {
		require.NoError(t, a.Engine.Seen(t.Context(), agent, []string{read}))
		require.Equal(t, 1, react(t, a, agent, act(events.Click, read)).Accepted)
	}
	readers := func() float64 {
		n2h, _ := popular(t, a, read)
		return n2h
	}
	erase := func(agent string) { askAdmin[struct{}](t, a, http.MethodDelete, "/v1/agents/"+agent, "") }
	click("u_1")
	click("u_2")
	require.InDelta(t, 2, readers(), 1e-9)
	erase("u_1")
	require.InDelta(t, 2, readers(), 1e-9)
	click("u_2")
	require.InDelta(t, 2, readers(), 1e-9, "others are remembered")
	click("u_1")
	require.InDelta(t, 3, readers(), 1e-9, "nobody knows any more that it has clicked")
	click("u_3")
	erase("u_3") // while its click is not yet counted
	click("u_3")
	require.InDelta(t, 5, readers(), 1e-9)
	erase("nobody")
}
