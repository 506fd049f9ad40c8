package connect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/configs"
)

// TestDedupPendingTTL checks the TTL of pending items. With impressions.on: served it is the
// window, because pending means delivered. Otherwise it is that of the session.
func TestDedupPendingTTL(t *testing.T) {
	cfg := configs.Default()
	cfg.Dedup.WindowDays = 5
	cfg.Impressions.On = configs.OnServed
	assert.Equal(t, 5*24*time.Hour, Dedup(cfg).PendingTTL)
	assert.True(t, Dedup(cfg).Served)
	cfg.Impressions.On = configs.OnSeen
	assert.Equal(t, cfg.PendingTTL(), Dedup(cfg).PendingTTL)
	assert.False(t, Dedup(cfg).Served)
}
