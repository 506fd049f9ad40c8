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

// anew is a source that allocates each answer anew, as a source over a network does, with all ids
// in one string.
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

// nowhere accepts impressions and stores none.
type nowhere struct{}

func (nowhere) Keep(string, []string, time.Time) error { return nil }

// While Redis is down, the pages that a server remembers must not retain the recall answers they
// were chosen from.
func TestSessionlessPagesRetainNoAnswers(t *testing.T) {
	testenv.WithoutRace(t)
	const n, idBytes, pages = 2000, 200, 100 // the ids of an answer take 400 kB
	items := make([]feed.Item, n)
	for i := range items {
		items[i] = aged(fmt.Sprintf("%0*d", idBytes, i), "", time.Hour+time.Duration(i)*time.Minute)
	}
	r := newRig(t, 0, func(s *engine.Stores, c *engine.Config) {
		s.Recall, s.Fallback, s.Tally, c.N = anew{s.Recall}, nowhere{}, nil, n
	})
	r.put(t, items[:100]...)
	r.index.Upsert(items)
	r.sessions.down(cache.ErrUnavailable, "Replace")
	ask := func(agent int) {
		a, err := r.Feed(t.Context(), engine.Request{Agent: fmt.Sprint("u_", agent), Action: engine.ActionRefresh, Limit: 20})
		require.NoError(t, err)
		require.Len(t, a.Docs, 20)
	}
	ask(0) // allocations of the first call stay in any case
	held := testenv.Retained(func() {
		for i := range pages {
			ask(1 + i)
		}
	})
	runtime.KeepAlive(r)
	t.Logf("%d kB a page", held/pages>>10)
	assert.Less(t, held, int64(pages*40<<10), "20 ids of %d bytes a page", idBytes)
}
