package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/agreement"
	"github.com/freshet/freshet/internal/testenv"
)

// TestServersThatDisagree start over the same stores with other settings: of two prefixes each
// would show what the other has shown.
func TestServersThatDisagree(t *testing.T) {
	t.Parallel()
	for _, posts := range []bool{false, true} {
		cfg := services(t)
		if posts {
			cfg.Postgres.URL = testenv.ReusedPostgres(t)
		}
		open(t, cfg)
		cfg.DataDir = t.TempDir()
		open(t, cfg)
		cfg.DataDir = t.TempDir()
		cfg.Redis.KeyPrefix += "other:"
		_, err := Open(t.Context(), cfg)
		require.ErrorIs(t, err, agreement.ErrDiffers)
		require.ErrorContains(t, err, "redis.key_prefix is "+cfg.Redis.KeyPrefix+" here and ")
	}
}
