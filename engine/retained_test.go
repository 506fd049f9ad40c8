package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
)

// anew is a source that answers as one over a network does: each time from
// memory of its own, all ids in one text.
type anew struct{ recall.Source }

func (s anew) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	r, err := s.Source.Recall(ctx, q)
	var all strings.Builder
	for _, c := range r.Candidates {
		all.WriteString(c.ID)
	}
	rest := all.String()
	own := make([]feed.Candidate, len(r.Candidates))
	for i, c := range r.Candidates {
		own[i] = c
		own[i].ID, rest = rest[:len(c.ID)], rest[len(c.ID):]
		own[i].Group = own[i].ID
	}
	r.Candidates = own
	return r, err
}

// unreachable are sessions behind a broken network.
type unreachable struct{ cache.Sessions }

func (unreachable) Replace(context.Context, cache.Replace) (cache.Page, error) {
	return cache.Page{}, fmt.Errorf("%w: no route", cache.ErrUnavailable)
}

// disk takes impressions, as far as a test is concerned.
type disk struct{}

func (disk) Keep(string, []string, time.Time) error { return nil }

// While Redis is down, what a server remembers of its pages does not hold the
// answers of recall they were chosen from.
func TestLoosePagesHoldNoAnswers(t *testing.T) {
	const n, idBytes, pages = 2000, 200, 100 // an answer's ids: 400 kB
	items := make([]feed.Item, n)
	for i := range items {
		items[i] = aged(fmt.Sprintf("%0*d", idBytes, i), "", time.Hour+time.Duration(i)*time.Minute)
	}
	clock := func() time.Time { return rankedAt }
	stores := storesOf(t, clock, anew{source(items...)})
	stores.Sessions, stores.Fallback = unreachable{stores.Sessions}, disk{}
	_, err := stores.Catalog.Put(t.Context(), items[:100])
	require.NoError(t, err)
	e, err := engine.New(stores, engine.Config{Clock: clock, N: n, Rankings: &feed.Live{Ranking: dayLong()}, RecordServed: true})
	require.NoError(t, err)
	ask := func(agent int) {
		a, err := e.Feed(t.Context(), engine.Request{Agent: fmt.Sprint("u_", agent), Action: engine.ActionRefresh, Limit: 20})
		require.NoError(t, err)
		require.Len(t, a.Docs, 20)
	}
	ask(0) // what the first call makes stays anyway
	held := testenv.Retained(func() {
		for i := range pages {
			ask(1 + i)
		}
	})
	runtime.KeepAlive(e)
	t.Logf("%d kB a page", held/pages>>10)
	assert.Less(t, held, int64(pages*40<<10), "20 ids of %d bytes a page", idBytes)
}
