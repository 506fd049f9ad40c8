package memory

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"os"
	"path/filepath"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

// A filter file is a header and then the filter in the binary form of
// bits-and-blooms. All numbers are little endian:
//
//	magic    8 bytes, "FRSHBLM" and the version, which implies the hash
//	day      int32, days since 1 January 1970
//	crc      uint32, CRC-32C of everything after it
//	capacity uint64
//	rate     float64
//	count    uint64
const (
	filterMagic  = "FRSHBLM\x01"
	filterHeader = 8 + 4 + 4 + 8 + 8 + 8
)

// ErrCorrupt is wrapped by the error about a stored filter that cannot be
// trusted.
var ErrCorrupt = errors.New("stored dedup filter is corrupt")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// save writes the filter to path so that a crash leaves the old file or the
// new one. Nothing may be added meanwhile.
func (f *filter) save(path string) error {
	head := f.header()
	sum := crc32.New(castagnoli)
	_, _ = sum.Write(head[16:])
	body := bloom.FromWithM(f.words, uint(f.m), uint(f.k))
	if _, err := body.WriteTo(sum); err != nil {
		return fmt.Errorf("store filter: %w", err)
	}
	binary.LittleEndian.PutUint32(head[12:], sum.Sum32())

	temp := path + ".tmp"
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("store filter: %w", err)
	}
	if _, err = file.Write(head); err == nil {
		_, err = body.WriteTo(file)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(temp) // useless now
		return fmt.Errorf("store filter: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("store filter: %w", err)
	}
	return journal.SyncDir(filepath.Dir(path))
}

func (f *filter) header() []byte {
	head := append(make([]byte, 0, filterHeader), filterMagic...)
	head = binary.LittleEndian.AppendUint32(head, uint32(f.day))
	head = binary.LittleEndian.AppendUint32(head, 0)
	head = binary.LittleEndian.AppendUint64(head, f.capacity)
	head = binary.LittleEndian.AppendUint64(head, math.Float64bits(f.rate))
	return binary.LittleEndian.AppendUint64(head, uint64(f.count.Load()))
}

// loadFilter reads the filter of a day. A missing file is [os.ErrNotExist]; a
// damaged one wraps [ErrCorrupt] and says what to do.
func loadFilter(path string, day feed.Day) (*filter, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read filter: %w", err)
	}
	f, err := decodeFilter(data)
	if err == nil && f.day != day {
		err = fmt.Errorf("it holds the day %s", f.day)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w; restore the file from a backup, or delete it and accept that what was shown on %s may be shown again",
			ErrCorrupt, path, err, day)
	}
	return f, nil
}

// decodeFilter reads a stored filter. The lengths inside the body are used
// only after the checksum has vouched for them.
func decodeFilter(data []byte) (*filter, error) {
	if len(data) < filterHeader {
		return nil, errors.New("it is too short to be a filter")
	}
	if magic := string(data[:8]); magic != filterMagic {
		if magic[:7] == filterMagic[:7] {
			return nil, fmt.Errorf("its format is %d, this version of Freshet knows %d", magic[7], filterMagic[7])
		}
		return nil, errors.New("it is not a filter file")
	}
	if crc32.Checksum(data[16:], castagnoli) != binary.LittleEndian.Uint32(data[12:]) {
		return nil, errors.New("its checksum is wrong")
	}
	f := &filter{
		day:      feed.Day(int32(binary.LittleEndian.Uint32(data[8:]))),
		capacity: binary.LittleEndian.Uint64(data[16:]),
		rate:     math.Float64frombits(binary.LittleEndian.Uint64(data[24:])),
	}
	body := data[filterHeader:]
	if err := checkBody(body); err != nil {
		return nil, err
	}
	var stored bloom.BloomFilter
	if _, err := stored.ReadFrom(bytes.NewReader(body)); err != nil {
		return nil, err
	}
	f.m, f.k, f.words = uint64(stored.Cap()), uint64(stored.K()), stored.BitSet().Words()
	f.count.Store(int64(binary.LittleEndian.Uint64(data[32:])))
	ones := 0
	for _, w := range f.words {
		ones += bits.OnesCount64(w)
	}
	f.ones.Store(int64(ones))
	if f.capacity == 0 || !(f.rate > 0 && f.rate < 1) {
		return nil, fmt.Errorf("its capacity %d or its rate %v is impossible", f.capacity, f.rate)
	}
	return f, nil
}

// checkBody compares the sizes the library's form claims (bits, probes, bits
// again; big endian) with the bytes that are there.
func checkBody(body []byte) error {
	if len(body) < 24 {
		return io.ErrUnexpectedEOF
	}
	m, k, length := binary.BigEndian.Uint64(body), binary.BigEndian.Uint64(body[8:]), binary.BigEndian.Uint64(body[16:])
	words := uint64(len(body)-24) / 8
	if len(body)%8 != 0 || length != words*64 || m == 0 || m > length || k == 0 || k > maxProbes {
		return fmt.Errorf("its sizes contradict each other: %d bits, %d probes, %d bits stored in %d bytes", m, k, length, len(body))
	}
	return nil
}
