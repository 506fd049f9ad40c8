package dedup_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
)

// TestRecorderSettlesAfterGrace confirms just after a tick of the settler, between two ticks,
// and just before one.
func TestRecorderSettlesAfterGrace(t *testing.T) {
	t.Parallel()
	const grace, tick, linger = 800 * time.Millisecond, 50 * time.Millisecond, time.Millisecond
	for _, into := range []time.Duration{1, tick / 2, tick - 1} {
		t.Run(into.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFlaky()
				r := start(t, f, dedup.RecorderConfig{Grace: grace, Linger: linger})
				defer r.Close(t.Context())
				time.Sleep(3*tick + into - linger)
				require.NoError(t, r.Confirm(t.Context(), "u_1", []string{"a", "b"}))
				settled := 18*tick - into
				time.Sleep(settled - 1)
				synctest.Wait()
				_, n, _ := f.counts()
				assert.Zero(t, n, "not before %v", settled)
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				_, n, _ = f.counts()
				assert.Equal(t, 2, n, "at %v", settled)
			})
		})
	}
}

// slowSettling delays the first call of Settle.
type slowSettling struct {
	*flaky
	began chan struct{}
	takes time.Duration
}

func (s *slowSettling) ClearPending(ctx context.Context, batch []dedup.Impression) error {
	if s.takes > 0 {
		close(s.began)
		time.Sleep(s.takes)
		s.takes = 0
	}
	return s.flaky.ClearPending(ctx, batch)
}

// TestRecorderGraceAfterSlowCall confirms at the end of a slow Settle call, when one tick
// of the settler is late and the next is imminent.
func TestRecorderGraceAfterSlowCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const grace, tick, linger = 800 * time.Millisecond, 50 * time.Millisecond, time.Millisecond
		f := &slowSettling{flaky: newFlaky(), began: make(chan struct{}), takes: 2*tick - linger}
		r := start(t, f, dedup.RecorderConfig{Grace: grace, Linger: linger})
		defer r.Close(t.Context())
		require.NoError(t, r.Confirm(t.Context(), "u_1", []string{"a"}))
		<-f.began
		time.Sleep(2*tick - 3*linger)
		require.NoError(t, r.Confirm(t.Context(), "u_1", []string{"b"}))
		_, n, _ := f.counts()
		require.Zero(t, n, "the call is under way")
		time.Sleep(grace)
		_, n, _ = f.counts()
		assert.Equal(t, 1, n, "the grace of the second is over only now")
		time.Sleep(2 * tick)
		_, n, _ = f.counts()
		assert.Equal(t, 2, n)
	})
}
