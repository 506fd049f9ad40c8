package connect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/configs"
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
