package dedup_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
)

// size formats bytes for the table.
func size(bytes uint64) string {
	for _, unit := range []struct {
		name  string
		bytes float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}} {
		if n := float64(bytes) / unit.bytes; n >= 1 {
			return fmt.Sprintf("%.1f %s", n, unit.name)
		}
	}
	return fmt.Sprintf("%.1f KiB", float64(bytes)/1024)
}

// thousands formats 1234567 as 1,234,567.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// TestSizingTable checks that the table of docs/capacity.md matches the formulas.
func TestSizingTable(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| readers a day | items each | `dedup.daily_capacity` | filters of the window | least `dedup.shards` | one filter |\n|---|---|---|---|---|---|\n")
	for _, c := range []struct{ readers, items int }{
		{1_000, 100}, {10_000, 100}, {100_000, 100}, {100_000, 500}, {1_000_000, 100}, {1_000_000, 200}, {10_000_000, 200}, {100_000_000, 200},
	} {
		cfg := deduptest.DefaultConfig()
		cfg.DailyCapacity = c.readers * c.items
		days := uint64(cfg.WindowDays)
		shards := 1 // the smallest number with a small enough filter
		for cfg.RedisFilter(shards).Bytes() > 128<<20 {
			shards++
		}
		fmt.Fprintf(&table, "| %s | %d | %s | %s | %d | %s |\n", thousands(c.readers), c.items, thousands(cfg.DailyCapacity),
			size(days*uint64(shards)*cfg.RedisFilter(shards).Bytes()), shards, size(cfg.RedisFilter(shards).Bytes()))
	}
	doc, err := os.ReadFile("../docs/capacity.md")
	require.NoError(t, err)
	assert.Contains(t, string(doc), table.String(), "put this into docs/capacity.md:\n%s", table.String())

	cfg := deduptest.DefaultConfig()
	each := func(f dedup.FilterSize) float64 { return float64(f.Bytes()) / float64(cfg.DailyCapacity) }
	assert.Contains(t, string(doc), fmt.Sprintf("p = %.5f", cfg.FilterRate()))
	assert.Contains(t, string(doc), fmt.Sprintf("an impression, %.2f bytes", each(cfg.RedisFilter(1))))
	assert.Equal(t, cfg.MemoryFilter(), cfg.RedisFilter(1), "in process and in Redis alike")
}
