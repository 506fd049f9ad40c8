package esindex_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
)

func TestLateSchema(t *testing.T) {
	var l esindex.LateSchema
	_, err := l.Get()
	require.ErrorIs(t, err, esindex.ErrUnavailable, "not known yet")
	own := esindex.OwnSchema(esindex.Fields{})
	l.Set(own)
	got, err := l.Get()
	require.NoError(t, err)
	assert.Equal(t, own, *got)
	why := errors.New("no field tags")
	l.Refuse(why)
	_, err = l.Get()
	require.ErrorIs(t, err, esindex.ErrUnavailable)
	require.ErrorIs(t, err, why)
	l.Set(own)
	_, err = l.Get()
	require.NoError(t, err)
	assert.False(t, l.Recheck(t.Context(), got, nil), "nobody watches")
}

// TestRecheck checks that of many concurrent rechecks of the schema only one reads it, and all use
// its result. If it finds nothing, the next check waits for a pause.
func TestRecheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, other := esindex.OwnSchema(esindex.Fields{}), esindex.OwnSchema(esindex.Fields{Title: "headline"})
		l := esindex.Known(own)
		var looks, changed, late atomic.Int32
		cause := errors.New("refused")
		l.Watch(time.Second, func(_ context.Context, why error) {
			looks.Add(1)
			assert.Equal(t, cause, why)
			time.Sleep(100 * time.Millisecond)
			if looks.Load() == 2 {
				l.Set(other)
			}
		}, func() { late.Add(1) })
		used, err := l.Get()
		require.NoError(t, err)
		doubt := func() {
			changed.Store(0)
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if l.Recheck(t.Context(), used, cause) {
						changed.Add(1)
					}
				})
			}
			all.Wait()
		}
		doubt()
		assert.Equal(t, []int32{1, 0}, []int32{looks.Load(), changed.Load()})
		time.Sleep(time.Second - time.Nanosecond)
		doubt()
		assert.Equal(t, []int32{1, 0}, []int32{looks.Load(), changed.Load()}, "within the pause")
		assert.Equal(t, int32(19+20), late.Load(), "all but the one who looked")
		time.Sleep(time.Nanosecond)
		synctest.Wait() // the pause ends exactly now
		doubt()
		assert.Equal(t, []int32{2, 20}, []int32{looks.Load(), changed.Load()})
		doubt()
		assert.Equal(t, []int32{2, 20}, []int32{looks.Load(), changed.Load()}, "it has changed since they read it")
	})
}
