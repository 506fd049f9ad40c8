package dedup

import (
	"fmt"
	"math"
	"time"
)

// DefaultConfig is the configuration an empty one stands for.
func DefaultConfig() Config {
	return Config{
		WindowDays:        7,
		FalsePositiveRate: 0.01,
		DailyCapacity:     1_000_000,
		Shards:            1,
		PendingTTL:        7 * 24 * time.Hour,
		Served:            true,
	}
}

// Validate says which value is unusable.
func (c Config) Validate() error {
	switch {
	case c.WindowDays < 1 || c.WindowDays > 60:
		return fmt.Errorf("dedup.window_days must be 1 to 60, not %d", c.WindowDays)
	case !(c.FalsePositiveRate > 0 && c.FalsePositiveRate < 1):
		return fmt.Errorf("dedup.false_positive_rate must lie between 0 and 1, both excluded, not %v", c.FalsePositiveRate)
	case c.DailyCapacity < 1:
		return fmt.Errorf("dedup.daily_capacity must be at least 1, not %d", c.DailyCapacity)
	case c.Shards < 1 || c.Shards > 4096:
		return fmt.Errorf("dedup.shards must be 1 to 4096, not %d", c.Shards)
	case c.PendingTTL <= 0:
		return fmt.Errorf("impressions.pending_ttl must be longer than 0, not %s", c.PendingTTL)
	}
	return nil
}

// FilterRate is the false-positive probability p each daily filter may have so
// that the union of all days stays at the configured rate:
//
//	p = 1 − (1 − rate)^(1/days)
//
// since an unseen item passes the window only if it passes every filter.
func (c Config) FilterRate() float64 {
	return 1 - math.Pow(1-c.FalsePositiveRate, 1/float64(c.WindowDays))
}

// ShardCapacity is the number of impressions one of shards filters of a day is
// sized for.
func (c Config) ShardCapacity(shards int) int {
	return (c.DailyCapacity + shards - 1) / shards
}
