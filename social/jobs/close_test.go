package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social/jobs"
)

func TestCloseWaitsForJobs(t *testing.T) {
	inBubble(t, func(b *bench) {
		release := make(chan struct{})
		r := b.start(jobs.Config{Workers: 1}, map[jobs.Kind]jobs.Handler{
			jobs.Deliver: {Run: func(context.Context, []jobs.Job) []error {
				<-release
				return nil
			}},
		})
		b.mark(jobs.Deliver, "post:a", "post:b")
		time.AfterFunc(time.Minute, func() { close(release) })
		begin := time.Now()
		r.Close(b.Context())
		require.Equal(b, time.Minute, time.Since(begin))
		require.Equal(b, jobs.Completed, b.row(jobs.Deliver, "post:a").State)
		require.Equal(b, jobs.Pending, b.row(jobs.Deliver, "post:b").State, "no more jobs are leased")
		r.Close(b.Context()) // a second call is harmless
	})
}

func TestCloseReleasesRunningJobs(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(jobs.Config{}, map[jobs.Kind]jobs.Handler{
			jobs.Deliver: {Run: func(ctx context.Context, _ []jobs.Job) []error {
				<-ctx.Done()
				return []error{ctx.Err()}
			}},
		})
		b.mark(jobs.Deliver, "post:a")
		require.Equal(b, jobs.Running, b.row(jobs.Deliver, "post:a").State)
		ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
		defer cancel()
		begin := time.Now()
		r.Close(ctx)
		require.Equal(b, 5*time.Second, time.Since(begin))
		j := b.row(jobs.Deliver, "post:a")
		require.Equal(b, jobs.Pending, j.State)
		require.Zero(b, j.Attempts, "as if it had not been leased")
	})
}

func TestRunnerQueueDown(t *testing.T) {
	inBubble(t, func(b *bench) {
		ran := make(chan struct{})
		r := b.start(jobs.Config{}, map[jobs.Kind]jobs.Handler{
			jobs.Deliver: {Run: func(context.Context, []jobs.Job) []error {
				assert.NoError(b, b.q.Close())
				close(ran)
				return nil
			}},
		})
		b.mark(jobs.Deliver, "post:a")
		<-ran
		b.pass(time.Minute)
		r.Close(b.Context())
	})
}
