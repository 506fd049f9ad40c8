package esindex

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLeastFree parses watermarks in the notations of Elasticsearch.
func TestLeastFree(t *testing.T) {
	const gb = int64(1) << 30
	for _, c := range []struct {
		limit, headroom string
		total, want     int64
	}{
		{"85%", "", 1000 * gb, 150 * gb},
		{"0.85", "", 1000 * gb, 150 * gb},
		{"85%", "200GB", 1000 * gb, 150 * gb},
		{"85%", "100GB", 1000 * gb, 100 * gb},
		{"85%", "-1", 1000 * gb, 150 * gb},
		{"50gb", "", 1000 * gb, 50 * gb},
		{"1.5kb", "", 1000 * gb, 1536},
		{"12b", "", 1000 * gb, 12},
		{"1pb", "", 1000 * gb, 1 << 50},
		{"much", "", 1000 * gb, 0},
		{"", "", 1000 * gb, 0},
		{"xgb", "", 1000 * gb, 0},
	} {
		assert.InDelta(t, c.want, leastFree(c.limit, c.headroom, c.total), 1, "%s, at most %s", c.limit, c.headroom)
	}
}

// TestTransientSettingsOverride checks that transient settings override persistent ones, and
// these the defaults.
func TestTransientSettingsOverride(t *testing.T) {
	const name = "cluster.routing.allocation.disk.watermark.low"
	of := func(v string) map[string]any { return map[string]any{name: v} }
	s := clusterSettings{Defaults: of("1"), Persistent: of("2"), Transient: of("3")}
	assert.Equal(t, "3", s.disk("watermark.low"))
	s.Transient = nil
	assert.Equal(t, "2", s.disk("watermark.low"))
	s.Persistent = nil
	assert.Equal(t, "1", s.disk("watermark.low"))
	assert.Empty(t, s.disk("watermark.high"))
}
