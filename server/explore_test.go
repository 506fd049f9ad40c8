package server

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// TestExploration checks, from the configuration to the counts, that a page has its share of
// explored items, and that clicks on them are counted.
func TestExploration(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Ranking.Explore.Share = 0.5
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, authored(120)...)
	page := ask(t, a, refresh("u_1", 20))
	var clicks []engine.Act
	for i, ref := range page.Refs {
		if ref.Source == feed.SourceExplore {
			clicks = append(clicks, act(events.Click, page.Docs[i].ID))
		}
	}
	require.Len(t, clicks, 10)
	react(t, a, "u_1", act(events.Click, page.Docs[0].ID), clicks[0], clicks[1])
	n := totals(t, a)[feed.Control].Counts
	assert.Equal(t, []int64{20, 10, 3, 2}, []int64{n["impressions"], n["explored"], n["click"], n["explored_clicks"]})
}
