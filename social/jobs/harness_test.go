package jobs_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a queue and a record of its handlers' jobs. It runs in a synctest bubble, on the
// bubble's clock.
type bench struct {
	*testing.T
	q    *socialsqlite.Store
	mu   sync.Mutex
	seen []string
	last time.Time // when a handler was last called
}

// inBubble runs a test with a bench in a synctest bubble.
func inBubble(t *testing.T, test func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q, err := socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{Clock: time.Now, KeepJobs: true})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, q.Close()) })
		test(&bench{T: t, q: q})
	})
}

// pass advances time and waits until all due work is done.
func (b *bench) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (b *bench) note(list []jobs.Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range list {
		b.seen = append(b.seen, string(j.Kind)+" "+j.Key)
	}
	b.last = time.Now()
}

func (b *bench) noted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.seen)
}

func (b *bench) start(cfg jobs.Config, handlers map[jobs.Kind]jobs.Handler) *jobs.Runner {
	r := jobs.Start(b.Context(), b.q, handlers, cfg)
	b.Cleanup(func() { r.Close(context.WithoutCancel(b.Context())) })
	synctest.Wait()
	return r
}

// gathering is the least time between two calls that lease jobs, or complete them, while the queue is short.
const gathering = 10 * time.Millisecond

// mark marks jobs and waits until all due work is done.
func (b *bench) mark(kind jobs.Kind, keys ...string) {
	b.Helper()
	for _, k := range keys {
		require.NoError(b, b.q.Enqueue(b.Context(), jobs.Spec{Kind: kind, Key: k}))
	}
	b.pass(2 * gathering)
}

func (b *bench) row(kind jobs.Kind, key string) jobs.Job {
	b.Helper()
	list, err := b.q.List(b.Context(), jobs.Filter{Kind: kind, Key: key})
	require.NoError(b, err)
	require.Len(b, list, 1)
	return list[0]
}

// poll is the interval at which a runner polls the queue when nothing wakes it.
const poll = 250 * time.Millisecond

// untilRunAgain advances time until a handler is called again, which must happen within the bounds.
func (b *bench) untilRunAgain(least, most time.Duration) {
	b.Helper()
	begin, calls := time.Now(), len(b.noted())
	b.pass(least - 1)
	require.Len(b, b.noted(), calls)
	for len(b.noted()) == calls {
		b.pass(poll)
		require.Less(b, time.Since(begin), most+poll)
	}
	require.Len(b, b.noted(), calls+1)
	require.LessOrEqual(b, b.last.Sub(begin), most)
}
