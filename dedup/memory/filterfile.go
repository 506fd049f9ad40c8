package memory

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"

	"github.com/bits-and-blooms/bloom/v3"

	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

// A filter file is a header followed by the layers of the filter: for each, its own header and its
// bits in the binary format of bits-and-blooms. Numbers outside that format are little endian:
//
//	magic    8 bytes, "FRSHBLM" and the version, which implies the hash
//	day      int32, days since 1 January 1970
//	crc      uint32, CRC-32C of everything after it
//
//	capacity uint64
//	rate     float64
//	count    uint64
//	size     uint64, bytes of the bits that follow
//
// Version 1 had one layer, without its size.
const (
	filterMagic   = "FRSHBLM\x02"
	filterMagicV1 = "FRSHBLM\x01"
	filterHeader  = 8 + 4 + 4
	layerHeader   = 8 + 8 + 8 + sizeBytes
	sizeBytes     = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// save writes the filter to path so that after a crash there is either the old file or the new one.
// Nothing may be added during the call.
func (f *filter) save(path string) error {
	sum := crc32.New(castagnoli)
	if err := f.write(sum); err != nil {
		return fmt.Errorf("store filter: %w", err)
	}
	head := append(make([]byte, 0, filterHeader), filterMagic...)
	head = binary.LittleEndian.AppendUint32(head, uint32(f.day))
	head = binary.LittleEndian.AppendUint32(head, sum.Sum32())

	temp := path + ".tmp"
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("store filter: %w", err)
	}
	if _, err = file.Write(head); err == nil {
		err = f.write(file)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(temp) // no longer of use
		return fmt.Errorf("store filter: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("store filter: %w", err)
	}
	return journal.SyncDir(filepath.Dir(path))
}

func (f *filter) write(w io.Writer) error {
	for _, l := range f.all() {
		head := binary.LittleEndian.AppendUint64(make([]byte, 0, layerHeader), l.capacity)
		head = binary.LittleEndian.AppendUint64(head, math.Float64bits(l.rate))
		head = binary.LittleEndian.AppendUint64(head, uint64(l.count.Load()))
		head = binary.LittleEndian.AppendUint64(head, uint64(bodyHeader+8*len(l.words)))
		if _, err := w.Write(head); err != nil {
			return err
		}
		if _, err := bloom.FromWithM(l.words, uint(l.m), uint(l.k)).WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}

// loadFilter reads the filter of a day. A missing file is [os.ErrNotExist]; for a damaged one, the
// error explains what to do.
func loadFilter(path string, day feed.Day) (*filter, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read filter: %w", err)
	}
	f, err := decodeFilter(data)
	if err == nil && f.day != day {
		err = fmt.Errorf("it contains the day %s", f.day)
	}
	if err != nil {
		return nil, fmt.Errorf("stored dedup filter is corrupt: %s: %w; restore the file from a backup, or delete it and accept that what was shown on %s may be shown again",
			path, err, day)
	}
	return f, nil
}

// Inspect returns an error if a file of a day in the directory is not of a format that this version
// reads. It changes nothing. A missing directory is no error.
func Inspect(dir string) error {
	files, err := listFiles(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	errs := []error{journal.InspectLock(dir)}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if f.suffix == journalSuffix {
			errs = append(errs, journal.Inspect(path))
			continue
		}
		errs = append(errs, inspectFilter(path))
	}
	return errors.Join(errs...)
}

// inspectFilter checks the format of a stored filter, not its contents.
func inspectFilter(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read filter: %w", err)
	}
	defer func() { _ = f.Close() }()
	magic := make([]byte, len(filterMagic))
	if _, err := io.ReadFull(f, magic); err != nil {
		return fmt.Errorf("stored dedup filter %s: it is too short to be a filter", path)
	}
	if err := checkMagic(string(magic)); err != nil {
		return fmt.Errorf("stored dedup filter %s: %w", path, err)
	}
	return nil
}

func checkMagic(magic string) error {
	switch {
	case magic == filterMagic, magic == filterMagicV1:
		return nil
	case magic[:7] == filterMagic[:7]:
		return fmt.Errorf("its format is %d, this version of Freshet reads %d", magic[7], filterMagic[7])
	}
	return errors.New("it is not a filter file")
}

// decodeFilter reads a stored filter. It uses the lengths inside only after verifying the checksum.
func decodeFilter(data []byte) (*filter, error) {
	if len(data) < filterHeader {
		return nil, errors.New("it is too short to be a filter")
	}
	magic := string(data[:8])
	if err := checkMagic(magic); err != nil {
		return nil, err
	}
	if crc32.Checksum(data[filterHeader:], castagnoli) != binary.LittleEndian.Uint32(data[12:]) {
		return nil, errors.New("its checksum is wrong")
	}
	body := data[filterHeader:]
	at := layerHeader - sizeBytes
	if magic == filterMagicV1 && len(body) >= at {
		size := binary.LittleEndian.AppendUint64(nil, uint64(len(body)-at))
		body = slices.Concat(body[:at], size, body[at:])
	}
	layers, err := decodeLayers(body)
	if err != nil {
		return nil, err
	}
	return layered(feed.Day(int32(binary.LittleEndian.Uint32(data[8:]))), layers...), nil
}

// decodeLayers reads one or more layers.
func decodeLayers(data []byte) (layers []*layer, err error) {
	for len(layers) == 0 || len(data) > 0 {
		if len(data) < layerHeader {
			return nil, io.ErrUnexpectedEOF
		}
		head, rest := data[:layerHeader], data[layerHeader:]
		size := binary.LittleEndian.Uint64(head[24:])
		if size > uint64(len(rest)) {
			return nil, io.ErrUnexpectedEOF
		}
		l, err := decodeLayer(head, rest[:size])
		if err != nil {
			return nil, err
		}
		layers, data = append(layers, l), rest[size:]
	}
	return layers, nil
}

func decodeLayer(head, body []byte) (*layer, error) {
	l := &layer{
		capacity: binary.LittleEndian.Uint64(head),
		rate:     math.Float64frombits(binary.LittleEndian.Uint64(head[8:])),
	}
	l.count.Store(int64(binary.LittleEndian.Uint64(head[16:])))
	if err := checkBody(body); err != nil {
		return nil, err
	}
	var stored bloom.BloomFilter
	if _, err := stored.ReadFrom(bytes.NewReader(body)); err != nil {
		return nil, err
	}
	l.m, l.k, l.words = uint64(stored.Cap()), uint64(stored.K()), stored.BitSet().Words()
	ones := 0
	for _, w := range l.words {
		ones += bits.OnesCount64(w)
	}
	l.ones.Store(int64(ones))
	if l.capacity == 0 || !(l.rate > 0 && l.rate < 1) {
		return nil, fmt.Errorf("its capacity %d or rate %v is invalid", l.capacity, l.rate)
	}
	return l, nil
}

// bodyHeader is the length of the library's header before the words.
const bodyHeader = 24

// checkBody compares the sizes declared in the library's header (bits, probes, bits again; big
// endian) with the actual number of bytes.
func checkBody(body []byte) error {
	if len(body) < bodyHeader {
		return io.ErrUnexpectedEOF
	}
	m, k, length := binary.BigEndian.Uint64(body), binary.BigEndian.Uint64(body[8:]), binary.BigEndian.Uint64(body[16:])
	words := uint64(len(body)-bodyHeader) / 8
	badLength := len(body)%8 != 0 || length != words*64
	badBits := m == 0 || m > length
	badProbes := k == 0 || k > maxProbes
	if badLength || badBits || badProbes {
		return fmt.Errorf("its sizes contradict each other: %d bits, %d probes, %d bits stored in %d bytes", m, k, length, len(body))
	}
	return nil
}
