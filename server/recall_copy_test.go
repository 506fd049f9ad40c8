package server

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	recallelastic "github.com/freshet/freshet/recall/elastic"
)

// TestRecallFromCopy has two servers recall from a copy of the index: an upload at one reaches the
// readers of the other, a deleted item no reader, and readiness says nothing.
func TestRecallFromCopy(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	cfg.Recall.From = configs.FromMemory
	a := open(t, cfg, WithClock(at(noon).Now), WithRecallCache(0, staleFor))
	cfg.DataDir = t.TempDir()
	b := open(t, cfg, WithClock(at(noon).Now), WithRecallCache(0, staleFor))
	var items []feed.Item
	for i := range 30 {
		items = append(items, feed.Item{ID: fmt.Sprint("doc", i), Title: fmt.Sprintf("title%d", i), UpdateTime: noon.Unix() - int64(i)})
	}
	errs, err := a.Catalog.Put(t.Context(), items)
	require.NoError(t, err)
	require.Nil(t, errs)
	copied := func(n int) func() bool {
		return func() bool {
			got, why := b.stores.copied.State()
			return got == n && why == ""
		}
	}
	testenv.WaitFor(t, copied(30), "the copy of the other server to have the upload")
	require.Equal(t, "memory", b.stores.recall.Name())
	ready := (&httpSystem{t, b}).call("", http.MethodGet, "/readyz", "")
	assert.Contains(t, ready.body, `"recall":{"state":"up","optional":true}`)

	page := func(agent string) map[string]bool {
		answer := ask(t, b, refresh(agent, 50))
		require.Empty(t, answer.Degraded)
		ids := map[string]bool{}
		for _, d := range answer.Docs {
			ids[d.ID] = true
		}
		return ids
	}
	require.Len(t, page("u"), 30)
	require.NoError(t, a.Catalog.Remove(t.Context(), "doc3"))
	shown := page("v")
	assert.Len(t, shown, 29)
	assert.NotContains(t, shown, "doc3", "at once: the content is gone")
	testenv.WaitFor(t, copied(29), "the copy to lose the deleted item")
}

// sameRecall checks that the copy of a server recalls for a reader what Elasticsearch recalls. It tries
// again while counts of clicks are being written to the index.
func sameRecall(t *testing.T, a *App, p feed.Profile) {
	t.Helper()
	elastic := recallelastic.New(a.clients.elastic, recallelastic.Config{Index: a.cfg.Elasticsearch.Index, Schema: a.clients.index.Schema()})
	q := feed.Query{Profile: p, Ranking: a.ranking.InForce().Live.Ranking, Origin: a.clock(), N: 500}
	scores := func(s recall.Source) map[string]float32 {
		r, err := s.Recall(t.Context(), q)
		require.NoError(t, err)
		all := map[string]float32{}
		for _, c := range r.Candidates {
			all[c.ID] = c.Score
		}
		return all
	}
	testenv.WaitFor(t, func() bool {
		refreshIndex(t, a)
		want, got := scores(elastic), scores(a.stores.copied)
		same := true
		for id, score := range want {
			other, ok := got[id]
			same = same && ok && math.Abs(float64(score-other)) <= 1e-4*float64(score)
			delete(got, id)
		}
		// Deleted items leave when a read misses them. Until then the copy may have one in place of
		// another item of its group.
		docs, err := a.Catalog.Docs(t.Context(), slices.Collect(maps.Keys(got)))
		require.NoError(t, err)
		return same && !slices.ContainsFunc(docs, func(d feed.Doc) bool { return !d.Missing() })
	}, "the copy to recall what Elasticsearch does")
}
