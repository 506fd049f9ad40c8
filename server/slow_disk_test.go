package server

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/social"
)

// TestSlowDiskIsNamed has a disk that takes long to store a commit: /readyz and the log name it.
func TestSlowDiskIsNamed(t *testing.T) {
	t.Parallel()
	post := func(t *testing.T, a *App) {
		_, _, err := a.Social.CreatePost(t.Context(), social.Post{Author: "a", Caption: "Hello", Audience: social.Audience{Public: true}}, social.Creation{})
		require.NoError(t, err)
	}
	check := func(t *testing.T, a *App, log *lines, part, says string) {
		for range 2 {
			state := a.checks[part](t.Context())
			require.NoError(t, state.Err)
			assert.Contains(t, state.Warning, says)
		}
		assert.Equal(t, 1, strings.Count(log.String(), says), log.String())
	}
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		var log lines
		a := open(t, embedded(t), WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		post(t, a)
		assert.Empty(t, a.checks["data_dir"](t.Context()).Warning)
		for _, file := range a.files {
			require.NoError(t, sqlitefile.CommitsOf(file).Run(func() error { time.Sleep(600 * time.Millisecond); return nil }))
		}
		check(t, a, &log, "data_dir", sqlitefile.Disk+" took ")
	})
	t.Run("services", func(t *testing.T) {
		t.Parallel()
		var log lines
		cfg := withoutElastic(t)
		a := open(t, cfg, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		post(t, a)
		assert.Empty(t, a.checks["social"](t.Context()).Warning)
		db, err := pgx.Connect(t.Context(), strings.ReplaceAll(cfg.Postgres.URL, fewConns, ""))
		require.NoError(t, err)
		defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
		_, err = db.Exec(t.Context(), `CREATE FUNCTION slow_sync() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.8); RETURN NULL; END $$;
			CREATE CONSTRAINT TRIGGER slow_sync AFTER INSERT ON posts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow_sync()`)
		require.NoError(t, err)
		post(t, a)
		check(t, a, &log, "social", "PostgreSQL's disk, or a replica")
	})
}
