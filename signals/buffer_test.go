package signals_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/signals"
)

var errAway = errors.New("the store is away")

func away(err error) bool { return errors.Is(err, errAway) }

// TestBufferBatches checks that waiting entries are handled in one batch, in
// order, and that the queue is bounded.
func TestBufferBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held, got := make(chan struct{}), [][]int{}
		b := signals.New(t.Context(), signals.Config{Queue: 3}, func(entries []int) {
			<-held
			got = append(got, slices.Clone(entries))
		})
		require.True(t, b.Put(1))
		synctest.Wait() // entry 1 is being handled
		for n := 2; n <= 4; n++ {
			require.True(t, b.Put(n))
		}
		require.False(t, b.Put(5), "there is no room")
		close(held)
		require.NoError(t, b.Flush(t.Context()))
		assert.Equal(t, [][]int{{1}, {2, 3, 4}}, got)
		require.True(t, b.Put(6))
		b.Close(t.Context())
		assert.Equal(t, []int{6}, got[2])
	})
}

// TestBufferPanic: only the batch that panicked is lost.
func TestBufferPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := []string{}
		b := signals.New(t.Context(), signals.Config{}, func(entries []string) {
			if entries[0] == "bad" {
				panic("a bug")
			}
			got = append(got, entries...)
		})
		for _, e := range []string{"bad", "good"} {
			require.True(t, b.Put(e))
			require.NoError(t, b.Flush(t.Context()))
		}
		b.Close(t.Context())
		assert.Equal(t, []string{"good"}, got)
	})
}

// TestTryRetries checks that a temporary error is retried with growing pauses and reported once.
func TestTryRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := signals.New(t.Context(), signals.Config{Timeout: time.Minute}, func([]int) {})
		defer b.Close(t.Context())
		began, calls, downs, ups := time.Now(), 0, 0, 0
		err := b.Try(func(context.Context) error {
			if calls++; calls < 5 {
				return errAway
			}
			return nil
		}, away, func(error) { downs++ }, func() { ups++ })
		require.NoError(t, err)
		assert.Equal(t, []int{5, 1, 1}, []int{calls, downs, ups})
		assert.Greater(t, time.Since(began), 300*time.Millisecond)

		refused := errors.New("refused")
		require.ErrorIs(t, b.Try(func(context.Context) error { return refused }, away, nil, nil), refused)
		calls = 0
		require.NoError(t, b.Try(func(ctx context.Context) error {
			if calls++; calls == 1 {
				<-ctx.Done() // until the deadline
				return ctx.Err()
			}
			return nil
		}, away, nil, nil), "a deadline passes")
	})
}

// TestCloseRetries checks that Close keeps retrying for a second, and waits for a call no longer
// than until its context ends.
func TestCloseRetries(t *testing.T) {
	for name, patience := range map[string]time.Duration{"an error": time.Hour, "no answer": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b *signals.Buffer[int]
				calls, ended := 0, make(chan error, 1)
				b = signals.New(t.Context(), signals.Config{Timeout: time.Hour}, func([]int) {
					ended <- b.Try(func(ctx context.Context) error {
						if calls++; name == "no answer" {
							<-ctx.Done()
							return ctx.Err()
						}
						return errAway
					}, away, nil, nil)
				})
				require.True(t, b.Put(1))
				time.Sleep(10 * time.Second)
				synctest.Wait()
				before := calls
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				closing := time.Now()
				b.Close(ctx)
				require.Error(t, <-ended)
				assert.True(t, b.Ended())
				if name == "no answer" {
					assert.Equal(t, patience, time.Since(closing))
				} else {
					assert.Equal(t, time.Second, time.Since(closing))
					assert.Greater(t, calls, before+2, "soon again and again")
				}
			})
		})
	}
}
