package backup_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	dedupmemory "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/backup"
	"github.com/freshet/freshet/server/datadir"
)

// TestImpressionsOverMidnight lets a day end, and its journal become a filter, while the files of impressions
// are copied: the backup has what was recorded on each day.
func TestImpressionsOverMidnight(t *testing.T) {
	t.Parallel()
	cfg := configs.Default()
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	app, err := server.Open(t.Context(), cfg, server.WithLogger(slog.New(slog.DiscardHandler))) // makes the databases
	require.NoError(t, err)
	require.NoError(t, app.Close(t.Context()))
	impressions := filepath.Join(cfg.DataDir, datadir.Impressions)
	require.NoError(t, os.RemoveAll(impressions))
	synctest.Test(t, func(t *testing.T) {
		window := deduptest.DefaultConfig()
		store, err := dedupmemory.Open(impressions, window, time.Now)
		require.NoError(t, err)
		record := func(group string) {
			_, err := store.Record(t.Context(), []dedup.Impression{{Agent: "u_1", Group: group}}, time.Now())
			require.NoError(t, err)
		}
		record("yesterday")
		time.Sleep(24*time.Hour + 23*time.Hour + 50*time.Minute)
		record("today")
		passMidnight := sync.OnceFunc(func() {
			time.Sleep(30 * time.Minute) // the journal is kept for ten
			record("tomorrow")
		})
		dir := filepath.Join(t.TempDir(), "backup")
		_, err = backup.Make(t.Context(), cfg, dir, backup.Options{Progress: func(part string, _, _ int64) {
			if part == "impressions" {
				passMidnight()
			}
		}}, time.Now)
		require.NoError(t, err)
		require.NoFileExists(t, filepath.Join(impressions, "20000102.journal"))
		require.NoError(t, store.Close(t.Context()))

		to := cfg
		to.DataDir = filepath.Join(t.TempDir(), "restored")
		_, err = backup.Restore(t.Context(), to, dir, backup.Options{})
		require.NoError(t, err)
		restored, err := dedupmemory.Open(filepath.Join(to.DataDir, datadir.Impressions), window, time.Now)
		require.NoError(t, err)
		defer func() { require.NoError(t, restored.Close(t.Context())) }()
		checked, err := restored.Check(t.Context(), "u_1", []string{"yesterday", "today", "never"}, time.Now())
		require.NoError(t, err)
		for i, seen := range []bool{true, true, false} {
			assert.Equal(t, seen, checked.Verdicts[i] != dedup.Unseen, "%d", i)
		}
	})
}
