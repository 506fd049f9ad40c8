package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/doctor"
	"github.com/freshet/freshet/social"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// TestDataDirLockedByOneProcess checks that only one process at a time uses a data directory,
// whatever it contains, and that others can only read it. The first process is not affected.
func TestDataDirLockedByOneProcess(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(t *testing.T) configs.Config{
		"embedded": func(t *testing.T) configs.Config { return embedded(t) },
		"services": func(t *testing.T) configs.Config { return services(t) },
		"items here, all else in Redis": func(t *testing.T) configs.Config {
			_, prefix := testenv.Redis(t)
			return onRedis(t, prefix, redisAddrs(t)...) // failing closed there is no spool, which is also locked
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			// Nothing is recorded in a filter, so all servers must know the pending items.
			a := open(t, cfg, WithClock(at(noon).Now), WithRecorder(dedup.RecorderConfig{Linger: time.Hour}))
			put(t, a, madeItems(100)...)
			_, err := Open(t.Context(), cfg, WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
			require.ErrorContains(t, err, "in use by another process")
			assert.ErrorContains(t, err, cfg.DataDir)
			assert.ErrorContains(t, err, "data_dir of its own")
			for _, finding := range doctor.Check(t.Context(), cfg, doctor.Options{}) {
				assert.NotEqual(t, doctor.Broken, finding.Level, finding)
			}
			seen := newOnce()
			for i, r := range []engine.Request{refresh("u_1", 20), loadMore("u_1", 20), refresh("u_1", 20)} {
				seen.add(t, fmt.Sprint("call ", i), ids(ask(t, a, r)))
			}
			assert.Equal(t, 60, seen.len(), "the first goes on")
			require.NoError(t, a.Close(t.Context()))
			open(t, cfg)
		})
	}
}

// TestDataDirMovedWithRedis checks that a server with Redis also watches its data directory, which
// has the catalog.
func TestDataDirMovedWithRedis(t *testing.T) {
	t.Parallel()
	cfg, _ := redisAlone(t)
	a := open(t, cfg, shortPauses)
	testenv.WaitFor(t, func() bool { return asReader(t, a, "GET", "/readyz", "") == 200 }, "ready")
	require.NoError(t, os.Rename(cfg.DataDir, cfg.DataDir+".old"))
	assert.Equal(t, 503, asReader(t, a, "GET", "/readyz", ""))
}

// TestDataDirDatabaseReplaced puts a copy in the place of one open database: what is written to it
// would be lost with a restart, so the server is not ready.
func TestDataDirDatabaseReplaced(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.DataDir = t.TempDir()
	a := open(t, cfg)
	databases, err := filepath.Glob(filepath.Join(cfg.DataDir, "*.db"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(databases), 3)
	for _, path := range databases {
		require.Equal(t, 200, asReader(t, a, "GET", "/readyz", ""))
		require.NoError(t, os.Rename(path, path+".opened"))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		assert.Equal(t, 503, asReader(t, a, "GET", "/readyz", ""), path)
		require.NoError(t, os.Rename(path+".opened", path))
	}
}

// TestDataDirRemovedRefusesWrites removes the data directory of a running server: the server
// accepts nothing that would be lost with a restart, and is not ready.
func TestDataDirRemovedRefusesWrites(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(t *testing.T, dir string){
		"removed": func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) },
		"moved":   func(t *testing.T, dir string) { require.NoError(t, os.Rename(dir, dir+".old")) },
		"another directory in its place": func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(dir, dir+".old"))
			require.NoError(t, os.CopyFS(dir+".copy", os.DirFS(dir+".old"))) // whole at once: jobs write meanwhile
			require.NoError(t, os.Rename(dir+".copy", dir))
		},
		"backups in the files' places": func(t *testing.T, dir string) {
			for _, name := range []string{"social.db", "catalog.db"} {
				data, err := os.ReadFile(filepath.Join(dir, name))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(dir, "backup"), data, 0o600))
				require.NoError(t, os.Rename(filepath.Join(dir, "backup"), filepath.Join(dir, name)))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := embedded(t)
			cfg.DataDir = filepath.Join(t.TempDir(), "data")
			require.NoError(t, os.MkdirAll(cfg.DataDir, 0o700))
			unused := filepath.Join(cfg.DataDir, "unused.db") // a copy, as a person may make it
			require.NoError(t, os.WriteFile(unused, nil, 0o600))
			a := open(t, cfg)
			put(t, a, madeItems(30)...)
			require.Equal(t, 201, asReader(t, a, "POST", "/v1/posts", `{"caption":"kept"}`))
			require.Equal(t, 200, asReader(t, a, "GET", "/readyz", ""))
			require.NoError(t, os.Remove(unused))
			require.Equal(t, 200, asReader(t, a, "GET", "/readyz", ""))
			take(t, cfg.DataDir)
			assert.Equal(t, 503, asReader(t, a, "POST", "/v1/posts", `{"caption":"lost"}`))
			assert.Equal(t, 503, asReader(t, a, "PUT", "/v1/agents/u_1/profile", `{"muted_tags":["x"]}`))
			assert.Equal(t, 503, asReader(t, a, "GET", "/readyz", ""))
			assert.Contains(t, []int{200, 503}, asReader(t, a, "GET", "/v1/timeline", ""), "read by an open connection, or by a new one that finds no file")
			if name == "backups in the files' places" { // the journal of impressions is still in its place
				return
			}
			readers := 0
			testenv.WaitFor(t, func() bool {
				readers++
				_, err := a.Engine.Feed(t.Context(), refresh(fmt.Sprint("r_", readers), 1))
				return errors.Is(err, dedup.ErrUnavailable)
			}, "no page is answered that would be shown again after a restart")
		})
	}
}

// TestDamagedDatabaseIsNamed damages a database while the server uses it: /readyz names it, and the
// server stays ready, because it answers what does not need the damaged pages.
func TestDamagedDatabaseIsNamed(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	a := open(t, cfg)
	caption := strings.Repeat("x", 1000)
	publish := func() error {
		_, _, err := a.Social.CreatePost(t.Context(), social.Post{Author: "a", Caption: caption, Audience: social.Audience{Public: true}}, social.Creation{})
		return err
	}
	for range 100 {
		require.NoError(t, publish())
	}
	require.NoError(t, a.checks["data_dir"](t.Context()).Err)
	path := filepath.Join(cfg.DataDir, socialsqlite.FileName)
	db, err := sqlitefile.Connect(path, "rw")
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
	require.NoError(t, errors.Join(err, db.Close()))
	info, err := os.Stat(path)
	require.NoError(t, err)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteAt(bytes.Repeat([]byte{0xa5}, int(info.Size())-4096), 4096) // all pages but the first
	require.NoError(t, errors.Join(err, file.Close()))
	testenv.WaitFor(t, func() bool { return publish() != nil }, "a call that reads a damaged page")
	state := a.checks["data_dir"](t.Context())
	assert.ErrorContains(t, state.Err, "social.db: the file is damaged")
	assert.Equal(t, state.Err.Error(), state.Reason)
	assert.Equal(t, 200, asReader(t, a, "GET", "/readyz", ""))
}

// TestCreatedDatabasesLogged checks that the log tells a start without data, as on a volume that is not
// mounted, from others.
func TestCreatedDatabasesLogged(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	said := func() string {
		var log bytes.Buffer
		a, err := Open(t.Context(), cfg, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, err)
		require.NoError(t, a.Close(t.Context()))
		return log.String()
	}
	assert.Contains(t, said(), `msg="data_dir lacks databases; they are created empty" data_dir=`+cfg.DataDir+` databases="[catalog.db social.db events.db]"`)
	assert.NotContains(t, said(), "created")
	require.NoError(t, os.Remove(filepath.Join(cfg.DataDir, "events.db")))
	assert.Contains(t, said(), `databases=[events.db]`)
	// An interrupted copy leaves an empty file.
	require.NoError(t, os.Truncate(filepath.Join(cfg.DataDir, "catalog.db"), 0))
	log := said()
	assert.Contains(t, log, `databases=[catalog.db]`)
	assert.Contains(t, log, "level=WARN", "other databases have data: something is missing")
}

// TestNetworkFileSystemLogged checks that a start says that databases are on a file system of a network.
func TestNetworkFileSystemLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	b := newBuilder(embedded(t), []Option{WithLogger(slog.New(slog.NewTextHandler(&log, nil)))})
	b.logNetwork("")
	assert.Empty(t, log.String())
	b.logNetwork("nfs")
	assert.Contains(t, log.String(), "level=WARN")
	assert.Contains(t, log.String(), "file_system=nfs")
}
