package media

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBudgetInOrder checks that bytes are taken in the order of the calls, and that one that gave up
// holds up nobody.
func TestBudgetInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &budget{most: 10}
		require.NoError(t, b.take(t.Context(), 6))
		large, giveUp := context.WithTimeout(t.Context(), time.Second)
		defer giveUp()
		order := make(chan int64, 3)
		for _, bytes := range []int64{8, 3, 4} {
			ctx := t.Context()
			if bytes == 8 {
				ctx = large
			}
			go func() {
				if b.take(ctx, bytes) == nil {
					order <- bytes
				}
			}()
			synctest.Wait()
		}
		require.Empty(t, order, "3 would fit, but 8 came first")
		require.Equal(t, int64(3), <-order, "when 8 gives up")
		require.Empty(t, order)
		b.release(6)
		require.Equal(t, int64(4), <-order)
		require.Error(t, large.Err())
		require.NoError(t, b.take(t.Context(), 3), "all but 7 of 10 are free")
	})
}

func TestBudgetResized(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &budget{most: 10}
		require.NoError(t, b.take(t.Context(), 10))
		waits := make(chan error, 1)
		go func() { waits <- b.take(t.Context(), 15) }()
		synctest.Wait()
		require.Empty(t, waits)
		b.resize(25)
		require.NoError(t, <-waits)
		b.resize(10)
		b.release(10)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, b.take(ctx, 1), context.DeadlineExceeded, "15 of 10 are still taken")
		b.release(15)
		require.NoError(t, b.take(t.Context(), 10))
	})
}
