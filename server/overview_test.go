package server

import (
	"context"
	"testing"
	"time"

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
			o := askAdmin[api.Overview](t, a, "GET", "/v1/overview", "")
			require.Len(t, o.Days, 7)
			assert.EqualValues(t, 1, o.Days[6].Readers)
			require.NotNil(t, o.Items)
			require.Len(t, o.Items.Hours, 168)
			var items int64
			for _, age := range o.Items.Ages {
				items += age.Items
			}
			assert.EqualValues(t, 30, items)
			readers := askAdmin[api.ItemReaders](t, a, "GET", "/v1/readers?item="+ids(page)[0], "")
			require.NotNil(t, readers.Acted)
			assert.EqualValues(t, 1, *readers.Acted)
			assert.Zero(t, *askAdmin[api.ItemReaders](t, a, "GET", "/v1/readers?item=never", "").Acted)
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

// TestItemsByAge checks that each item has one age, and each of the last seven days one hour.
func TestItemsByAge(t *testing.T) {
	now := time.Date(2026, 3, 6, 12, 34, 56, 0, time.UTC)
	f := figures{clock: func() time.Time { return now }, items: census(func(bounds []int64) []int64 {
		counts := make([]int64, len(bounds)-1)
		for i := range counts {
			counts[i] = (bounds[i+1] - bounds[i] + hour - 1) / hour // one item an hour
		}
		return counts
	})}
	got, err := f.ages(t.Context())
	require.NoError(t, err)
	items := map[int64]int64{}
	for _, age := range got.Ages[:4] {
		items[*age.Below/hour] = age.Items
	}
	assert.Equal(t, map[int64]int64{1: 1, 24: 23, 168: 144, 720: 552}, items)
	assert.Nil(t, got.Ages[4].Below)
	assert.Equal(t, now.Truncate(time.Hour), got.Hours[167].Begin)
	f.items = nil
	_, err = f.ages(t.Context())
	require.NoError(t, err, "it is counted once a minute")
}

type census func(bounds []int64) []int64

func (c census) CountItems(_ context.Context, bounds []int64) ([]int64, error) { return c(bounds), nil }
