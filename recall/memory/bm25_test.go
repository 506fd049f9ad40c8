package memory

import (
	"math"
	"strings"
	"testing"

	"github.com/freshet/freshet/feed"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNorms(t *testing.T) {
	t.Parallel()
	// 300 − 24 = 276 = 0b100010100, whose four highest bits are 256; 24 + 256.
	for length, kept := range map[uint32]float64{0: 0, 1: 1, 23: 23, 24: 24, 39: 39, 40: 40, 41: 40, 42: 42, 300: 280} {
		assert.Equal(t, kept, decodeNorm(encodeNorm(length)), "%d", length)
	}
	last := uint8(0)
	for length := uint32(0); length < 1<<15; length++ {
		norm := encodeNorm(length)
		require.GreaterOrEqual(t, norm, last, "%d", length)
		require.LessOrEqual(t, norm-last, uint8(1), "%d: a norm is left out", length)
		kept := decodeNorm(norm)
		require.LessOrEqual(t, kept, float64(length))
		require.Greater(t, kept, float64(length)*7/8-1)
		require.Equal(t, norm, encodeNorm(uint32(kept)), "%d: what is kept is kept", length)
		last = norm
	}
	assert.LessOrEqual(t, decodeNorm(encodeNorm(math.MaxUint32)), float64(math.MaxUint32))
}

// TestManyTimes puts a word into a text more often than a byte can count, and
// takes it through a merge and out again.
func TestManyTimes(t *testing.T) {
	t.Parallel()
	s := New()
	s.Upsert(repeated("a", 1000))
	s.Upsert(repeated("b", 254))
	s.Upsert(repeated("c", 255))
	for i := range s.views {
		v := &s.views[i]
		want := map[string]uint64{"a": 1000, "b": 254, "c": 255}[v.ids.at(0)]
		assert.Equal(t, want, v.fields[titleField].length(0))
	}
	merged := merge(s.views, s.count, nil)
	f := &merged.fields[titleField]
	from, to := f.postings(0)
	require.Equal(t, uint32(3), to-from)
	for i := from; i < to; i++ {
		item := f.items[i]
		want := map[string]uint32{"a": 1000, "b": 254, "c": 255}[merged.ids.at(item)]
		assert.Equal(t, want, f.frequency(f.freqs[i], item, 0))
	}
	assert.Equal(t, uint64(1509), s.statistics.lengths[titleField])
	s.Delete("a")
	assert.Equal(t, uint64(509), s.statistics.lengths[titleField])
	assert.Equal(t, uint32(2), s.statistics.having[titleField])
}

func repeated(id string, times int) []feed.Item {
	return []feed.Item{{ID: id, Title: strings.Repeat("word ", times), UpdateTime: 1}}
}

func FuzzParseCursor(f *testing.F) {
	f.Add(cursor{score: 1.5, time: 1_700_000_000, id: "a"}.String())
	f.Add("")
	f.Add("bQ")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(text)
		if err != nil {
			return
		}
		again, err := parseCursor(c.String())
		require.NoError(t, err)
		require.Equal(t, c, again)
	})
}
