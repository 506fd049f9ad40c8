package app

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

func levels(findings []Finding, what string) []Level {
	var out []Level
	for _, f := range findings {
		if strings.HasPrefix(f.What, what) {
			out = append(out, f.Level)
		}
	}
	return out
}

func TestDoctorEmbedded(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.DataDir = filepath.Join(t.TempDir(), "new")
	assert.Equal(t, []Level{OK}, levels(Doctor(t.Context(), cfg, false), "data_dir"))
	assert.NoDirExists(t, cfg.DataDir, "looking creates nothing")
	assert.Equal(t, []Level{OK}, levels(Doctor(t.Context(), cfg, true), "data_dir"))
	assert.DirExists(t, cfg.DataDir)

	require.NoError(t, os.WriteFile(catalogFile(cfg.DataDir), []byte("this is not a database, whatever its name is"), 0o600))
	assert.Equal(t, []Level{Broken}, levels(Doctor(t.Context(), cfg, false), "catalog"))

	cfg.DataDir = filepath.Join(catalogFile(cfg.DataDir), "below a file")
	assert.Equal(t, []Level{Broken}, levels(Doctor(t.Context(), cfg, true), "data_dir"))
}

func TestDoctorServices(t *testing.T) {
	t.Parallel()
	cfg, _ := productionRedis(t)
	ownIndices(t, &cfg)
	index := "index " + cfg.Elasticsearch.Index

	findings := Doctor(t.Context(), cfg, false)
	assert.Equal(t, []Level{OK, OK, OK, OK, OK}, levels(findings, "redis"), "%v", findings)
	assert.Equal(t, OK, about(t, findings, "elasticsearch").Level, "%v", findings)
	assert.Equal(t, []Level{Broken}, levels(findings, index), "the index is missing")

	findings = Doctor(t.Context(), cfg, true)
	assert.Equal(t, []Level{OK, OK}, levels(findings, index), "created, and right: %v", findings)
	assert.Equal(t, []Level{OK}, levels(Doctor(t.Context(), cfg, false), index))
}

func TestDoctorNamesWhatIsDown(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	cfg.Redis.Addrs = []string{"127.0.0.1:1"}
	cfg.Elasticsearch.Addresses = []string{"http://127.0.0.1:1"}
	findings := Doctor(t.Context(), cfg, true)
	assert.Equal(t, []Level{Broken}, levels(findings, "redis"))
	assert.Equal(t, []Level{Broken}, levels(findings, "elasticsearch"))
	for _, f := range findings {
		if f.Level == Broken {
			assert.NotEmpty(t, f.Fix, "a broken thing says how to fix it")
		}
	}
}

func TestDoctorReadsAnExistingMapping(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	ownIndices(t, &cfg)
	cfg.Elasticsearch.ManageIndex = false
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut,
		cfg.Elasticsearch.Addresses[0]+"/"+cfg.Elasticsearch.Index,
		strings.NewReader(`{"mappings":{"properties":{"id":{"type":"keyword"},"title":{"type":"text"},"update_time":{"type":"text"}}}}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_ = res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	findings := Doctor(t.Context(), cfg, false)
	assert.Contains(t, levels(findings, "index "+cfg.Elasticsearch.Index), Broken, "a time kept as text cannot be decayed: %v", findings)
}

// TestOpenRefuses is about starts that must fail with a sentence.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	t.Run("a data directory in use", func(t *testing.T) {
		cfg := embedded(t)
		open(t, cfg)
		_, err := Open(t.Context(), cfg)
		require.ErrorContains(t, err, "another")
	})
	t.Run("no Redis", func(t *testing.T) {
		cfg := services(t)
		cfg.Redis.Addrs = []string{"127.0.0.1:1"}
		cfg.Dedup.OnFailure = configs.FailClosed
		_, err := Open(t.Context(), cfg)
		require.ErrorContains(t, err, "redis")
	})
}

// TestMixedBackends runs sessions in this process over filters in Redis.
func TestMixedBackends(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	cfg.Sessions.Backend = configs.SessionsMemory
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(100)...)
	seen := newOnce()
	seen.add(t, "refresh", ids(ask(t, a, refresh("u_1", 20))))
	seen.add(t, "load_more", ids(ask(t, a, loadMore("u_1", 20))))
	seen.add(t, "refresh", ids(ask(t, a, refresh("u_1", 20))))
	assert.Equal(t, 60, seen.len())
}
