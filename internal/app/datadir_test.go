package app

import (
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup/journal"
)

// TestOneProcessADataDir: whatever lies in the data directory, one process at a
// time uses it, and others only look.
func TestOneProcessADataDir(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(t *testing.T) configs.Config{
		"embedded": func(t *testing.T) configs.Config { return embedded(t) },
		"services": func(t *testing.T) configs.Config { return services(t) },
		"catalog in SQLite, the rest in Redis": func(t *testing.T) configs.Config {
			cfg := services(t)
			cfg.Catalog.Backend, cfg.Recall.Backend = configs.CatalogSQLite, configs.RecallMemory
			cfg.Dedup.OnFailure = configs.FailClosed // no spool, which is locked too
			return cfg
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			a := open(t, cfg)
			put(t, a, madeItems(30)...)
			_, err := Open(t.Context(), cfg, WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
			require.ErrorIs(t, err, journal.ErrLocked)
			assert.ErrorContains(t, err, cfg.DataDir)
			assert.ErrorContains(t, err, "data_dir of its own")
			for _, finding := range Doctor(t.Context(), cfg, false) {
				assert.NotEqual(t, Broken, finding.Level, finding)
			}
			assert.NotEmpty(t, ids(ask(t, a, refresh("u_1", 5))), "the first goes on")
			require.NoError(t, a.Close(t.Context()))
			open(t, cfg)
		})
	}
}
