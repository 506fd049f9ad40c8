package dedup

import (
	"fmt"
	"math"
)

// Validate returns an error that names the invalid value.
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
		return fmt.Errorf("the pending TTL must be longer than 0, not %s", c.PendingTTL)
	}
	return nil
}

// FilterRate returns the false-positive probability p that each daily filter may have so that the
// union of all days stays at the configured rate:
//
//	p = 1 − (1 − rate)^(1/days)
//
// because an unseen item is reported as unseen only if every filter reports so.
func (c Config) FilterRate() float64 {
	return 1 - math.Pow(1-c.FalsePositiveRate, 1/float64(c.WindowDays))
}

// ShardCapacity returns the number of impressions that each of a day's shards is sized for.
func (c Config) ShardCapacity(shards int) int {
	return (c.DailyCapacity + shards - 1) / shards
}

// FilterSize is the size of one Bloom filter, or of the first layer of one that grows.
type FilterSize struct {
	Capacity int     // impressions it is sized for
	Rate     float64 // false-positive probability at capacity
	Bits     uint64  // m
	Hashes   int     // k, bits set for each impression
}

// Layers returns the layers of a filter that holds n impressions, starting with this one: each has
// twice the capacity of the previous one, at half its rate.
func (f FilterSize) Layers(n float64) []FilterSize {
	layers := []FilterSize{f}
	for n > float64(f.Capacity) {
		n -= float64(f.Capacity)
		f = SizeFilter(2*f.Capacity, f.Rate/2)
		layers = append(layers, f)
	}
	return layers
}

// Bytes returns the memory of the filter's bits.
func (f FilterSize) Bytes() uint64 { return (f.Bits + 63) / 64 * 8 }

// FalsePositives returns the probability that a filter with n impressions reports one that it does
// not hold. For each layer that is (B. H. Bloom 1970, in the usual approximation)
//
//	(1 − e^(−kn/m))^k
//
// where n is the number in that layer.
func (f FilterSize) FalsePositives(n float64) float64 {
	var layers []float64
	for _, l := range f.Layers(n) {
		k, held := float64(l.Hashes), min(n, float64(l.Capacity))
		layers = append(layers, math.Pow(1-math.Exp(-k*held/float64(l.Bits)), k))
		n -= held
	}
	return WindowFalsePositives(layers)
}

// MemoryFilter returns the size of the first layer of a day's in-process filter. It has half the
// rate of [Config.FilterRate], because further layers may follow.
func (c Config) MemoryFilter() FilterSize { return SizeFilter(c.DailyCapacity, c.FilterRate()/2) }

// RedisFilter returns the size of one of a day's shards in RedisBloom while it has a single layer.
// RedisBloom gives the first layer of a growing filter half the requested error rate.
func (c Config) RedisFilter(shards int) FilterSize {
	return SizeFilter(c.ShardCapacity(shards), c.FilterRate()/2)
}

// SizeFilter returns the size of a Bloom filter for n impressions at the false-positive rate p, as
// bits-and-blooms and RedisBloom compute it:
//
//	m = ⌈−n ln p / (ln 2)²⌉,  k = ⌈m/n · ln 2⌉
func SizeFilter(n int, p float64) FilterSize {
	m := math.Ceil(-float64(n) * math.Log(p) / (math.Ln2 * math.Ln2))
	return FilterSize{Capacity: n, Rate: p, Bits: uint64(m), Hashes: int(math.Ceil(m / float64(n) * math.Ln2))}
}

// WindowFalsePositives returns the probability that at least one of the filters, or of the layers
// of one filter, reports an unseen impression as seen, given the probability of each.
func WindowFalsePositives(filters []float64) float64 {
	unseen := 1.0
	for _, p := range filters {
		unseen *= 1 - p
	}
	return 1 - unseen
}
