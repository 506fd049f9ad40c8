package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/feed"
	recallmemory "github.com/freshet/freshet/recall/memory"
)

func TestScenarios(t *testing.T) {
	enginetest.Run(t, func(t *testing.T, c enginetest.Config, clock feed.Clock) enginetest.System {
		index, pending := recallmemory.New(), deduptest.DefaultConfig()
		if pending.Served = !c.Seen; c.Seen {
			pending.PendingTTL = c.PendingTTL
		}
		stores := storesWith(t, clock, pending, index)
		cfg := engine.Config{
			Clock: clock, N: 500, RoundsFor: time.Hour, RecordServed: !c.Seen,
			Rankings: &feed.Live{Ranking: dayLong()},
		}
		if c.N > 0 {
			cfg.N = c.N
		}
		e, err := engine.New(stores, cfg)
		require.NoError(t, err)
		return enginetest.System{
			Engine: e, Catalog: stores.Catalog, Dedup: stores.Seen.(dedup.Writer),
			Put: func(t *testing.T, items ...feed.Item) {
				errs, err := stores.Catalog.Put(t.Context(), items)
				require.NoError(t, err)
				require.Nil(t, errs)
				index.Upsert(items)
			},
			Remove: func(t *testing.T, id string) {
				require.NoError(t, stores.Catalog.Remove(t.Context(), id))
				index.Delete(id)
			},
			Recorded: func(t *testing.T) { recorded(t, stores.Recorder) },
		}
	})
}
