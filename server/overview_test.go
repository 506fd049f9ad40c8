package server

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// TestOverviewCountsFeeds makes calls and reads them in the overview, also after a restart. Other tests
// of this process count in the same metrics.
func TestOverviewCountsFeeds(t *testing.T) {
	for mode, config := range map[string]func(testing.TB) configs.Config{"embedded": embedded, "services": services} {
		t.Run(mode, func(t *testing.T) {
			cfg := config(t)
			cfg.Auth.AdminToken = testAdmin
			a := open(t, cfg)
			put(t, a, madeItems(30)...)
			page := ask(t, a, refresh("u_1", 20))
			ask(t, a, loadMore("u_1", 20))
			_, err := a.Engine.React(t.Context(), "u_1", []engine.Act{{Kind: events.Click, ID: ids(page)[0]}})
			require.NoError(t, err)
			require.NoError(t, a.Flush(t.Context()))
			counted := func(a *App) (all api.OverviewPoint) {
				o := askAdmin[api.Overview](t, a, "GET", "/v1/overview", "")
				require.NotEmpty(t, o.Minutes)
				require.NotEmpty(t, o.Hours)
				for _, h := range o.Hours {
					all.Refreshes += h.Refreshes * h.Seconds
					all.LoadMores += h.LoadMores * h.Seconds
					all.Shown += h.Shown
					all.Clicks += h.Clicks
				}
				return all
			}
			before := counted(a)
			assert.GreaterOrEqual(t, before.Refreshes, .99)
			assert.GreaterOrEqual(t, before.LoadMores, .99)
			assert.GreaterOrEqual(t, before.Shown, int64(30))
			assert.GreaterOrEqual(t, before.Clicks, int64(1))
			require.NoError(t, a.Close(t.Context()))
			assert.GreaterOrEqual(t, counted(open(t, cfg)).Shown, before.Shown)
		})
	}
}
