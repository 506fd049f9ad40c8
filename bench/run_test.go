package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
)

// TestMeasurementsPerService checks the measurements that each service enables; scripts/bench.sh
// --short runs them all.
func TestMeasurementsPerService(t *testing.T) {
	some := meter{redis: (*redis.Client)(nil), elastic: struct{ esindex.Client }{}}
	all := some
	all.postgres = &pgxpool.Pool{}
	embedded := []string{"load_more embedded", "refresh embedded", "dedup embedded", "ingest embedded", "timeline embedded", "streams embedded", "live embedded"}
	two := append([]string{"load_more services", "refresh services", "dedup services", "statements services"}, embedded...)
	for name, c := range map[string]struct {
		b        bench
		measured []string
	}{
		"nothing":       {bench{}, embedded},
		"Redis":         {bench{services: meter{redis: some.redis}}, embedded},
		"Elasticsearch": {bench{services: meter{elastic: some.elastic}}, embedded},
		"PostgreSQL":    {bench{services: meter{postgres: all.postgres}}, embedded},
		"the first two": {bench{services: some}, two},
		"all":           {bench{services: all}, append([]string{"timeline services", "posts services", "crowd services", "connected services", "streams services", "live services"}, two...)},
		"the binary":    {bench{o: Options{Executable: "freshet"}}, append([]string{"start embedded"}, embedded...)},
	} {
		var measured []string
		for _, p := range parts {
			if p.needs(&c.b) == "" {
				measured = append(measured, p.name+" "+p.mode)
			}
		}
		assert.ElementsMatch(t, c.measured, measured, name)
	}
}

// looksRight parses the JSON, refusing unknown fields, and prints the tables.
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

// TestEmbeddedRun runs the measurements that need no services, except uploads, which have separate
// tests, and streams, which wait for seconds.
func TestEmbeddedRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var said strings.Builder
	o := embeddedOptions("load_more", "refresh", "dedup", "start", "timeline")
	o.Progress = &said
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	assert.Empty(t, r.Impossible)
	assert.Contains(t, said.String(), "skipped: dedup, services: redis.url is empty")
	assert.Contains(t, said.String(), "skipped: start, embedded: it runs the freshet binary")
	measured := map[string]int{}
	for _, result := range r.Results {
		if result.Skipped == "" {
			measured[result.Part]++
			assert.NotEmpty(t, result.Cases, result.Part)
		}
	}
	assert.Equal(t, map[string]int{"load_more": 1, "refresh": 1, "dedup": len(heavy), "timeline": 1}, measured)
	assertEmpty(t, os.TempDir())
	looksRight(t, r)
}

func TestServicesDown(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	o := embeddedOptions("dedup")
	o.Config.Redis.URL = "redis://127.0.0.1:1"
	_, err := Run(t.Context(), o)
	require.ErrorContains(t, err, "redis.url")
	o = embeddedOptions("dedup")
	o.Config.Elasticsearch.Addresses = []string{"http://127.0.0.1:1"}
	_, err = Run(t.Context(), o)
	require.ErrorContains(t, err, "elasticsearch.addresses")
	assertEmpty(t, os.TempDir())
}

func TestOptions(t *testing.T) {
	assert.Equal(t, []string{"load_more", "refresh", "dedup", "ingest", "start", "timeline", "posts", "statements", "crowd", "connected", "streams", "live"}, Parts())
	require.NoError(t, Options{}.WithDefaults().Validate())
	require.ErrorContains(t, Options{Only: []string{"dedupe"}}.Validate(), `no part "dedupe"; the parts are load_more,`)
	require.ErrorContains(t, Options{Items: []int{5000, 10}}.Validate(), "at least 1000, not 10")
	assert.Equal(t, configs.Default().Dedup.WindowDays+1, Traffic{}.WithDefaults(7).Days)
}
