package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var sample = []Entry{
	{Kind: Served, At: 1772798400000, Agent: "u_1", Groups: []string{"doc_1", "doc_2"}},
	{Kind: Seen, At: 1772798400001, Agent: "u_2", Groups: []string{"a:b/c"}},
	{Kind: Offered, At: -1, Agent: "", Groups: []string{""}},
	{Kind: Released, At: 1772798400002, Agent: "u_1", Groups: []string{"doc_2"}},
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// write creates a journal with the entries, one append each, and returns the size of the file after
// each append.
func write(t *testing.T, path string, entries []Entry) []int64 {
	t.Helper()
	j, err := Open(path, quiet())
	require.NoError(t, err)
	var ends []int64
	for _, e := range entries {
		require.NoError(t, j.Append(e))
		ends = append(ends, j.Size())
	}
	require.NoError(t, j.Close())
	return ends
}

// reopen recovers the journal and returns its entries.
func reopen(t *testing.T, path string) []Entry {
	t.Helper()
	var got []Entry
	require.NoError(t, Recover(path, func(e Entry) error { got = append(got, e); return nil }, quiet()))
	j, err := Open(path, quiet())
	require.NoError(t, err)
	require.NoError(t, j.Close())
	return got
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	write(t, path, sample)
	assert.Equal(t, sample, reopen(t, path))

	j, err := Open(path, quiet())
	require.NoError(t, err)
	require.NoError(t, j.Append(sample[1], sample[0]), "several entries in one write")
	require.NoError(t, j.Append(), "nothing is nothing")
	require.NoError(t, j.Append(Entry{Kind: Seen, Agent: "u_3"}), "no groups are nothing")
	require.NoError(t, j.Close())
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Append(sample[0]), os.ErrClosed)

	want := append(append([]Entry{}, sample...), sample[1], sample[0])
	assert.Equal(t, want, reopen(t, path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestLongEntryInSeveralFrames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	e := Entry{Kind: Served, At: 7, Agent: "u_1"}
	for i := range 300 {
		e.Groups = append(e.Groups, fmt.Sprintf("%d%s", i, strings.Repeat("x", 10_000)))
	}
	write(t, path, []Entry{e})
	got := reopen(t, path)
	require.Len(t, got, 3)
	var groups []string
	for _, g := range got {
		assert.Equal(t, e.At, g.At)
		assert.Equal(t, e.Agent, g.Agent)
		groups = append(groups, g.Groups...)
	}
	assert.Equal(t, e.Groups, groups)

	j, err := Open(path, quiet())
	require.NoError(t, err)
	defer func() { _ = j.Close() }()
	size := j.Size()
	require.ErrorContains(t, j.Append(Entry{Kind: Seen, Agent: strings.Repeat("a", maxPart+1), Groups: []string{"g"}}), "id is too long")
	require.ErrorContains(t, j.Append(sample[0], Entry{Kind: Seen, Agent: "a", Groups: []string{"g", strings.Repeat("a", 2*MaxFrame)}}), "id is too long")
	require.Error(t, j.Append(Entry{Kind: 9, Agent: "a", Groups: []string{"g"}}))
	assert.Equal(t, size, j.Size(), "a refused append leaves nothing")
}

func TestTornTailAtEveryOffset(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "whole")
	ends := write(t, path, sample)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	last := ends[len(ends)-2]
	for cut := last; cut < int64(len(whole)); cut++ {
		for _, tail := range []string{"", strings.Repeat("\x00", 37)}[:1+cut%2] {
			torn := filepath.Join(dir, "torn")
			require.NoError(t, os.WriteFile(torn, append(append([]byte{}, whole[:cut]...), tail...), 0o600))
			require.Equal(t, sample[:3], reopen(t, torn), "cut at %d", cut)
			info, err := os.Stat(torn)
			require.NoError(t, err)
			require.Equal(t, last, info.Size(), "cut at %d", cut)
			write(t, torn, sample[3:])
			require.Equal(t, sample, reopen(t, torn), "and the journal goes on")
			require.NoFileExists(t, torn+".corrupt")
		}
	}
}

func TestTornHeader(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	for n := range len(header) {
		require.NoError(t, os.WriteFile(path, []byte(header[:n]), 0o600))
		require.Empty(t, reopen(t, path))
		write(t, path, sample)
		require.Equal(t, sample, reopen(t, path))
	}
}

func TestDamageInMiddleSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "whole")
	ends := write(t, path, sample)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for at := ends[0]; at < ends[1]; at++ {
		damaged := filepath.Join(dir, fmt.Sprintf("damaged%d", at))
		content := append([]byte{}, whole...)
		content[at] ^= 0x55
		require.NoError(t, os.WriteFile(damaged, content, 0o600))
		require.Equal(t, sample[:1], reopen(t, damaged), "damage at %d", at)
		aside, err := os.ReadFile(damaged + ".corrupt")
		require.NoError(t, err)
		require.Equal(t, content[ends[0]:], aside, "damage at %d", at)
		write(t, damaged, sample[3:])
		require.Equal(t, []Entry{sample[0], sample[3]}, reopen(t, damaged))
	}
}

func TestSecondDamageSetAside(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	for range 2 {
		require.NoError(t, os.RemoveAll(path))
		ends := write(t, path, sample)
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		_, err = f.WriteAt([]byte{0xff}, ends[0]+9)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Equal(t, sample[:1], reopen(t, path))
	}
	require.FileExists(t, path+".corrupt")
	require.FileExists(t, path+".1.corrupt")
}

func TestForeignFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	require.NoError(t, os.WriteFile(path, []byte("dear diary, today I"), 0o600))
	require.Empty(t, reopen(t, path))
	kept, err := os.ReadFile(path + ".corrupt")
	require.NoError(t, err)
	assert.Equal(t, "dear diary, today I", string(kept))

	require.NoError(t, os.WriteFile(path, []byte("FRSHJNL\x02whatever"), 0o600))
	_, err = Open(path, quiet())
	require.ErrorIs(t, err, ErrVersion)
	kept, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "FRSHJNL\x02whatever", string(kept), "an unknown version is left alone")
}

func TestRecoverStopsAtErrors(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	write(t, path, sample)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("torn")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	enough := errors.New("enough")
	require.ErrorIs(t, Recover(path, func(Entry) error { return enough }, quiet()), enough)
	require.ErrorIs(t, Recover(path+"none", nil, quiet()), os.ErrNotExist)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after, "nothing is repaired that was not read to its end")
}

// brokenFile simulates a failing disk: a write stops one byte short, truncations and syncs fail.
type brokenFile struct {
	*os.File
	failWrite, failTruncate bool
	failSync                atomic.Bool
	syncs                   atomic.Int64
}

var errBroken = errors.New("the disk is broken")

func (b *brokenFile) WriteAt(p []byte, off int64) (int, error) {
	if b.failWrite {
		n, _ := b.File.WriteAt(p[:len(p)-1], off)
		return n, errBroken
	}
	return b.File.WriteAt(p, off)
}

func (b *brokenFile) Truncate(size int64) error {
	if b.failTruncate {
		return errBroken
	}
	return b.File.Truncate(size)
}

func (b *brokenFile) Sync() error {
	if b.failSync.Load() {
		return errBroken
	}
	b.syncs.Add(1)
	return b.File.Sync()
}

func TestAppendFailureLeavesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	j, err := open(path, quiet(), time.Hour)
	require.NoError(t, err)
	disk := &brokenFile{File: j.file.(*os.File)}
	j.file = disk
	require.NoError(t, j.Append(sample[0]))

	disk.failWrite, disk.failTruncate = true, true
	require.ErrorIs(t, j.Append(sample[0], sample[1]), errBroken)
	disk.failWrite = false
	require.ErrorIs(t, j.Append(sample[3]), errBroken, "what could not be cut off must not be written behind")
	disk.failTruncate = false
	require.NoError(t, j.Append(sample[3]))
	require.NoError(t, j.Close())
	assert.Equal(t, []Entry{sample[0], sample[3]}, reopen(t, path))
}

func TestProbe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	j, err := open(path, quiet(), time.Hour)
	require.NoError(t, err)
	disk := &brokenFile{File: j.file.(*os.File)}
	j.file = disk
	require.NoError(t, j.Append(sample[0]))
	require.NoError(t, j.Probe())

	disk.failWrite = true
	require.ErrorIs(t, j.Probe(), errBroken)
	disk.failTruncate = true
	require.ErrorIs(t, j.Probe(), errBroken)
	disk.failWrite = false
	require.ErrorIs(t, j.Probe(), errBroken, "an append must cut first, and cannot")
	disk.failTruncate = false
	require.NoError(t, j.Append(sample[1]))
	require.NoError(t, j.Probe())
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Probe(), os.ErrClosed)
	assert.Equal(t, sample[:2], reopen(t, path))
}

func TestSync(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	j, err := open(path, quiet(), time.Hour)
	require.NoError(t, err)
	disk := &brokenFile{File: j.file.(*os.File)}
	disk.failSync.Store(true)
	j.file = disk
	require.NoError(t, j.Sync(), "nothing to sync")
	require.NoError(t, j.Append(sample[0]))
	require.ErrorIs(t, j.Sync(), errBroken)
	disk.failSync.Store(false)
	require.NoError(t, j.Sync(), "a failed sync is made good")
	assert.EqualValues(t, 1, disk.syncs.Load())
	require.NoError(t, j.Append(sample[0]))
	require.NoError(t, j.Close())
	assert.EqualValues(t, 2, disk.syncs.Load(), "closing syncs")
}

// TestSyncsEverySecond checks that new appends are synced once a second and that a failed sync is
// retried.
func TestSyncsEverySecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		j, err := Open(filepath.Join(t.TempDir(), "j"), slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		disk := &brokenFile{File: j.file.(*os.File)}
		j.file = disk
		after := func(d time.Duration) int64 {
			time.Sleep(d)
			synctest.Wait()
			return disk.syncs.Load()
		}
		require.NoError(t, j.Append(sample[0]))
		assert.Zero(t, after(time.Second-1))
		assert.EqualValues(t, 1, after(1))
		assert.EqualValues(t, 1, after(time.Hour), "there is nothing to sync")
		disk.failSync.Store(true)
		require.NoError(t, j.Append(sample[0]))
		assert.EqualValues(t, 1, after(2*time.Second))
		assert.Equal(t, 2, strings.Count(log.String(), "could not be synced"))
		disk.failSync.Store(false)
		assert.EqualValues(t, 2, after(time.Second))
		require.NoError(t, j.Close())
		assert.EqualValues(t, 2, disk.syncs.Load())
	})
}

func TestConcurrentAppends(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	j, err := open(path, quiet(), time.Millisecond)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				if err := j.Append(Entry{Kind: Served, At: int64(n), Agent: fmt.Sprintf("u_%d", i), Groups: []string{"g"}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, j.Close())
	next := map[string]int64{}
	for _, e := range reopen(t, path) {
		require.Equal(t, next[e.Agent], e.At, "one goroutine's appends stay in order")
		next[e.Agent]++
	}
	assert.Len(t, next, 8)
}

func FuzzDecodeFrame(f *testing.F) {
	for _, e := range sample {
		frame, err := appendEntry(nil, e)
		require.NoError(f, err)
		f.Add(frame)
		f.Add(frame[:len(frame)-1])
		huge := append([]byte{}, frame...)
		binary.LittleEndian.PutUint32(huge, 1<<31)
		f.Add(huge)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, n, err := decodeFrame(b)
		if err == nil {
			if n > len(b) {
				t.Fatalf("read %d bytes of %d", n, len(b))
			}
			again, err := appendEntry(nil, e)
			if err != nil {
				if err != nil && strings.Contains(err.Error(), "id is too long") {
					return
				}
				t.Fatal(err)
			}
			back, _, err := decodeFrame(again)
			require.NoError(t, err)
			require.Equal(t, e, back)
		}
		// The payload decoder must be safe even when the checksum did not filter its input.
		_, _ = decodePayload(b)
	})
}

func FuzzScan(f *testing.F) {
	whole := []byte(header)
	for _, e := range sample {
		whole, _ = appendEntry(whole, e)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add(append(append([]byte{}, whole[:20]...), whole...))
	f.Add([]byte(header))
	f.Add([]byte("FRSHJ"))
	f.Add([]byte("FRSHJNL\x02"))
	f.Fuzz(func(t *testing.T, content []byte) {
		read := func(b []byte) (entries []Entry, good int64, bad, err error) {
			good, bad, err = scan(bytes.NewReader(b), int64(len(b)), func(e Entry) error { entries = append(entries, e); return nil })
			return entries, good, bad, err
		}
		first, good, bad, err := read(content)
		if err != nil {
			require.ErrorIs(t, err, ErrVersion)
			return
		}
		if bad == nil {
			require.Equal(t, int64(len(content)), good)
			return
		}
		isTorn(content[good:], good)
		second, end, bad, err := read(content[:good])
		require.NoError(t, errors.Join(bad, err), "what is kept is whole")
		require.Equal(t, good, end)
		require.Equal(t, first, second)
	})
}

func BenchmarkAppend(b *testing.B) {
	j, err := Open(filepath.Join(b.TempDir(), "j"), quiet())
	require.NoError(b, err)
	defer func() { _ = j.Close() }()
	e := Entry{Kind: Served, At: 1772798400000, Agent: "u_10086"}
	for i := range 20 {
		e.Groups = append(e.Groups, fmt.Sprintf("doc_%d", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := j.Append(e); err != nil {
			b.Fatal(err)
		}
	}
}
