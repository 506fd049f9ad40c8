package server

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// TestAServerThatStartsKnowsWhatListsLack checks that already the first page of a new server
// reports a timeline as incomplete while a post of an earlier server waits for its delivery.
func TestAServerThatStartsKnowsWhatListsLack(t *testing.T) {
	t.Parallel()
	clock, cfg := at(noon), withPostgres(t)
	cfg.Jobs.Workers = 0
	first := func(a *App) (page struct{ Data struct{ Degraded []string } }) {
		callJSON(t, a, http.MethodGet, "/v1/timeline", "r", "", &page)
		return page
	}
	one := open(t, cfg, WithClock(clock.Now))
	require.Empty(t, first(one).Data.Degraded)
	_, _, err := one.network.store.CreatePost(t.Context(), social.Post{Author: "ann", Caption: "Hello", Audience: social.Audience{Public: true}}, social.Creation{})
	require.NoError(t, err)
	clock.Advance(3 * time.Second)
	cfg.DataDir = t.TempDir()
	require.Equal(t, []string{"timeline"}, first(open(t, cfg, WithClock(clock.Now))).Data.Degraded)
}
