package mirror

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// header is that of a filter for 1,000 members with 3 in it, as RedisBloom 2.8
// wrote it.
const header = "\x03\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x05\x00\x00\x00\x02\x00\x00\x00" +
	"\x60\x07\x00\x00\x00\x00\x00\x00\x00\x3b\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00" +
	"\x3d\x0f\xee\xce\xda\x6d\x47\x3f\x66\xa5\x61\x34\xd3\x26\x2e\x40\x0b\x00\x00\x00\xe8\x03\x00\x00\x00\x00\x00\x00\x00"

var headerInfo = redis.BFInfo{Capacity: 1000, Size: 1984, Filters: 1, ItemsInserted: 3, ExpansionRate: 2}

func TestParseHeader(t *testing.T) {
	t.Parallel()
	h, err := parseHeader(header)
	require.NoError(t, err)
	require.Len(t, h.layers, 1)
	l := h.layers[0]
	assert.EqualValues(t, 15104, l.bits)
	assert.EqualValues(t, 11, l.hashes)
	assert.EqualValues(t, 1000, l.capacity)
	assert.InEpsilon(t, 0.000715, l.err, 1e-9)
	require.NoError(t, h.agrees(headerInfo))
	for _, change := range []func(*redis.BFInfo){
		func(i *redis.BFInfo) { i.Capacity++ },
		func(i *redis.BFInfo) { i.Filters++ },
		func(i *redis.BFInfo) { i.ItemsInserted++ },
		func(i *redis.BFInfo) { i.ExpansionRate++ },
		func(i *redis.BFInfo) { i.Size = 1887 },
		func(i *redis.BFInfo) { i.Size = 100_000 },
	} {
		info := headerInfo
		change(&info)
		require.ErrorIs(t, h.agrees(info), errLayout)
	}
}

// No single bit may be another one without the header contradicting itself, or
// BF.INFO. What may is no harm: the last digits of the two fractions, and the
// number of hashes by one, which comparing the copy finds.
func TestHeaderWithAnotherBit(t *testing.T) {
	t.Parallel()
	for at := range len(header) {
		field := at - headerSize
		if field >= 24 && field < 30 || field >= 32 && field < 38 || field == 40 {
			continue
		}
		for bit := range 8 {
			raw := []byte(header)
			raw[at] ^= 1 << bit
			h, err := parseHeader(string(raw))
			if err == nil {
				err = h.agrees(headerInfo)
			}
			if at == 12 && bit == 0 { // rounding: told by the size alone
				continue
			}
			require.ErrorIs(t, err, errLayout, "byte %d, bit %d", at, bit)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(header)
	f.Add(header[:headerSize])
	f.Add("")
	f.Fuzz(func(t *testing.T, data string) {
		h, err := parseHeader(data)
		if err != nil {
			require.ErrorIs(t, err, errLayout)
			return
		}
		// What is accepted is whole and consistent.
		require.Len(t, data, headerSize+layerSize*len(h.layers))
		require.EqualValues(t, len(h.layers), binary.LittleEndian.Uint32([]byte(data)[8:]))
		var at, members uint64
		for _, l := range h.layers {
			require.Equal(t, at, l.beginsAtBytes)
			require.Equal(t, l.bits, 8*l.bytes)
			require.LessOrEqual(t, l.members, l.capacity)
			require.False(t, math.IsNaN(l.bpe))
			at, members = at+l.bytes, members+l.members
		}
		require.Equal(t, h.size(), at)
		require.Equal(t, h.members, members)
	})
}
