package connect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/rediskeys"
)

// TestPendingOfDedup: with impressions.on served, pending stands for delivered, so it lasts
// as long as the window; else as long as the session.
func TestPendingOfDedup(t *testing.T) {
	cfg := configs.Default()
	cfg.Dedup.WindowDays = 5
	cfg.Impressions.On = configs.OnServed
	assert.Equal(t, 5*24*time.Hour, Dedup(cfg).PendingTTL)
	assert.True(t, Dedup(cfg).Served)
	cfg.Impressions.On = configs.OnSeen
	assert.Equal(t, cfg.PendingTTL(), Dedup(cfg).PendingTTL)
	assert.False(t, Dedup(cfg).Served)
}

func TestPostgres(t *testing.T) {
	cfg := configs.Default()
	cfg.Postgres.URL, cfg.Postgres.MaxConns, cfg.Postgres.CACert = "postgres://db/freshet", 7, "ca.pem"
	got := Postgres(cfg)
	assert.Equal(t, []any{"postgres://db/freshet", 7, "ca.pem"}, []any{got.URL, got.MaxConns, got.CACert})
}

// TestCheckAge is shorter on a cluster, by the time that a request has.
func TestCheckAge(t *testing.T) {
	cfg := configs.Default()
	cfg.Server.RequestTimeout = 3 * time.Second
	one, err := connected(t, at("127.0.0.1:1"))
	require.NoError(t, err)
	several, err := connected(t, at("127.0.0.1:1", "127.0.0.1:2"))
	require.NoError(t, err)
	assert.Equal(t, 6*time.Second, Sessions(cfg, one, rediskeys.Replicas{}, nil).Grace)
	assert.Equal(t, 3*time.Second, Sessions(cfg, several, rediskeys.Replicas{}, nil).Grace)
}
