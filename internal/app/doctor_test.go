package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/sqlitefile"
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

// TestDoctorMigratesNothing looks at the file of an older version while that serves.
func TestDoctorMigratesNothing(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	open(t, cfg)
	db, err := sqlitefile.Connect(catalogFile(cfg.DataDir), "rw")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.ExecContext(t.Context(), "PRAGMA user_version = 0")
	require.NoError(t, err)
	for _, fix := range []bool{false, true} {
		assert.Contains(t, about(t, Doctor(t.Context(), cfg, fix), "catalog").Detail, "the schema of an older version")
		var version int
		require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version))
		assert.Zero(t, version)
	}
}

func TestDoctorServices(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	ownIndices(t, &cfg)
	cfg.Redis.Addrs = []string{productionRedis(t).Options().Addr}
	index := "index " + cfg.Elasticsearch.Index

	findings := Doctor(t.Context(), cfg, false)
	assert.Equal(t, []Level{OK, OK, OK, OK, OK}, levels(findings, "redis"), "%v", findings)
	assert.Contains(t, about(t, findings, "redis persistence").Detail, "appendonly yes, appendfsync everysec")
	assert.Contains(t, about(t, findings, "redis eviction").Detail, "noeviction")
	assert.Contains(t, about(t, findings, "redis memory").Detail, "maxmemory 64.0 MiB; the filters take up to 13.4 MiB")
	assert.Equal(t, OK, about(t, findings, "elasticsearch").Level, "%v", findings)
	assert.NotContains(t, about(t, findings, "elasticsearch disks").Detail, "could not be checked")
	assert.Equal(t, []Level{Broken}, levels(findings, index), "the index is missing")

	findings = Doctor(t.Context(), cfg, true)
	assert.Equal(t, []Level{OK, OK}, levels(findings, index), "created, and right: %v", findings)
	findings = Doctor(t.Context(), cfg, false)
	assert.Equal(t, []Level{OK}, levels(findings, index))
	replicas := about(t, findings, "elasticsearch replicas")
	assert.Contains(t, replicas.Detail, "with replicas that are on no node: "+strings.Join(indices(cfg), ", "), "there is one node")
}

func TestDoctorNamesWhatIsDown(t *testing.T) {
	t.Parallel()
	findings := Doctor(t.Context(), servicesAt(t, "127.0.0.1:1", "http://127.0.0.1:1"), true)
	assert.Equal(t, []Level{Broken}, levels(findings, "redis"))
	assert.Equal(t, []Level{Broken}, levels(findings, "elasticsearch"))
	for _, f := range findings {
		if f.Level == Broken {
			assert.NotEmpty(t, f.Fix, "a broken thing says how to fix it")
		}
	}
}

// TestOpenRefuses: a server that shall not answer without Redis does not start without it.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), onRedis(t, "", "127.0.0.1:1"))
	require.ErrorContains(t, err, "redis")
}
