package server

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/server/doctor"
)

// hashes returns the hash of each file below a directory, by its path there.
func hashes(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	all := map[string][32]byte{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") { // readers write that
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = sha256.Sum256(data)
		return err
	}))
	return all
}

// usedDir returns a data directory that an embedded server has used on two days.
func usedDir(t *testing.T) configs.Config {
	t.Helper()
	cfg := embedded(t)
	cfg.DataDir = t.TempDir()
	for _, days := range []int{0, 1} {
		a := open(t, cfg, WithClock(at(noon.AddDate(0, 0, days)).Now))
		put(t, a, madeItems(30)...)
		require.Equal(t, 201, asReader(t, a, "POST", "/v1/posts", `{"caption":"kept"}`))
		ask(t, a, refresh("u_1", 5))
		require.NoError(t, a.Close(context.WithoutCancel(t.Context())))
	}
	// As after a kill; a clean stop folds it into the filter.
	j, err := journal.Open(filepath.Join(cfg.DataDir, datadir.Impressions, "20260307.journal"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, j.Append(journal.Entry{Kind: journal.Served, At: noon.AddDate(0, 0, 1).UnixMilli(), Agent: "u_1", Groups: []string{"g"}}))
	require.NoError(t, j.Close())
	return cfg
}

// rewrite replaces the contents of a file.
func rewrite(t *testing.T, path string, change func(data []byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, change(data), 0o600))
}

// statements runs statements on a SQLite file.
func statements(t *testing.T, path string, texts ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	for _, text := range texts {
		_, err := db.ExecContext(t.Context(), text)
		require.NoError(t, err, text)
	}
	require.NoError(t, db.Close())
}

// filesWithoutFormat are the files whose contents have no format of a version. Of pages for retries, lines
// that are not understood are left out.
var filesWithoutFormat = []string{"lock", "clock.json", "pages", "pages.older"}

// TestSchemaOfOtherVersionRefused replaces each file of a data directory, one at a time, with one
// of a newer version, of a version before the first release, of another program, and one that lacks
// something. The server does not start and the doctor reports it, naming the file; no file is
// changed.
func TestSchemaOfOtherVersionRefused(t *testing.T) {
	t.Parallel()
	cfg := usedDir(t)
	whole := cfg.DataDir
	other := func(t *testing.T, path string) {
		rewrite(t, path, func([]byte) []byte { return []byte("this is something else") })
	}
	newer := func(t *testing.T, path string) {
		rewrite(t, path, func(data []byte) []byte { data[7]++; return data })
	}
	databases := map[string]func(t *testing.T, path string){
		"another program's file":     other,
		"another program's database": func(t *testing.T, path string) { statements(t, path, "PRAGMA application_id = 7") },
		"newer": func(t *testing.T, path string) {
			statements(t, path, "PRAGMA user_version = 99", "DROP TABLE freshet_schema")
		},
		"before the first release": func(t *testing.T, path string) { statements(t, path, "PRAGMA user_version = 0") },
		"a table is missing": func(t *testing.T, path string) {
			statements(t, path, map[string]string{"catalog.db": "DROP TABLE popularity", "social.db": "DROP TABLE likes", "events.db": "DROP TABLE acts", "coread.db": "DROP TABLE acts"}[filepath.Base(path)])
		},
	}
	changes := map[string]map[string]func(t *testing.T, path string){
		".db":      databases,
		".journal": {"another program's": other, "newer": newer},
		".filter":  {"another program's": other, "newer": newer},
	}
	kinds := map[string]bool{}
	for name := range hashes(t, whole) {
		base, kind := filepath.Base(name), filepath.Ext(name)
		if assert.True(t, changes[kind] != nil || slices.Contains(filesWithoutFormat, base), "is the format of %s inspected?", name) {
			kinds[kind] = true
		}
		for what, change := range changes[kind] {
			t.Run(name+", "+what, func(t *testing.T) {
				cfg := cfg
				cfg.DataDir = t.TempDir()
				require.NoError(t, os.CopyFS(cfg.DataDir, os.DirFS(whole)))
				change(t, filepath.Join(cfg.DataDir, name))
				before := hashes(t, cfg.DataDir)
				_, err := Open(t.Context(), cfg)
				require.ErrorContains(t, err, base)
				require.Equal(t, before, hashes(t, cfg.DataDir))
				broken := false
				for _, f := range doctor.Check(t.Context(), cfg, doctor.Options{Fix: true}) {
					broken = broken || f.Level == doctor.Broken && strings.Contains(f.Detail, base)
					assert.NotContains(t, f.Fix, "--fix", "it does not help")
				}
				assert.True(t, broken)
				assert.Equal(t, before, hashes(t, cfg.DataDir))
			})
		}
	}
	for kind := range changes {
		assert.True(t, kinds[kind], "there is no %s", kind)
	}
	open(t, cfg)
}

// TestSchemaOfNewerSpoolRefused checks that a segment of another format is refused, and not set
// aside.
func TestSchemaOfNewerSpoolRefused(t *testing.T) {
	t.Parallel()
	cfg := onRedis(t, "unused:", "127.0.0.1:1")
	dir := filepath.Join(cfg.DataDir, datadir.Spool)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "00000000000000000001.spool"), []byte("FRSHJNL\x63…"), 0o600))
	before := hashes(t, cfg.DataDir)
	_, err := Open(t.Context(), cfg)
	require.ErrorContains(t, err, "00000000000000000001.spool")
	assert.Equal(t, before, hashes(t, cfg.DataDir))
}

// execute runs a statement on a PostgreSQL.
func execute(t *testing.T, url, text string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), text)
	require.NoError(t, err)
	require.NoError(t, c.Close(t.Context()))
}

// TestSchemaRefusedInPostgresChangesNoFile checks that a schema in PostgreSQL that cannot be used
// is found before any file of the data directory is changed.
func TestSchemaRefusedInPostgresChangesNoFile(t *testing.T) {
	t.Parallel()
	cfg := usedDir(t)
	_, prefix := testenv.Redis(t)
	cfg.Redis.KeyPrefix, cfg.Redis.URL = prefix, testenv.RedisURL(t)
	cfg.Postgres.URL = testenv.Postgres(t)
	execute(t, cfg.Postgres.URL, `CREATE TABLE posts (id int)`)
	before := hashes(t, cfg.DataDir)
	_, err := Open(t.Context(), cfg)
	require.ErrorContains(t, err, "it belongs to another program")
	assert.Equal(t, before, hashes(t, cfg.DataDir))
	execute(t, cfg.Postgres.URL, `DROP TABLE posts`)
	open(t, cfg)
}
