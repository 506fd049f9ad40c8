package dedup_test

import (
	"fmt"
	"math"

	"github.com/freshet/freshet/dedup"
)

// The configured rate applies to the whole window, so each day's filter needs a stricter rate.
func ExampleConfig_FilterRate() {
	cfg := dedup.Config{WindowDays: 7, FalsePositiveRate: 0.01, DailyCapacity: 1_000_000}
	p := cfg.FilterRate()
	bits := -math.Log2(p) / math.Ln2 // for each impression, in an optimal filter
	fmt.Printf("window %.2f %%, each of %d filters %.3f %%, %.1f bits an impression\n",
		100*cfg.FalsePositiveRate, cfg.WindowDays, 100*p, bits)
	fmt.Printf("%.1f MB a day for %d impressions\n", bits*float64(cfg.DailyCapacity)/8/1e6, cfg.DailyCapacity)
	// Output:
	// window 1.00 %, each of 7 filters 0.143 %, 13.6 bits an impression
	// 1.7 MB a day for 1000000 impressions
}
