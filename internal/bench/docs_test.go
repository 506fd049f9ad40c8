package bench

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
)

// TestScalingTable keeps the rows of docs/scaling.md that are about filters
// equal to how filters are sized.
func TestScalingTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/scaling.md")
	require.NoError(t, err)
	for _, row := range []struct {
		impressions, shards int
		name                string
	}{
		{1_000_000, 1, "1 million (the default)"},
		{200_000_000, 4, "200 million"},
		{20_000_000_000, 256, "20 billion"},
	} {
		cfg := dedup.DefaultConfig()
		cfg.DailyCapacity = row.impressions
		inProcess, one := cfg.MemoryFilter(), cfg.RedisFilter(row.shards)
		day := float64(one.Bytes()) * float64(row.shards)
		want := fmt.Sprintf("| %s | %.2f | %d | %.2f | %s | %s | %s |", row.name,
			float64(inProcess.Bytes())/float64(row.impressions), row.shards, day/float64(row.impressions),
			size(float64(one.Bytes())), size(day), size(7*day))
		assert.Contains(t, string(text), want)
	}
	rate := dedup.DefaultConfig().FilterRate()
	assert.Contains(t, string(text), fmt.Sprintf("p = %.5f", rate))
}

// size writes bytes in MB or GB, of a thousand.
func size(bytes float64) string {
	if bytes >= 1e9 {
		return fmt.Sprintf("%.1f GB", bytes/1e9)
	}
	return fmt.Sprintf("%.1f MB", bytes/1e6)
}
