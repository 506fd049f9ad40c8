package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
)

// youngSource counts the queries for young items, which ask for twice as many as a recall.
type youngSource struct {
	recall.Source
	mu    sync.Mutex
	asked []feed.Query
	err   error
}

func (s *youngSource) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	if q.N == 100 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, q)
		if s.err != nil {
			return recall.Result{}, s.err
		}
	}
	return s.Source.Recall(ctx, q)
}

func (s *youngSource) Explain(ctx context.Context, q feed.Query, ids []string) ([]recall.Factors, error) {
	return s.Source.(recall.Explainer).Explain(ctx, q, ids)
}

func (s *youngSource) queries() []feed.Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// youngRig returns a rig that explores a share of the positions with n items, of which a recall
// returns 50.
func youngRig(t *testing.T, share float64, n int) (*rig, *youngSource) {
	t.Helper()
	source := &youngSource{}
	r := newRig(t, n, func(stores *engine.Stores, cfg *engine.Config) {
		source.Source = stores.Recall
		stores.Recall, cfg.N = source, 50
		ranking := dayLong()
		ranking.Explore.Share = share
		cfg.Rankings = &feed.Live{Ranking: ranking}
	})
	return r, source
}

func refreshOf(agent string) engine.Request {
	return engine.Request{Agent: agent, Action: engine.ActionRefresh, Limit: 20}
}

// TestExplorationBeyondRecall: items that better ones hide from recall are explored too, within some
// seconds all of them, with one query a second for all readers. An explanation draws the same.
func TestExplorationBeyondRecall(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	r, source := youngRig(t, 0.5, 300)
	shown := map[string]int{}
	for i := range 600 {
		if i%100 == 0 {
			r.advance(time.Second)
		}
		agent := fmt.Sprint("u", i)
		x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: agent, Limit: 20})
		require.NoError(t, err)
		var told []string
		for _, c := range x.Page() {
			told = append(told, c.ID)
		}
		a := r.ask(t, refreshOf(agent))
		require.Equal(t, told, docIDs(a))
		_, ids := drawnOf(a)
		require.Len(t, ids, 10, "half of twenty")
		for _, id := range ids {
			shown[id]++
		}
		n := x.Counts
		require.Equal(t, n.Recalled, n.Paged+n.Kept)
		require.True(t, slices.IsSortedFunc(x.Candidates, func(a, b api.Explained) int { return a.Rank - b.Rank }))
		require.True(t, slices.IsSortedFunc(x.Candidates, func(a, b api.Explained) int { return int(b.UpdateTime - a.UpdateTime) }))
	}
	beyond := 0
	for _, id := range run(50, 300) {
		beyond += shown[id]
		assert.Positive(t, shown[id], id)
	}
	assert.InDelta(t, 3000, beyond, 500, "about one half")
	assert.Len(t, source.queries(), 6, "one a second")
	for _, q := range source.queries() {
		assert.Empty(t, q.Agent)
		assert.Empty(t, q.Profile)
	}
}

// TestExplorationBeyondRecallOnce: nothing comes twice, and what the reader mutes does not come.
func TestExplorationBeyondRecallOnce(t *testing.T) {
	t.Parallel()
	r, _ := youngRig(t, 0.1, 0)
	all := items(300)
	for i := range all {
		all[i].AuthorID, all[i].Lang, all[i].Tags = fmt.Sprint("author", i%3), []string{"en", "de"}[i%2], []string{fmt.Sprint("tag", i%5)}
	}
	r.put(t, all...)
	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{Langs: []string{"de"}, MutedAuthors: []string{"author0"}, MutedTags: []string{"TAG1"}, MutedItems: []string{"i299"}}))
	p, err := r.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	var want []string
	for i := range all {
		if !p.Refuses(&all[i]) {
			want = append(want, all[i].ID)
		}
	}
	var got []string
	for range 40 {
		r.advance(2 * time.Second)
		for _, q := range []engine.Request{refreshOf("u_1"), loadMore(20)} {
			got = append(got, docIDs(r.ask(t, q))...)
		}
	}
	assert.ElementsMatch(t, want, got, "each once")
}

// TestYoungListsPerLanguage: readers of other languages have other lists, which take turns.
func TestYoungListsPerLanguage(t *testing.T) {
	t.Parallel()
	r, source := youngRig(t, 0.1, 300)
	for i, langs := range [][]string{nil, {"en"}, {"de", "en"}, {"en", "de"}} {
		require.NoError(t, r.PutProfile(t.Context(), fmt.Sprint("u", i), feed.Profile{Langs: langs}))
	}
	for range 12 {
		r.advance(time.Second)
		for i := range 4 {
			r.ask(t, refreshOf(fmt.Sprint("u", i)))
		}
	}
	assert.Len(t, source.queries(), 12, "three lists, each every three seconds")
	for i := range 100 {
		agent := fmt.Sprint("many", i)
		require.NoError(t, r.PutProfile(t.Context(), agent, feed.Profile{Langs: []string{fmt.Sprintf("x%02d", i)}}))
		r.ask(t, refreshOf(agent))
	}
	assert.Len(t, source.queries(), 12+29, "32 lists at most")
}

// TestYoungListsUnreadable: exploration then draws from the recalled candidates alone.
func TestYoungListsUnreadable(t *testing.T) {
	t.Parallel()
	r, source := youngRig(t, 0.1, 300)
	source.err = recall.ErrUnavailable
	for i := range 20 {
		a := r.ask(t, refreshOf(fmt.Sprint("u", i)))
		assert.Empty(t, a.Degraded)
		_, ids := drawnOf(a)
		assert.Len(t, ids, 2)
		assert.Subset(t, run(20, 50), ids)
	}
	assert.Len(t, source.queries(), 1, "it is not asked again in the same second")
}

// TestYoungListsNotAsked: a page without positions to explore needs no list.
func TestYoungListsNotAsked(t *testing.T) {
	t.Parallel()
	r, source := youngRig(t, 0.1, 300)
	r.ask(t, engine.Request{Agent: "u", Action: engine.ActionRefresh, Limit: 5})
	r.ask(t, engine.Request{Agent: "u", Action: engine.ActionLoadMore, Limit: 20})
	r.ask(t, engine.Request{Agent: "u", Action: engine.ActionRefresh, Limit: 20, Silent: true})
	_, _, err := r.Rank(t.Context(), "u", time.Time{}, 20, dayLong())
	require.NoError(t, err)
	assert.Empty(t, source.queries())
	_, err = r.Explain(t.Context(), engine.ExplainRequest{Agent: "u", Limit: 20, At: rankedAt.Add(-time.Hour)})
	require.NoError(t, err)
	r.ask(t, engine.Request{Agent: "v", Action: engine.ActionRefresh, Limit: 20})
	assert.Len(t, source.queries(), 2, "an explanation of the past has a list of its own")
}
