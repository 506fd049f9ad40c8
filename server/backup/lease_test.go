package backup

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/media/s3"
)

// oneMark is a store of one object.
type oneMark struct {
	mu    sync.Mutex
	data  []byte
	etag  int
	fails error // of the next call of Swap, after which
	does  bool  // the object is stored nevertheless
}

func (o *oneMark) Get(context.Context, string) ([]byte, string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.etag == 0 {
		return nil, "", feed.ErrNotFound
	}
	return o.data, strconv.Itoa(o.etag), nil
}

func (o *oneMark) Swap(_ context.Context, _ string, data []byte, etag string) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fails != nil && !o.does {
		return "", o.fails
	}
	if etag != "" && etag != strconv.Itoa(o.etag) || etag == "" && o.etag > 0 {
		return "", s3.ErrChanged
	}
	o.data, o.etag = data, o.etag+1
	return strconv.Itoa(o.etag), o.fails
}

func (o *oneMark) set(fails error, does bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fails, o.does = fails, does
}

func (o *oneMark) by(t *testing.T) (by holder) {
	t.Helper()
	data, _, err := o.Get(t.Context(), markName)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &by))
	return by
}

func silent(string) {}

// TestLease has processes that want one place: one that runs keeps it, one that was killed does not.
func TestLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &oneMark{}
		first, second := lease{store: store, place: "s3://b/p"}, lease{store: store, place: "s3://b/p"}
		_, release, err := first.take(t.Context(), silent)
		require.NoError(t, err)
		began, told := time.Now(), ""
		_, _, err = second.take(t.Context(), func(text string) { told = text })
		require.ErrorContains(t, err, "another freshet backup (process ")
		assert.Contains(t, told, "waiting 2m0s to see whether that backup still runs")
		assert.Equal(t, leaseFor, time.Since(began))
		require.NoError(t, first.check(t.Context()))
		require.NoError(t, release())
		assert.Empty(t, store.by(t).Host)

		began = time.Now()
		_, release, err = second.take(t.Context(), silent)
		require.NoError(t, err)
		assert.Zero(t, time.Since(began), "one that has ended is not waited for")
		require.NoError(t, release())

		killed := lease{store: store, place: "s3://b/p"}
		ctx, kill := context.WithCancel(t.Context())
		_, _, err = killed.take(ctx, silent)
		require.NoError(t, err)
		kill()
		synctest.Wait()
		began = time.Now()
		_, release, err = first.take(t.Context(), silent)
		require.NoError(t, err)
		assert.Equal(t, leaseFor, time.Since(began))
		require.ErrorIs(t, killed.check(t.Context()), s3.ErrChanged, "the place is another's")
		require.NoError(t, release())

		stopped, stop := context.WithCancel(t.Context())
		_, release, err = second.take(t.Context(), silent)
		require.NoError(t, err)
		stop()
		_, _, err = first.take(stopped, silent)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, release())
	})
}

// TestLeaseLost takes a place from a process, and hides the store from one: both stop before the next process
// begins. An answer that is lost is no loss.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	down := errors.New("the store is down")
	synctest.Test(t, func(t *testing.T) {
		store := &oneMark{}
		l := lease{store: store, place: "s3://b/p"}
		held, release, err := l.take(t.Context(), silent)
		require.NoError(t, err)
		store.set(s3.ErrChanged, true) // stored, and said to be refused
		const between = time.Second    // puts each change between two renewals
		time.Sleep(10*renewEvery + between)
		require.NoError(t, held.Err())
		store.set(down, false)
		time.Sleep(leaseFor/2 - 2*between)
		store.set(nil, false)
		time.Sleep(leaseFor)
		require.NoError(t, held.Err(), "a short outage is none")

		store.set(down, false)
		began := time.Now()
		<-held.Done()
		assert.Less(t, time.Since(began), leaseFor)
		require.ErrorIs(t, release(), down)
		store.set(nil, false)

		other := lease{store: store, place: "s3://b/p"}
		_, released, err := other.take(t.Context(), silent)
		require.NoError(t, err)
		require.NoError(t, released())

		held, release, err = l.take(t.Context(), silent)
		require.NoError(t, err)
		store.mu.Lock()
		store.etag++
		store.mu.Unlock()
		<-held.Done()
		require.ErrorIs(t, release(), s3.ErrChanged)
		require.ErrorContains(t, release(), "another freshet backup may write there")
	})
}
