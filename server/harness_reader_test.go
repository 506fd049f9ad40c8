package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/events"
)

// madeItems returns n items, one per minute before noon.
func madeItems(n int) []feed.Item {
	out := make([]feed.Item, n)
	for i := range out {
		out[i] = feed.Item{
			ID: fmt.Sprintf("doc_%04d", i), Title: fmt.Sprintf("Item number %d", i),
			UpdateTime: noon.Add(-time.Duration(i+1) * time.Minute).Unix(), Tags: []string{fmt.Sprintf("tag-%d", i%7)},
		}
	}
	return out
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

// subjects returns items, each with a tag that no other item has.
func subjects(n int) []feed.Item {
	all := madeItems(n)
	for i := range all {
		all[i].Tags = []string{fmt.Sprint("all-", i%2), subject(i)}
	}
	return all
}

func subject(i int) string { return fmt.Sprint("subject-", i) }

func refresh(agent string, limit int) engine.Request {
	return engine.Request{Agent: agent, Action: engine.ActionRefresh, Limit: limit}
}

func loadMore(agent string, limit int) engine.Request {
	return engine.Request{Agent: agent, Action: engine.ActionLoadMore, Limit: limit}
}

func ask(t *testing.T, a *App, r engine.Request) engine.Answer {
	t.Helper()
	answer, err := a.Engine.Feed(t.Context(), r)
	require.NoError(t, err)
	return answer
}

func ids(answer engine.Answer) []string {
	out := make([]string, len(answer.Docs))
	for i, d := range answer.Docs {
		out[i] = d.ID
	}
	return out
}

func items(t *testing.T, answer engine.Answer) []feed.Item {
	t.Helper()
	out := make([]feed.Item, len(answer.Docs))
	for i, d := range answer.Docs {
		require.NoError(t, json.Unmarshal(d.JSON, &out[i]))
	}
	return out
}

// once collects the ids that one reader is shown, and fails the test if an id is shown twice.
type once struct {
	mu   sync.Mutex
	seen map[string]string
}

func newOnce() *once { return &once{seen: map[string]string{}} }

func (o *once) add(t *testing.T, where string, ids []string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		if first, again := o.seen[id]; again {
			t.Errorf("%s was delivered twice: in %s and in %s", id, first, where)
		}
		o.seen[id] = where
	}
}

func (o *once) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.seen)
}

func intersection(a, b []string) []string {
	var both []string
	for _, x := range a {
		for _, y := range b {
			if x == y {
				both = append(both, x)
			}
		}
	}
	return both
}

// sessionless reports whether a page was served without the session store.
func sessionless(answer engine.Answer) bool { return slices.Contains(answer.Degraded, "session") }

func act(kind events.Kind, id string) engine.Act { return engine.Act{Kind: kind, ID: id} }

func hiding(ids []string) []engine.Act {
	acts := make([]engine.Act, len(ids))
	for i, id := range ids {
		acts[i] = act(events.Hide, id)
	}
	return acts
}

func react(t *testing.T, a *App, agent string, acts ...engine.Act) api.EventsTaken {
	t.Helper()
	taken, err := a.Engine.React(t.Context(), agent, acts)
	require.NoError(t, err)
	return taken
}

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

// learningOf returns what was learned about an agent.
func learningOf(t *testing.T, a *App, agent string) feed.Learning {
	t.Helper()
	var all feed.Learning
	require.NoError(t, a.Catalog.Learn(t.Context(), agent, func(l *feed.Learning) bool {
		all = *l
		return false
	}))
	return all
}

// popular returns the numbers of readers of an item.
func popular(t *testing.T, a *App, id string) (readers2h, readers2d float64) {
	t.Helper()
	require.NoError(t, a.Flush(t.Context()))
	refreshIndex(t, a)
	x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: "somebody", Limit: 1, Item: id})
	require.NoError(t, err)
	require.NotNil(t, x.Item.Popularity, x.Item.Reason)
	p := x.Item.Popularity
	if p.Readers2h != nil {
		readers2h = p.Readers2h.Count
	}
	if p.Readers2d != nil {
		readers2d = p.Readers2d.Count
	}
	return readers2h, readers2d
}

// waitCounted waits, without a flush, until recall knows more than the given number of readers of
// an item.
func waitCounted(t *testing.T, a *App, id string, more float64) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		refreshIndex(t, a)
		x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: "somebody", Limit: 1, Item: id})
		require.NoError(t, err)
		readers := x.Item.Popularity.Readers2h
		return readers != nil && readers.Count > more
	}, "the click counts")
}
