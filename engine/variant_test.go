package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// moving assigns an agent to a different variant on each call.
type moving struct{ asked []string }

func (m *moving) For(string) (string, feed.Ranking) {
	m.asked = append(m.asked, string(rune('a'+len(m.asked))))
	return m.asked[len(m.asked)-1], dayLong()
}

// tallied records the variants that pages and acts were counted for.
type tallied struct{ variants, acted []string }

func (t *tallied) Delivered(variant, _ string, _ []feed.Doc, _ []feed.Ref, _ []events.Event, _ time.Time) {
	t.variants = append(t.variants, variant)
}

func (t *tallied) Acted(variant string, _ []events.Event, _ time.Time) bool {
	t.acted = append(t.acted, variant)
	return true
}

// When a new version of the ranking takes effect during a refresh, the page counts for the variant
// it was ranked by.
func TestVariantOfPageDuringChange(t *testing.T) {
	clock := func() time.Time { return rankedAt }
	items := []feed.Item{aged("a", "", time.Hour), aged("b", "", 2*time.Hour), aged("c", "", 3*time.Hour)}
	stores := storesOf(t, clock, source(items...))
	_, err := stores.Catalog.Put(t.Context(), items)
	require.NoError(t, err)
	rankings, tally := &moving{}, &tallied{}
	stores.Tally = tally
	e, err := engine.New(stores, engine.Config{Clock: clock, N: 10, RoundsFor: time.Second, Rankings: rankings, RecordServed: true})
	require.NoError(t, err)
	for i, action := range []engine.Action{engine.ActionRefresh, engine.ActionLoadMore} {
		a, err := e.Feed(t.Context(), engine.Request{Agent: "u_1", Action: action, Limit: 2 - i})
		require.NoError(t, err)
		require.NotEmpty(t, a.Docs)
		assert.Len(t, rankings.asked, i+1, "%s asks once", action)
		assert.Equal(t, rankings.asked, tally.variants)
	}
	x, err := e.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 2})
	require.NoError(t, err)
	assert.Len(t, rankings.asked, 3)
	assert.Equal(t, "c", x.Variant)
}

// half assigns one agent to an experiment.
type half struct{}

func (half) For(agent string) (string, feed.Ranking) {
	if agent == "u_1" {
		return "slow", dayLong()
	}
	return feed.Control, dayLong()
}

// An act counts for the variant of the acting agent, whichever variant ranked the item.
func TestVariantOfActingAgent(t *testing.T) {
	tally := &tallied{}
	r := newRig(t, 2, func(s *engine.Stores, cfg *engine.Config) { s.Tally, cfg.Rankings = tally, half{} })
	for _, agent := range []string{"u_1", "u_2"} {
		require.NoError(t, r.Seen(t.Context(), agent, run(0, 2)))
		_, err := r.React(t.Context(), agent, []engine.Act{{Kind: events.Click, ID: "i000"}, {Kind: events.Like, ID: "i001"}})
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"slow", feed.Control}, tally.acted)
}
