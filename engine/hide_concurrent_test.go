package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// meeting is a catalog in which an update of a profile takes a second. Concurrent updates would
// have to be repeated.
type meeting struct {
	catalog.Catalog
	made, underWay, met atomic.Int32
}

func (m *meeting) change() {
	m.made.Add(1)
	if m.underWay.Add(1) > 1 {
		m.met.Add(1)
	}
	time.Sleep(time.Second)
	m.underWay.Add(-1)
}

func (m *meeting) EditProfile(ctx context.Context, agent string, change func(*feed.Profile) (bool, error)) (feed.Profile, error) {
	m.change()
	return m.Catalog.EditProfile(ctx, agent, change)
}

func (m *meeting) MuteItems(ctx context.Context, agent string, groups []string) error {
	m.change()
	return m.Catalog.MuteItems(ctx, agent, groups)
}

// TestHideConcurrent checks that concurrent updates of one agent's profile run one
// after the other: there is one update per call, instead of many repeated ones.
func TestHideConcurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &meeting{}
		r := newRig(t, 1, func(s *engine.Stores, _ *engine.Config) { m.Catalog, s.Catalog = s.Catalog, m })
		const calls = 24
		begun := time.Now()
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() {
				_, err := r.React(t.Context(), "u_1", []engine.Act{{Kind: events.Hide, ID: fmt.Sprint("none_", i)}})
				assert.NoError(t, err)
			})
			wg.Go(func() {
				assert.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{Keywords: feed.Keywords(fmt.Sprint("k", i))}))
			})
		}
		wg.Wait()
		assert.Zero(t, m.met.Load())
		assert.EqualValues(t, 2*calls, m.made.Load())
		assert.Equal(t, 2*calls*time.Second, time.Since(begun))
		p, err := r.Profile(t.Context(), "u_1")
		require.NoError(t, err)
		require.Len(t, p.MutedItems, calls)
	})
}
