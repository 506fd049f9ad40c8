package connect

import (
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
)

// day is the unit of dedup.window_days.
const day = 24 * time.Hour

// Dedup returns what the configuration says of the dedup window.
func Dedup(cfg configs.Config) dedup.Config {
	d := dedup.Config{
		WindowDays: cfg.Dedup.WindowDays, FalsePositiveRate: cfg.Dedup.FalsePositiveRate,
		DailyCapacity: cfg.Dedup.DailyCapacity, Shards: cfg.Dedup.Shards,
		Served: cfg.Impressions.On == configs.OnServed, PendingTTL: cfg.PendingTTL(),
	}
	if d.Served { // pending stands for delivered: it counts as long as its filter would
		d.PendingTTL = time.Duration(d.WindowDays) * day
	}
	return d
}
