package feed_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// TestSums checks that sums and epochs, evaluated as a store does, equal the counts, over two years
// in steps that reach every part of an epoch.
func TestSums(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC).Unix()
	counts := feed.Counts{}
	for act := int64(0); act < 730; act += 61 {
		at := start + act*86_400
		counts = counts.Add(at).Add(at + 60)
		for hours := int64(0); hours < 24*300; hours += 7 {
			moment := at + 60 + hours*3600
			wantShort, wantLong := counts.At(moment)
			s, l := counts.Sums()
			require.InDelta(t, wantShort, s.Count(feed.LiveEpochs(feed.ShortHalfLife, moment)), 1e-12, "%d hours after day %d", hours, act)
			require.InDelta(t, wantLong, l.Count(feed.LiveEpochs(feed.LongHalfLife, moment)), 1e-12, "%d hours after day %d", hours, act)
		}
	}
}

// TestLiveEpochs checks that no factor becomes 0 or infinite as a float32.
func TestLiveEpochs(t *testing.T) {
	t.Parallel()
	for half := int64(0); half < 1000; half++ {
		live := feed.LiveEpochs(feed.ShortHalfLife, 2_000_000_000+half*3600)
		require.NotEmpty(t, live)
		for i, e := range live {
			require.Equal(t, live[0].Number-int64(i), e.Number)
			require.Positive(t, float32(e.Factor))
			require.LessOrEqual(t, e.Factor, 1.0)
		}
	}
	assert.Len(t, feed.LiveEpochs(feed.LongHalfLife, 0), 1)
	assert.Equal(t, []feed.Epoch{{Number: 0, Factor: math.Exp2(-1)}}, feed.LiveEpochs(feed.LongHalfLife, 48*3600))
}
