package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine/enginetest"
	"github.com/freshet/freshet/feed"
)

// TestScenarios runs the engine's scenarios over whole systems in services mode. The engine's own
// tests run them over the stores of the embedded mode.
func TestScenarios(t *testing.T) {
	t.Parallel()
	enginetest.Run(t, func(t *testing.T, c enginetest.Config, clock feed.Clock) enginetest.System {
		t.Parallel()
		cfg := services(t)
		if c.N > 0 {
			cfg.Recall.N = c.N
		}
		if c.Seen {
			cfg.Impressions.On = configs.OnSeen
		}
		if c.PendingTTL > 0 {
			cfg.Sessions.TTL = c.PendingTTL
		}
		a := open(t, cfg, WithClock(clock))
		return enginetest.System{
			Engine: a.Engine, Catalog: a.Catalog, Dedup: a.stores.dedup,
			Put:      func(t *testing.T, items ...feed.Item) { put(t, a, items...) },
			Remove:   func(t *testing.T, id string) { require.NoError(t, a.Catalog.Remove(t.Context(), id)) },
			Recorded: func(t *testing.T) { recorded(t, a) },
		}
	})
}
