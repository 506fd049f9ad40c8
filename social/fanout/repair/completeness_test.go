package repair

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
	"github.com/freshet/freshet/social/timeline"
)

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time          { return c.now }
func (c *clock) advance(d time.Duration) { c.now = c.now.Add(d) }

// waiting is a queue with the waiting time of its oldest job that changes lists; 0 means all are
// done.
type waiting struct {
	oldest  time.Duration
	missing time.Duration
	err     error
}

func (q *waiting) Ages(context.Context) (jobs.Ages, error) {
	return jobs.Ages{OldestOfLists: q.oldest, OldestMissing: q.missing}, q.err
}

func TestListsLateUntilDueJobsDone(t *testing.T) {
	t.Parallel()
	now := &clock{noon}
	q, err := socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{Clock: now.Now})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, q.Close()) })
	l := NewCompleteness(q, now.Now)
	require.False(t, l.Incomplete())
	mark := func(key string) {
		dirty := []jobs.Spec{{Kind: jobs.Deliver, Key: key}, {Kind: jobs.Index, Key: key, Priority: jobs.PriorityLater}}
		require.NoError(t, q.Enqueue(t.Context(), dirty...))
		now.advance(time.Second)
	}
	mark("post:before")
	l.Unreachable()
	now.advance(time.Second)
	mark("post:after")
	l.Check(t.Context())
	require.True(t, l.Incomplete(), "what was due before waits")
	list, err := q.Lease(t.Context(), 1, time.Minute)
	require.NoError(t, err)
	require.Equal(t, "post:before", list[0].Key)
	require.Equal(t, jobs.Deliver, list[0].Kind)
	l.Check(t.Context())
	require.True(t, l.Incomplete(), "it runs")
	_, err = q.Done(t.Context(), list[0])
	require.NoError(t, err)
	l.Check(t.Context())
	require.False(t, l.Incomplete(), "what became due later does not count, nor what waits for the catalog")
}

// TestListsIncompleteReported checks that posts that have waited too long for their delivery
// make lists incomplete, although all lists could be reached. Pending removals do not. The clock
// stands still.
func TestListsIncompleteReported(t *testing.T) {
	q, now := &waiting{oldest: time.Hour}, &clock{noon}
	l := NewCompleteness(q, now.Now)
	look := func() bool {
		for range askEvery / CheckEvery {
			l.Check(t.Context())
		}
		assert.False(t, l.Incomplete(), "lists can be reached, and answer")
		return l.QueueBehind()
	}
	assert.True(t, l.QueueBehind(), "nobody has asked yet")
	l.Check(t.Context())
	assert.False(t, l.QueueBehind(), "the first look asks")
	assert.False(t, look())
	q.missing = queueBehindAfter
	assert.False(t, look())
	q.missing++
	assert.True(t, look())
	q.err = errors.New("no connection")
	assert.True(t, look(), "nobody knows")
	q.err, q.missing = nil, 0
	l.Check(t.Context())
	assert.True(t, l.QueueBehind(), "the queue is asked once a second")
	assert.False(t, look())
}

// TestListsLateQueueDown checks that lists stay late while the queue cannot be queried,
// because it is unknown what they lack.
func TestListsLateQueueDown(t *testing.T) {
	q, now := &waiting{err: errors.New("no connection")}, &clock{noon}
	l := NewCompleteness(q, now.Now)
	l.Unreachable()
	l.Check(t.Context())
	assert.True(t, l.Incomplete())
	q.err = nil
	l.Check(t.Context())
	assert.False(t, l.Incomplete())
}

// TestListsLateDuringQueueQuery checks that lists which become late during a query of the queue
// stay late, because its answer is outdated.
func TestListsLateDuringQueueQuery(t *testing.T) {
	now := &clock{noon}
	l := NewCompleteness(nil, now.Now)
	q := asking(func() {
		now.advance(time.Second)
		l.Unreachable()
	})
	l.queue = q
	l.Unreachable()
	l.Check(t.Context())
	assert.True(t, l.Incomplete())
}

// asking is an empty queue that calls a function during each query.
type asking func()

func (q asking) Ages(context.Context) (jobs.Ages, error) {
	q()
	return jobs.Ages{}, nil
}

// TestListsTrustedAfterCheck checks that lists are trusted only after a check of
// their data that began after the last failure to reach them.
func TestListsTrustedAfterCheck(t *testing.T) {
	now := &clock{noon}
	l := NewCompleteness(&waiting{}, now.Now)
	NewDataCheck(nil, nil, l, now.Now, nil)
	l.Unreachable()
	l.Check(t.Context())
	assert.True(t, l.Incomplete())
	doubts := l.outageCount()
	l.Unreachable()
	l.markReplaced()
	l.confirmData(doubts)
	l.Check(t.Context())
	assert.True(t, l.Incomplete(), "the look began before")
	assert.True(t, l.HasOldData())
	l.confirmData(l.outageCount())
	l.Check(t.Context())
	assert.False(t, l.Incomplete())
}

// TestOlderDataUntilRedelivered checks that lists count as older until the missing
// posts have been delivered again, not only until they are found.
func TestOlderDataUntilRedelivered(t *testing.T) {
	q, now := &waiting{oldest: time.Second}, &clock{noon}
	l := NewCompleteness(q, now.Now)
	l.markReplaced()
	assert.True(t, l.Incomplete())
	assert.True(t, l.HasOldData())
	l.markRedelivery()
	l.confirmData(l.outageCount())
	l.Check(t.Context())
	assert.True(t, l.HasOldData(), "it is still delivered")
	now.advance(time.Second)
	l.Check(t.Context())
	assert.True(t, l.Incomplete(), "the job waits since then")
	q.oldest = 0
	l.Check(t.Context())
	assert.False(t, l.HasOldData())
	assert.False(t, l.Incomplete())
}

// cards has a cached card in a Redis that answers.
type cards struct{ social.CachedCards }

func (cards) Cached(context.Context, []string) ([]social.Card, error) {
	return []social.Card{{ID: "p"}}, nil
}

// TestOlderDataCardsNotShown checks that cached cards of older data are not shown: deleted posts
// may be among them.
func TestOlderDataCardsNotShown(t *testing.T) {
	l := NewCompleteness(&waiting{}, noon.Local)
	kept := CachedCards(cards{}, l)
	found, err := kept.Cached(t.Context(), []string{"p"})
	require.NoError(t, err)
	assert.Len(t, found, 1)
	l.Unreachable()
	_, err = kept.Cached(t.Context(), []string{"p"})
	require.NoError(t, err, "it is the data of before")
	l.markReplaced()
	_, err = kept.Cached(t.Context(), []string{"p"})
	assert.ErrorIs(t, err, social.ErrCacheUnavailable)
}

// reading has lists on which each read ends with err.
type reading struct {
	timeline.Reader
	err error
}

func (r reading) Read(context.Context, string, timeline.Position, int) (timeline.Page, error) {
	return timeline.Page{}, r.err
}

// TestListsLateAfterReadFailure checks that a failed read makes lists late, unless the caller
// canceled it.
func TestListsLateAfterReadFailure(t *testing.T) {
	for _, c := range []struct {
		err  error
		late bool
	}{{nil, false}, {timeline.ErrUnavailable, true}, {context.Canceled, false}} {
		l := NewCompleteness(&waiting{}, noon.Local)
		_, err := Reader(reading{err: c.err}, l).Read(t.Context(), "u", timeline.Position{}, 10)
		require.ErrorIs(t, err, c.err)
		assert.Equal(t, c.late, l.Incomplete(), "%v", c.err)
	}
}
