package catalogtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

const rounds = 25

// concurrentPutAndRead lets each writer replace its items while readers read all of them. A
// writer must read its own last write, and no reader may see a partial item or an older version
// after a newer one.
func concurrentPutAndRead(t *testing.T, c catalog.Catalog) {
	const writers, perWriter = 3, 8
	var all []string
	version := func(id string, v int) feed.Item {
		it := item(id, fmt.Sprintf("%s v%d", id, v))
		it.UpdateTime = int64(v)
		return it
	}
	stop := make(chan struct{})
	var writing, reading sync.WaitGroup
	for w := range writers {
		ids := make([]string, perWriter)
		for i := range ids {
			ids[i] = fmt.Sprintf("concurrent-%d-%d", w, i)
		}
		all = append(all, ids...)
		writing.Go(func() {
			for v := 1; v <= rounds; v++ {
				items := make([]feed.Item, perWriter)
				for i, id := range ids {
					items[i] = version(id, v)
				}
				perItem, err := c.Put(t.Context(), items)
				if !assert.NoError(t, err) || !assert.Nil(t, perItem) {
					return
				}
				got, err := c.Docs(t.Context(), ids)
				if !assert.NoError(t, err) || !assert.Len(t, got, perWriter) {
					return
				}
				for i := range got {
					it, err := got[i].Item()
					if !assert.NoError(t, err) || !assert.Equal(t, items[i].Title, it.Title, "read your own write") {
						return
					}
				}
			}
		})
	}
	for range 3 {
		reading.Go(func() { readVersions(t, c, all, stop, version) })
	}
	writing.Wait()
	close(stop)
	reading.Wait()
	for i, d := range docs(t, c, all...) {
		requireItem(t, version(all[i], rounds), d)
	}
}

func readVersions(t *testing.T, c catalog.Catalog, ids []string, stop chan struct{}, version func(string, int) feed.Item) {
	newest := make([]int64, len(ids))
	for {
		select {
		case <-stop:
			return
		default:
		}
		got, err := c.Docs(t.Context(), ids)
		if !assert.NoError(t, err) || !assert.Len(t, got, len(ids)) {
			return
		}
		for i, d := range got {
			if d.Missing() {
				if !assert.Zero(t, newest[i], "%s was there before", d.ID) {
					return
				}
				continue
			}
			it, err := d.Item()
			if !assert.NoError(t, err) || !assert.GreaterOrEqual(t, it.UpdateTime, newest[i], "an older item came back") ||
				!assert.Equal(t, version(ids[i], int(it.UpdateTime)), it) {
				return
			}
			newest[i] = it.UpdateTime
		}
	}
}

// concurrentProfiles checks that a read after a put or removal returns its result while other
// readers read.
func concurrentProfiles(t *testing.T, c catalog.Catalog) {
	const agent = "u_concurrent"
	stop := make(chan struct{})
	var reading sync.WaitGroup
	for range 3 {
		reading.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, _, err := c.Hydrate(t.Context(), agent, nil)
				if !assert.NoError(t, err) {
					return
				}
			}
		})
	}
	defer reading.Wait()
	defer close(stop)
	for v := 1; v <= rounds; v++ {
		p := feed.Profile{Interests: map[string]float64{"go": float64(v)}}
		require.NoError(t, PutProfile(t.Context(), c, agent, p))
		requireProfile(t, c, agent, p)
		if v%3 == 0 {
			require.NoError(t, c.RemoveProfile(t.Context(), agent))
			requireNoProfile(t, c, agent)
		}
	}
}

// cancelled checks that a call with an ended context returns its error, and that the catalog
// still works afterwards.
func cancelled(t *testing.T, c catalog.Catalog) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Docs(ctx, []string{"cancelled-1"})
	require.ErrorIs(t, err, context.Canceled)
	_, err = c.Put(ctx, []feed.Item{item("cancelled-1", "Never")})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, c.Remove(ctx, "cancelled-1"), context.Canceled)
	_, err = c.Profile(ctx, "u_cancelled")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, PutProfile(ctx, c, "u_cancelled", feed.Profile{}), context.Canceled)
	require.ErrorIs(t, c.MuteItems(ctx, "u_cancelled", []string{"a"}), context.Canceled)
	require.ErrorIs(t, c.RemoveProfile(ctx, "u_cancelled"), context.Canceled)
	require.ErrorIs(t, c.Learn(ctx, "u_cancelled", click("story", "go", 1)), context.Canceled)
	_, _, err = c.Hydrate(ctx, "u_cancelled", []string{"cancelled-1"})
	require.ErrorIs(t, err, context.Canceled)

	it := item("cancelled-1", "Now")
	put(t, c, it)
	requireItem(t, it, docs(t, c, it.ID)[0])
	requireNoProfile(t, c, "u_cancelled")
}
