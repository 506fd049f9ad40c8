package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/datadir"
	eventssqlite "github.com/freshet/freshet/signals/events/sqlite"
	"github.com/freshet/freshet/social"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

func TestDoctorEmbedded(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.DataDir = filepath.Join(t.TempDir(), "new")
	assert.Equal(t, []Level{OK}, levels(Check(t.Context(), cfg, Options{}), "data_dir"))
	assert.NoDirExists(t, cfg.DataDir, "looking creates nothing")
	assert.Equal(t, []Level{OK}, levels(Check(t.Context(), cfg, Options{Fix: true}), "data_dir"))
	assert.DirExists(t, cfg.DataDir)

	require.NoError(t, os.WriteFile(filepath.Join(cfg.DataDir, catalogsqlite.FileName), []byte("this is not a database, whatever its name is"), 0o600))
	assert.Equal(t, []Level{Broken}, levels(Check(t.Context(), cfg, Options{}), "catalog"))

	cfg.DataDir = filepath.Join(filepath.Join(cfg.DataDir, catalogsqlite.FileName), "below a file")
	assert.Equal(t, []Level{Broken}, levels(Check(t.Context(), cfg, Options{Fix: true}), "data_dir"))
}

func TestDoctorAgentIDs(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	assert.Empty(t, levels(Check(t.Context(), cfg, Options{}), "agents"))
	cfg.Auth.Mode, cfg.Auth.JWT.Secret, cfg.Auth.JWT.Claim = configs.ModeJWT, strings.Repeat("s", 32), "uid"
	found := about(t, Check(t.Context(), cfg, Options{}), "agents")
	assert.Equal(t, OK, found.Level)
	assert.Contains(t, found.Detail, "the claim uid of a token")
	assert.Contains(t, found.Detail, feed.AgentAlphabet)
}

// TestDoctorOlderVersion checks that a file of an older version is reported, and not migrated.
func TestDoctorOlderVersion(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	path := filepath.Join(cfg.DataDir, socialsqlite.FileName)
	older := socialsqlite.Schema
	older.Migrations = older.Migrations[:len(older.Migrations)-1]
	file, err := older.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	for _, fix := range []bool{false, true} {
		found := about(t, Check(t.Context(), cfg, Options{Fix: fix}), "social")
		assert.Equal(t, OK, found.Level)
		assert.Contains(t, found.Detail, "the schema of an older version")
	}
	version, err := socialsqlite.Schema.Inspect(t.Context(), path)
	require.NoError(t, err)
	assert.Equal(t, version.Known-1, version.File)
}

// TestDoctorPartialCopy has copies of a data_dir that were interrupted: what is missing, or empty, is not
// called ok.
func TestDoctorPartialCopy(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	assert.Equal(t, []Level{OK}, levels(Check(t.Context(), cfg, Options{}), "catalog"), "a first start")
	file, err := socialsqlite.Schema.Open(t.Context(), filepath.Join(cfg.DataDir, socialsqlite.FileName))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.NoError(t, os.WriteFile(filepath.Join(cfg.DataDir, catalogsqlite.FileName), nil, 0o600))
	findings := Check(t.Context(), cfg, Options{})
	assert.Equal(t, []Level{OK}, levels(findings, "social"))
	for what, says := range map[string]string{"catalog": "catalog.db is empty", "events": "events.db does not exist"} {
		found := about(t, findings, what)
		assert.Equal(t, Warning, found.Level)
		assert.Contains(t, found.Detail, says)
		assert.Contains(t, found.Detail, "social.db has data")
		assert.Contains(t, found.Fix, "backup")
	}
	require.NoError(t, os.Remove(filepath.Join(cfg.DataDir, socialsqlite.FileName)))
	findings = Check(t.Context(), cfg, Options{})
	assert.Equal(t, []Level{OK, OK, OK}, slices.Concat(levels(findings, "catalog"), levels(findings, "social"), levels(findings, "events")), "a first start that was killed")
}

// TestDoctorOtherUser has a data_dir that belongs to another user: what a server could not use or create is
// not called ok.
func TestDoctorOtherUser(t *testing.T) {
	for name, file := range map[string]string{"lock": "lock", "name": "id", "segment": "00000000000000000001.spool"} {
		t.Run(name, func(t *testing.T) {
			d := &doctor{cfg: servicesAt(t, "127.0.0.1:1", "http://127.0.0.1:1")}
			d.cfg.DataDir = testenv.OpenDir(t)
			dir := filepath.Join(d.cfg.DataDir, datadir.Spool)
			require.NoError(t, errors.Join(os.Mkdir(dir, 0o777), os.Chmod(dir, 0o777), os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o600)))
			testenv.AsNobody(t, func() { d.checkDataDir(t.Context()) })
			found := about(t, d.findings, "impressions")
			assert.Equal(t, Broken, found.Level)
			assert.Contains(t, found.Detail, filepath.Join(dir, file)+": permission denied; nothing was changed; give data_dir")
		})
	}
	t.Run("new", func(t *testing.T) {
		d := &doctor{cfg: embedded(t)}
		d.cfg.DataDir = filepath.Join(testenv.OpenDir(t), "a", "b")
		testenv.AsNobody(t, func() { d.checkDataDir(t.Context()) })
		assert.Equal(t, OK, about(t, d.findings, "data_dir").Level)
		parent := filepath.Dir(filepath.Dir(d.cfg.DataDir))
		entries, err := os.ReadDir(parent)
		require.NoError(t, err)
		assert.Empty(t, entries, "looking creates nothing")
		require.NoError(t, os.Chmod(parent, 0o755))
		d.findings = nil
		testenv.AsNobody(t, func() {
			d.checkDataDir(t.Context())
			d.checkMedia(t.Context())
		})
		for what, fix := range map[string]string{"data_dir": "name a directory this user may create", "media": "name a folder this user may write to"} {
			found := about(t, d.findings, what)
			assert.Equal(t, Broken, found.Level)
			assert.Contains(t, found.Detail, "permission denied")
			assert.Equal(t, fix, found.Fix)
		}
	})
}

// TestDoctorMigratesNothing checks files while a server uses them, of this version and of a
// newer one.
func TestDoctorMigratesNothing(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	in := func(name string) string { return filepath.Join(cfg.DataDir, name) }
	catalog, err := catalogsqlite.Open(t.Context(), in(catalogsqlite.FileName))
	require.NoError(t, err)
	store, err := socialsqlite.Open(t.Context(), in(socialsqlite.FileName), social.Options{})
	require.NoError(t, err)
	counts, err := eventssqlite.Open(t.Context(), in(eventssqlite.FileName))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(catalog.Close(), store.Close(), counts.Close())) })
	for what, name := range map[string]string{"catalog": catalogsqlite.FileName, "social": socialsqlite.FileName, "events": eventssqlite.FileName} {
		db, err := sqlitefile.Connect(in(name), "rw")
		require.NoError(t, err)
		var known int
		require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&known))
		for ahead, says := range map[int]string{0: "can be read", 1: "the schema of a newer version"} {
			pragma := strconv.Itoa(known + ahead)
			_, err = db.ExecContext(t.Context(), "PRAGMA user_version = "+pragma)
			require.NoError(t, err)
			for _, fix := range []bool{false, true} {
				found := about(t, Check(t.Context(), cfg, Options{Fix: fix}), what)
				assert.Equal(t, OK, found.Level)
				assert.Contains(t, found.Detail, says)
				var version string
				require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version))
				assert.Equal(t, pragma, version)
			}
		}
		_, err = db.ExecContext(t.Context(), "UPDATE freshet_schema SET oldest = 99; PRAGMA user_version = 99")
		require.NoError(t, err)
		found := about(t, Check(t.Context(), cfg, Options{}), what)
		assert.Equal(t, Broken, found.Level)
		assert.Contains(t, found.Detail, "requires a version that supports schema 99")
		assert.Equal(t, "upgrade freshet", found.Fix, "the data is whole")
		require.NoError(t, db.Close())
	}
}

// TestDoctorDamagedFile has a file whose schema can be read, and one of whose other pages is damaged.
func TestDoctorDamagedFile(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	path := filepath.Join(cfg.DataDir, catalogsqlite.FileName)
	file, err := sqlitefile.Catalog.Open(t.Context(), path)
	require.NoError(t, err)
	_, err = file.Writer.ExecContext(t.Context(), `INSERT INTO items (id, doc)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, zeroblob(1000) FROM n`)
	require.NoError(t, errors.Join(err, file.Close()))
	assert.Equal(t, OK, about(t, Check(t.Context(), cfg, Options{}), "catalog").Level)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	at := len(raw) / 2 &^ 4095
	copy(raw[at:at+4096], strings.Repeat("damage..", 512))
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	found := about(t, Check(t.Context(), cfg, Options{}), "catalog")
	assert.Equal(t, Broken, found.Level)
	assert.Contains(t, found.Detail, "the file is damaged")
}

// TestDoctorFilesOfOtherUser has data that another user owns: nothing needs to be restored or removed.
func TestDoctorFilesOfOtherUser(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.DataDir = testenv.OpenDir(t)
	file, err := sqlitefile.Catalog.Open(t.Context(), filepath.Join(cfg.DataDir, catalogsqlite.FileName))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.NoError(t, os.Mkdir(filepath.Join(cfg.DataDir, datadir.Impressions), 0o700))
	testenv.AsNobody(t, func() {
		findings := Check(t.Context(), cfg, Options{})
		for _, what := range []string{"catalog", "impressions"} {
			found := about(t, findings, what)
			assert.Equal(t, Broken, found.Level)
			assert.Contains(t, found.Detail, "permission denied")
			assert.Contains(t, found.Detail+found.Fix, "the user of the server")
			assert.NotContains(t, found.Detail+found.Fix, "backup")
		}
	})
}

// TestDoctorDiskFull checks that a full disk is detected, although an empty file fits on
// it.
func TestDoctorDiskFull(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("this system has no device that is full: %v", err)
	}
	t.Cleanup(func() { _ = full.Close() })
	require.ErrorIs(t, fill(full), syscall.ENOSPC)
	room, err := os.Create(filepath.Join(t.TempDir(), "room"))
	require.NoError(t, err)
	require.NoError(t, errors.Join(fill(room), room.Close()))
}

func TestDoctorServices(t *testing.T) {
	t.Parallel()
	address, name := testenv.Elastic(t)
	cfg := servicesAt(t, productionRedis(t).Options().Addr, address)
	cfg.Elasticsearch.Index = name
	index := "index " + cfg.Elasticsearch.Index

	findings := Check(t.Context(), cfg, Options{})
	assert.Equal(t, []Level{OK, OK, OK, OK, OK, OK, OK, OK}, levels(findings, "redis"), "%v", findings)
	assert.Contains(t, about(t, findings, "redis persistence").Detail, "appendonly yes, appendfsync everysec")
	assert.Contains(t, about(t, findings, "redis eviction").Detail, "noeviction")
	assert.Contains(t, about(t, findings, "redis memory").Detail, "maxmemory 64.0 MiB; the filters take up to 13.4 MiB")
	assert.Equal(t, OK, about(t, findings, "elasticsearch").Level, "%v", findings)
	assert.NotContains(t, about(t, findings, "elasticsearch disks").Detail, "could not be checked")
	assert.Equal(t, []Level{Broken}, levels(findings, index), "the index is missing")

	findings = Check(t.Context(), cfg, Options{Fix: true})
	assert.Equal(t, []Level{OK, OK}, levels(findings, index), "created, and right: %v", findings)
	findings = Check(t.Context(), cfg, Options{})
	assert.Equal(t, []Level{OK}, levels(findings, index))
	replicas := about(t, findings, "elasticsearch replicas")
	assert.Contains(t, replicas.Detail, "with unassigned replicas: "+strings.Join(indices(cfg), ", "), "there is one node")

	assert.Equal(t, []Level{OK}, levels(findings, "elasticsearch index settings"))

	Check(t.Context(), cfg, Options{Accept: true})
	cfg.Dedup.WindowDays++
	findings = Check(t.Context(), cfg, Options{})
	for _, store := range []string{"redis", "elasticsearch"} {
		differ := about(t, findings, store+" settings")
		assert.Equal(t, Broken, differ.Level)
		assert.Contains(t, differ.Detail, "dedup.window_days is 8 here and 7 on the others")
	}
}

func TestDoctorServicesDown(t *testing.T) {
	t.Parallel()
	findings := Check(t.Context(), servicesAt(t, "127.0.0.1:1", "http://127.0.0.1:1"), Options{Fix: true})
	assert.Equal(t, []Level{Broken}, levels(findings, "redis"))
	assert.Equal(t, []Level{Broken}, levels(findings, "elasticsearch"))
	for _, f := range findings {
		if f.Level == Broken {
			assert.NotEmpty(t, f.Fix, "a broken thing says how to fix it")
		}
	}
}

func TestDoctorLivePopularity(t *testing.T) {
	t.Parallel()
	cfg := servicesAt(t, "127.0.0.1:1", "http://127.0.0.1:1") // no server has these addresses
	assert.Empty(t, levels(Check(t.Context(), cfg, Options{}), "live popularity"))
	cfg.Redis.URL = ""
	f := about(t, Check(t.Context(), cfg, Options{}), "live popularity")
	assert.Equal(t, OK, f.Level)
	assert.Contains(t, f.Detail, "off: with Elasticsearch it needs Redis")
}

func TestClockDifferenceReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		off  time.Duration
		want bool
	}{{0, false}, {-time.Hour, true}, {time.Hour, true}} {
		d := &doctor{cfg: onRedis(t, oneServer(t)), clock: func() time.Time { return time.Now().Add(c.off) }}
		d.checkRedis(t.Context())
		if c.want {
			assert.Contains(t, d.findings[0].Detail, "its clock differs from this machine's by")
			assert.Equal(t, Warning, d.findings[0].Level)
		} else {
			assert.Equal(t, OK, d.findings[0].Level, "%v", d.findings)
		}
	}
}

// The doctor uses the sentences of the page.
func TestDoctorSentencesDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/production.md")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(page), "`", "")), " ")
	for _, sentence := range []string{needsNoEviction, needsPersistence, needsSync, needsMemory, needsReplicas, needsDisk} {
		assert.Contains(t, text, sentence)
	}
}

// TestDoctorLeavesNoFile checks that the file by which the doctor tries the disk is gone from the directory
// before anything is written: a doctor that is killed leaves none.
func TestDoctorLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := probeFile(dir)
	require.NoError(t, err)
	require.NoError(t, fill(f))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
	require.NoError(t, f.Close())
}
