package dedup_test

import (
	"testing"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
)

// TestFilterSizes compares the sizes with the library that computes those of the in-process
// filters, and with the configured rate of the window.
func TestFilterSizes(t *testing.T) {
	t.Parallel()
	for _, capacity := range []int{1, 1000, 50_000, 1_000_000, 3_141_592} {
		for _, rate := range []float64{0.0001, 0.01, 0.3} {
			cfg := deduptest.DefaultConfig()
			cfg.DailyCapacity, cfg.FalsePositiveRate = capacity, rate
			m, k := bloom.EstimateParameters(uint(capacity), cfg.FilterRate()/2)
			in := cfg.MemoryFilter()
			assert.Equal(t, dedup.FilterSize{Capacity: capacity, Rate: cfg.FilterRate() / 2, Bits: uint64(m), Hashes: int(k)}, in)

			days := make([]float64, cfg.WindowDays)
			for i := range days {
				days[i] = in.FalsePositives(float64(capacity))
			}
			if capacity > 1 {
				busy := in.FalsePositives(10 * float64(capacity))
				assert.Greater(t, busy, days[0])
				assert.Less(t, busy, 1.1*cfg.FilterRate(), "at ten times the capacity")
				assert.InEpsilon(t, rate/2, dedup.WindowFalsePositives(days), 0.15, "full first layers of %d at %v: the others have the other half", capacity, rate)
			}
		}
	}
	cfg := deduptest.DefaultConfig()
	assert.Zero(t, cfg.MemoryFilter().FalsePositives(0))
	assert.Len(t, cfg.MemoryFilter().Layers(float64(cfg.DailyCapacity)), 1)
	assert.Len(t, cfg.MemoryFilter().Layers(10*float64(cfg.DailyCapacity)), 4, "1 + 2 + 4 < 10 ≤ 1 + 2 + 4 + 8")
	assert.Equal(t, 15, int(cfg.RedisFilter(1).Bits/uint64(cfg.DailyCapacity)), "bits an impression in RedisBloom")
	assert.Equal(t, 62_500, cfg.RedisFilter(16).Capacity)
	assert.InEpsilon(t, 16*cfg.RedisFilter(16).Bits, cfg.RedisFilter(1).Bits, 1e-5, "shards cost nothing")
}
