package mirror

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/redis/go-redis/v9"
)

// errLayout says that a dump is not laid out as this package knows it.
var errLayout = errors.New("the server's Bloom filter dumps are not laid out as those of RedisBloom 2.8")

// The first answer of BF.SCANDUMP describes the filter; all numbers are little
// endian and packed:
//
//	members (u64)  layers (u32)  options (u32)  growth (u32)
//	a layer: bytes (u64)  bits (u64)  members (u64)  error (f64)
//	         bits a member (f64)  hashes (u32)  capacity (u64)  log₂ bits (u8)
//
// The answers after it are the layers' bits, one layer after the other, in
// pieces: the piece asked for with iterator i begins at byte i−1.
const (
	headerSize = 8 + 4 + 4 + 4
	layerSize  = 8 + 8 + 8 + 8 + 8 + 4 + 8 + 1
	// layersMost is more than a filter can have whose layers grow: each is at
	// least as large as the one before, and BF.RESERVE refuses less.
	layersMost = 1024
)

// Options of a filter.
const (
	optNoRound = 1 // the number of bits is not rounded to a power of two
	optForce64 = 4 // 64-bit hashes; else 32-bit ones, which are not known here
)

// dumpHeader describes a filter.
type dumpHeader struct {
	members uint64
	options uint32
	growth  uint32
	layers  []dumpLayer
}

// dumpLayer describes one layer of a filter.
type dumpLayer struct {
	bytes, bits   uint64
	members       uint64
	err, bpe      float64
	hashes        uint32
	capacity      uint64
	logBits       uint8 // 0: the number of bits is no power of two
	beginsAtBytes uint64
}

// parseHeader reads a header. The error wraps errLayout and says what does not
// fit: a layer's fields follow from each other, so that bytes that mean
// something else are not taken for a header.
func parseHeader(data string) (dumpHeader, error) {
	if len(data) < headerSize {
		return dumpHeader{}, fmt.Errorf("%w: a header of %d bytes", errLayout, len(data))
	}
	raw, le := []byte(data), binary.LittleEndian
	h := dumpHeader{members: le.Uint64(raw), options: le.Uint32(raw[12:]), growth: le.Uint32(raw[16:])}
	n := le.Uint32(raw[8:])
	if n == 0 || n > layersMost || len(raw) != headerSize+int(n)*layerSize {
		return dumpHeader{}, fmt.Errorf("%w: a header of %d bytes for %d layers", errLayout, len(raw), n)
	}
	if h.options&optForce64 == 0 || h.options&^(optNoRound|optForce64) != 0 {
		return dumpHeader{}, fmt.Errorf("%w: options %#x", errLayout, h.options)
	}
	var members, at uint64
	for raw = raw[headerSize:]; len(raw) > 0; raw = raw[layerSize:] {
		l := dumpLayer{
			bytes: le.Uint64(raw), bits: le.Uint64(raw[8:]), members: le.Uint64(raw[16:]),
			err: math.Float64frombits(le.Uint64(raw[24:])), bpe: math.Float64frombits(le.Uint64(raw[32:])),
			hashes: le.Uint32(raw[40:]), capacity: le.Uint64(raw[44:]), logBits: raw[52], beginsAtBytes: at,
		}
		if problem := l.problem(); problem != "" {
			return dumpHeader{}, fmt.Errorf("%w: layer %d: %s", errLayout, len(h.layers), problem)
		}
		h.layers = append(h.layers, l)
		members, at = members+l.members, at+l.bytes
	}
	if members != h.members {
		return dumpHeader{}, fmt.Errorf("%w: %d members, but %d in the layers", errLayout, h.members, members)
	}
	return h, nil
}

// problem says which fields of a layer contradict each other. A Bloom filter
// for error e takes −ln e / (ln 2)² bits a member and ln 2 times as many
// hashes.
func (l dumpLayer) problem() string {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*b }
	switch {
	case !(l.err > 0 && l.err < 1) || !near(l.bpe, -math.Log(l.err)/(math.Ln2*math.Ln2)):
		return fmt.Sprintf("error %v with %v bits a member", l.err, l.bpe)
	case math.Abs(float64(l.hashes)-math.Ln2*l.bpe) > 1.001:
		return fmt.Sprintf("%d hashes with %v bits a member", l.hashes, l.bpe)
	case l.bytes == 0 || l.bytes%8 != 0 || l.bytes > 1<<48 || l.bits != 8*l.bytes:
		return fmt.Sprintf("%d bits in %d bytes", l.bits, l.bytes)
	case l.logBits == 0 && math.Abs(float64(l.bits)-float64(l.capacity)*l.bpe) > 64+1e-6*float64(l.bits):
		return fmt.Sprintf("%d bits for %d members of %v", l.bits, l.capacity, l.bpe)
	case l.logBits != 0 && (l.logBits > 63 || l.bits != 1<<l.logBits):
		return fmt.Sprintf("%d bits, not 2^%d", l.bits, l.logBits)
	case l.members > l.capacity:
		return fmt.Sprintf("%d members where %d fit", l.members, l.capacity)
	}
	return ""
}

// size is the number of bytes that the layers' bits take.
func (h dumpHeader) size() (sum uint64) {
	for _, l := range h.layers {
		sum += l.bytes
	}
	return sum
}

// agrees compares a header with what BF.INFO says of the same filter.
func (h dumpHeader) agrees(info redis.BFInfo) error {
	var capacity uint64
	for _, l := range h.layers {
		capacity += l.capacity
	}
	overhead := info.Size - int64(h.size())
	if int64(capacity) != info.Capacity || int64(len(h.layers)) != info.Filters || int64(h.members) != info.ItemsInserted ||
		int64(h.growth) != info.ExpansionRate || overhead < 0 || overhead > 4096*int64(len(h.layers)) {
		return fmt.Errorf("%w: %d members in %d layers for %d, growing by %d, of %d bytes, but BF.INFO says %+v",
			errLayout, h.members, len(h.layers), capacity, h.growth, h.size(), info)
	}
	return nil
}
