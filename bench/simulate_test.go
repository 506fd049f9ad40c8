package bench

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

func TestSimulation(t *testing.T) {
	testenv.WithoutRace(t)
	for name, o := range map[string]func(t *testing.T) Options{
		"memory": func(*testing.T) Options { return embeddedOptions() },
		"redis":  func(t *testing.T) Options { return withServices(t) },
	} {
		for _, shards := range []int{4, 1} {
			if shards == 1 && testenv.Slow() {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Setenv("TMPDIR", t.TempDir())
				o := o(t)
				o.Short = false
				o.Config.Dedup.Shards = shards
				// Agents are spread by hash, so some shards get more than others.
				traffic := Traffic{Agents: 500, Impressions: 10_000, Capacity: 10_000, Items: 20_000, Seed: 3}
				if shards > 1 {
					traffic.Capacity += traffic.Capacity / 2
				}
				r, err := Simulate(t.Context(), o, traffic)
				require.NoError(t, err)
				assert.Empty(t, r.Impossible)
				require.Len(t, r.Simulations, 1)
				sim := r.Simulations[0]
				require.Len(t, sim.Days, 8)
				for _, day := range sim.Days {
					assert.Equal(t, 10_000, day.Impressions)
					assert.Positive(t, day.Memory.Measured)
				}
				assert.Zero(t, sim.Repeats)
				assert.Positive(t, sim.Probes.Measured, "seven full filters without a false hit: nothing was asked")
				if name == "redis" {
					assert.InEpsilon(t, sim.Days[7].Memory.Expected, sim.Days[7].Memory.Measured, 0.05)
				}
				assertEmpty(t, os.TempDir())
				looksRight(t, r)
			})
		}
	}
}

// TestSimulationFiltersOverCapacity: with more impressions than their capacity, filters grow and
// the rate holds.
func TestSimulationFiltersOverCapacity(t *testing.T) {
	o := embeddedOptions()
	o.Short = false
	b, err := begin(t.Context(), o)
	require.NoError(t, err)
	_, err = b.finish(t.Context(), b.simulate(t.Context(), Traffic{Agents: 500, Impressions: 10_000, Capacity: 5000, Days: 3, Items: 20_000}))
	require.NoError(t, err)
	assert.Empty(t, b.report.Impossible)
	last := b.report.Simulations[0].Days[2]
	assert.InDelta(t, 2, last.Fill.Expected, 1e-9)
	assert.Positive(t, last.Hidden.Measured)
	assert.Less(t, last.Hidden.Measured, 0.01*float64(last.Hidden.Of))
	assert.InEpsilon(t, last.Memory.Expected, last.Memory.Measured, 0.01)
}

// forgetful is a store that occasionally returns wrong verdicts.
type forgetful struct {
	dedup.Store
	verdict func(dedup.Verdict) dedup.Verdict
}

func (f forgetful) Check(ctx context.Context, agent string, groups []string, now time.Time) (dedup.Checked, error) {
	c, err := f.Store.Check(ctx, agent, groups, now)
	for i, v := range c.Verdicts {
		c.Verdicts[i] = f.verdict(v)
	}
	return c, err
}

// TestSimulationDetectsBrokenStores simulates with broken stores.
func TestSimulationDetectsBrokenStores(t *testing.T) {
	calls := 0
	for name, c := range map[string]struct {
		verdict func(dedup.Verdict) dedup.Verdict
		says    string
	}{
		"one in a hundred seen items is forgotten": {func(v dedup.Verdict) dedup.Verdict {
			if calls++; v != dedup.Unseen && calls%100 == 0 {
				return dedup.Unseen
			}
			return v
		}, "counted as unseen"},
		"one in a hundred unseen items is hidden": {func(v dedup.Verdict) dedup.Verdict {
			if calls++; v == dedup.Unseen && calls%100 == 0 {
				return dedup.SeenDaysAgo(0)
			}
			return v
		}, "unseen taken for seen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			b, err := begin(t.Context(), embeddedOptions())
			require.NoError(t, err)
			cfg := b.o.Config
			cfg.DataDir = b.dir
			start := feed.DayOf(time.Now()).Start()
			store, stop, err := b.openDedup(t.Context(), cfg, start)
			require.NoError(t, err)
			traffic := Traffic{Impressions: 10_000, Agents: 500}.WithDefaults(7)
			p := newPlay(cfg, traffic)
			p.store = forgetful{store, c.verdict}
			var sim Simulation
			for i := range 2 {
				day, err := p.day(t.Context(), start.AddDate(0, 0, i))
				require.NoError(t, err)
				sim.Days = append(sim.Days, day)
			}
			sim.Repeats = p.repeats
			b.judge(sim)
			require.NoError(t, stop(t.Context()))
			_, err = b.finish(t.Context(), nil)
			require.NoError(t, err)
			require.NotEmpty(t, b.report.Impossible)
			assert.Contains(t, b.report.Impossible[0], c.says)
		})
	}
}

func TestSimulationInvalidTraffic(t *testing.T) {
	good := Traffic{}.WithDefaults(7)
	require.NoError(t, good.Validate())
	for says, change := range map[string]func(*Traffic){
		"--agents":      func(t *Traffic) { t.Agents = -1 },
		"--items":       func(t *Traffic) { t.Items = 10 },
		"--zipf":        func(t *Traffic) { t.Zipf = 1 },
		"200 million":   func(t *Traffic) { t.Impressions = 100_000_000 },
		"--impressions": func(t *Traffic) { t.Impressions = 3 },
	} {
		bad := good
		change(&bad)
		require.ErrorContains(t, bad.Validate(), says)
	}
	// One agent cannot be shown more items than exist.
	o := embeddedOptions()
	o.Short = false
	b, err := begin(t.Context(), o)
	require.NoError(t, err)
	_, err = b.finish(t.Context(), b.simulate(t.Context(), Traffic{Agents: 1, Impressions: 1000, Items: 200}))
	require.ErrorContains(t, err, "have seen too much of 200 items")
}

func TestSimulationBounds(t *testing.T) {
	assert.True(t, counted(0, 0.3, 100).possible())
	assert.True(t, counted(1080, 1000, 1e5).possible(), "chance")
	assert.False(t, counted(1400, 1000, 1e5).possible())
	assert.False(t, counted(600, 1000, 1e5).possible(), "too few is wrong as well: the filter is not what it is said to be")
	assert.True(t, Compared{Expected: 1, Measured: 5}.possible(), "without a bound nothing is impossible")
}

// TestTimeOfDay checks that the time increases over the whole day.
func TestTimeOfDay(t *testing.T) {
	last := time.Duration(-1)
	for i := range 1001 {
		at := timeOfDay(float64(i) / 1000)
		assert.Greater(t, at, last)
		last = at
	}
	assert.Zero(t, timeOfDay(0))
	assert.Less(t, last, 24*time.Hour)
	assert.Greater(t, last, 23*time.Hour)
}
