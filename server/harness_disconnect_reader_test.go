package server

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/testenv"
)

// cutReader is a reader with the items that are still to be delivered, best first.
type cutReader struct {
	agent   string
	due     []string
	given   []string
	seen    []string // reported by the client without having been delivered
	removed []string // from the catalog
	refused bool     // Redis is unreachable for a while

	asked    engine.Request // the call, if it had a request id
	answered engine.Answer  // its answer
}

func (l *cutServer) reader() *cutReader {
	l.agents++
	r := &cutReader{agent: fmt.Sprintf("%s_%04d", l.name, l.agents)} // no name is a prefix of another
	for _, it := range madeItems(cutItems) {
		r.due = append(r.due, it.ID)
	}
	return r
}

// take records a page whose items must be new to the reader.
func (r *cutReader) take(t *testing.T, where string, answer engine.Answer) {
	t.Helper()
	for _, id := range ids(answer) {
		i := slices.Index(r.due, id)
		if i < 0 {
			assert.Fail(t, "not due", "%s: %s was given before, or is not to be given", where, id)
			continue
		}
		r.due = slices.Delete(r.due, i, i+1)
		r.given = append(r.given, id)
	}
}

// drop removes ids from those due.
func (r *cutReader) drop(ids []string) []string {
	ids = slices.Clone(ids)
	r.due = slices.DeleteFunc(r.due, func(id string) bool { return slices.Contains(ids, id) })
	return ids
}

func (r *cutReader) hide(t *testing.T, l *cutServer, ids []string) {
	t.Helper()
	_, err := l.Engine.React(t.Context(), r.agent, hiding(r.drop(ids)))
	require.NoError(t, err)
}

// finish pages to the end and checks the final state: every due item has been delivered, is counted
// and in a filter, and no other item is pending.
func (r *cutReader) finish(t *testing.T, l *cutServer) {
	t.Helper()
	r.readOn(t, l)
	assert.Empty(t, r.due, "never given")
	total := totals(t, l.App)["control"].Counts["impressions"]
	assert.Equal(t, int64(len(r.given)), total-l.counted, "impressions in the report")
	l.counted = total
	r.settle(t, l, slices.Concat(r.given, r.seen))
}

// settle checks that exactly these ids are in a filter or pending, and removes them from the
// pending set.
func (r *cutReader) settle(t *testing.T, l *cutServer, shown []string) {
	t.Helper()
	waitRecorded(t, l.App)
	var all []dedup.Impression
	for _, id := range shown {
		all = append(all, dedup.Impression{Agent: r.agent, Group: id})
	}
	require.NoError(t, l.stores.dedup.ClearPending(t.Context(), all))
	testenv.WaitFor(t, func() bool { // items delivered without Redis wait on disk for a moment
		missing, err := l.unrecorded(t.Context(), r.agent, shown)
		return err == nil && len(missing) == 0
	}, "what %s was shown to be in a filter", r.agent)
	left, err := l.clients.redis.ZRange(t.Context(), keysOf(l.App).Pending(r.agent), 0, -1).Result()
	require.NoError(t, err)
	if r.refused { // removed items stay pending if they cannot be released
		left = slices.DeleteFunc(left, func(id string) bool { return slices.Contains(r.removed, id) })
	}
	assert.Empty(t, left, "pending, and never given")
}

// polls is the maximal number of further pages.
const polls = 400

// readOn pages until nothing is left.
func (r *cutReader) readOn(t *testing.T, l *cutServer) {
	t.Helper()
	for range polls {
		answer := ask(t, l.App, loadMore(r.agent, 2*cutPage))
		r.take(t, "paging on", answer)
		if len(answer.Docs) == 0 && !answer.HasMore && !sessionless(answer) {
			return
		}
		if sessionless(answer) {
			testenv.WaitFor(t, func() bool { return l.clients.redis.Ping(t.Context()).Err() == nil }, "Redis to answer")
		}
	}
	assert.Fail(t, "the feed does not end")
}

// unrecorded returns the groups that are not in today's filter.
func (l *cutServer) unrecorded(ctx context.Context, agent string, groups []string) (missing []string, err error) {
	checked, err := l.stores.dedup.Check(ctx, agent, groups, l.clock.Now())
	for i, v := range checked.Verdicts {
		if v != dedup.SeenDaysAgo(0) {
			missing = append(missing, groups[i])
		}
	}
	return missing, err
}
