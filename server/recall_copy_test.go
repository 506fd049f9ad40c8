package server

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
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
