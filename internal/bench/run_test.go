package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// TestShortRun measures for real, in both modes.
func TestShortRun(t *testing.T) {
	for name, o := range map[string]func(t *testing.T) Options{
		"embedded": func(*testing.T) Options { return embeddedOptions() },
		"services": func(t *testing.T) Options { return withServices(t) },
	} {
		if name == "services" && testenv.Slow() {
			continue // scripts/bench.sh --short does it
		}
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			r, err := Run(t.Context(), o(t))
			require.NoError(t, err)
			assert.Empty(t, r.Impossible)
			measured := map[string]bool{}
			for _, result := range r.Results {
				what := result.Part + " " + result.Mode
				measured[what] = result.Skipped == ""
				for _, c := range result.Cases {
					assert.GreaterOrEqual(t, c.Calls, int64(3), "%s: %s", what, c.Name)
					assert.Positive(t, c.PerSecond, "%s: %s", what, c.Name)
					assert.GreaterOrEqual(t, c.Latency.P99, c.Latency.P50, "%s: %s", what, c.Name)
				}
				for _, ratio := range result.Ratios {
					assert.Len(t, ratio.Rounds, r.Settings.Rounds)
				}
			}
			services := name == "services"
			assert.Equal(t, map[string]bool{
				"load_more embedded": true, "refresh embedded": true, "dedup embedded": true, "ingest embedded": true,
				"load_more services": services, "refresh services": services, "dedup services": services,
				"start embedded":    false, // there is no binary in this test
				"timeline embedded": true, "timeline services": services, "posts services": services, "crowd services": services,
				"streams embedded": true, "streams services": services,
			}, measured)
			assertEmpty(t, os.TempDir())
			looksRight(t, r)
		})
	}
}

// looksRight reads the JSON back, every field known, and prints the tables.
func looksRight(t *testing.T, r *Report) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, r.Write(&out))
	dec := json.NewDecoder(&out)
	dec.DisallowUnknownFields()
	var back Report
	require.NoError(t, dec.Decode(&back))
	assert.Equal(t, r.Results, back.Results)
	assert.Equal(t, r.Simulations, back.Simulations)
	out.Reset()
	require.NoError(t, r.Print(&out))
	for _, result := range r.Results {
		assert.Contains(t, out.String(), result.Part+", "+result.Mode)
	}
	assert.NotContains(t, out.String(), "NaN")
	assert.NotContains(t, out.String(), "IMPOSSIBLE")
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left, "a run leaves nothing behind")
}

func TestSkippedWithoutServices(t *testing.T) {
	var said strings.Builder
	o := embeddedOptions("dedup", "start")
	o.Progress = &said
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	assert.Contains(t, said.String(), "skipped: dedup, services: redis.addrs names no Redis")
	assert.Contains(t, said.String(), "skipped: start, embedded: it runs the freshet binary")
	assert.Len(t, r.Results, len(heavy)+2)
}

func TestServicesThatDoNotAnswer(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	o := embeddedOptions("dedup")
	o.Config.Redis.Addrs = []string{"127.0.0.1:1"}
	_, err := Run(t.Context(), o)
	require.ErrorContains(t, err, "redis.addrs")
	o = embeddedOptions("dedup")
	o.Config.Elasticsearch.Addresses = []string{"http://127.0.0.1:1"}
	_, err = Run(t.Context(), o)
	require.ErrorContains(t, err, "elasticsearch.addresses")
	assertEmpty(t, os.TempDir())
}

func TestOptions(t *testing.T) {
	assert.Equal(t, []string{"load_more", "refresh", "dedup", "ingest", "start", "timeline", "posts", "crowd", "streams"}, Parts())
	require.NoError(t, Options{}.WithDefaults().Validate())
	require.ErrorContains(t, Options{Only: []string{"dedupe"}}.Validate(), `no part "dedupe"; the parts are load_more,`)
	require.ErrorContains(t, Options{Items: []int{5000, 10}}.Validate(), "at least 1000, not 10")
	assert.Equal(t, configs.Default().Dedup.WindowDays+1, Traffic{}.WithDefaults(7).Days)
}
