package evaluation

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// TestSweepable sets each parameter of a ranking, and reads it back.
func TestSweepable(t *testing.T) {
	live := feed.DefaultRanking()
	gaussian, err := live.With("curves=single")
	require.NoError(t, err)
	for change := range strings.SplitSeq(gaussian.String(), ",") {
		name, value, _ := strings.Cut(change, "=")
		if strings.HasPrefix(name, "home.") { // affects no list of for-you
			continue
		}
		require.Contains(t, Sweepable(), name)
		p, err := ParseRange(name, value, 2)
		require.NoError(t, err)
		assert.InDelta(t, p.Values[0], p.Of(gaussian), 1e-12, name)
		assert.Equal(t, change, p.Change(0))
		assert.Equal(t, name == "scale" || name == "offset" || name == "decay", math.IsNaN(p.Of(live)), "%s beside curves", name)
	}
}

func TestParseRange(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		steps      int
		want       string
	}{
		{"scale", "6h..168h", 8, "6h 9h45m 16h 25h 40h 65h 104h 168h"},
		{"scale", "90s..6m", 3, "1m30s 3m 6m"},
		{"scale", "72h,24h,24h,1m", 8, "1m 24h 72h"},
		{"scale", "24h", 8, "24h"},
		{"scale", "23h..24h", 5, "23h 24h"},
		{"offset", "0h..6h", 4, "0s 2h 4h 6h"},
		{"weight", "0..0.6", 4, "0 0.2 0.4 0.6"},
		{"learned.words", "0..1", 3, "0 0.5 1"},
		{"learned.half_life", "24h..960h", 3, "24h 152h 960h"},
		{"explore.share", "0.05,0.2", 8, "0.05 0.2"},
	} {
		got, err := ParseRange(tt.name, tt.text, tt.steps)
		require.NoError(t, err)
		texts := make([]string, len(got.Values))
		for i, v := range got.Values {
			texts[i] = got.Text(v)
		}
		assert.Equal(t, tt.want, strings.Join(texts, " "), "%s %s", tt.name, tt.text)
		assert.True(t, slices.IsSorted(got.Values))
	}
}
