package server

import (
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/doctor"
)

// TestOneProcessADataDir checks that only one process at a time uses a data directory, whatever it
// contains, and that others can only read it. The first process is not affected.
func TestOneProcessADataDir(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(t *testing.T) configs.Config{
		"embedded": func(t *testing.T) configs.Config { return embedded(t) },
		"services": func(t *testing.T) configs.Config { return services(t) },
		"items here, all else in Redis": func(t *testing.T) configs.Config {
			_, prefix := testenv.Redis(t)
			return onRedis(t, prefix, oneRedis(t)...) // failing closed there is no spool, which is also locked
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
