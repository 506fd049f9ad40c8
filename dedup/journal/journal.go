package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// header opens every file; its last byte is the version of the format.
const header = "FRSHJNL\x01"

// keepBuffer is the largest encoding buffer reused between appends.
const keepBuffer = 1 << 20

// file is the part of a file that a journal uses; tests substitute one that fails.
type file interface {
	WriteAt(b []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Journal is a journal file open for appending. It is safe for concurrent use.
type Journal struct {
	path  string
	file  file
	is    os.FileInfo // identifies the file if its path is reused
	log   *slog.Logger
	every time.Duration // between syncs

	mu     sync.Mutex // guards the fields below
	size   int64      // end of the last whole append
	ragged bool       // a failed write may have left bytes after size
	dirty  bool       // something was written since the last sync
	moved  error      // the file is no longer at its path; nil if it is
	closed bool
	buf    []byte

	syncing sync.Mutex // one sync at a time, without delaying appends
	stop    chan struct{}
	done    chan struct{}
}

// Open opens the journal at path for appending, repairing it as [Recover] does, or creates it (mode
// 0600). Repairs and failed syncs are logged. The caller must close the journal.
func Open(path string, log *slog.Logger) (*Journal, error) { return open(path, log, time.Second) }

func open(path string, log *slog.Logger, every time.Duration) (*Journal, error) {
	j := &Journal{path: path, log: log, every: every, stop: make(chan struct{}), done: make(chan struct{})}
	if err := Recover(path, nil, log); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if j.size, err = begin(f); err == nil {
		j.is, err = f.Stat()
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	j.file = f
	go j.syncLoop()
	return j, nil
}

// begin writes the header into an empty file and syncs its directory entry; it returns the file's
// size.
func begin(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() > 0 {
		return info.Size(), nil
	}
	if _, err := f.WriteAt([]byte(header), 0); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	return int64(len(header)), SyncDir(filepath.Dir(f.Name()))
}

// Append writes the entries in one write. When it returns nil they survive the death of the
// process; they reach the disk with the next sync. If the file is removed or replaced, Append fails
// within a second. After an error none of the entries counts: any part that reached the file is cut
// off before the next append, or by the next recovery if it is incomplete.
func (j *Journal) Append(entries ...Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	buf := j.buf[:0]
	for _, e := range entries {
		var err error
		if buf, err = appendEntry(buf, e); err != nil {
			return err
		}
	}
	if len(buf) == 0 {
		return nil
	}
	if cap(buf) <= keepBuffer {
		j.buf = buf
	}
	return j.write(buf)
}

func (j *Journal) write(buf []byte) error {
	switch {
	case j.closed:
		return fmt.Errorf("journal %s: %w", j.path, os.ErrClosed)
	case j.moved != nil:
		return j.moved
	}
	if j.ragged {
		if err := j.file.Truncate(j.size); err != nil {
			return fmt.Errorf("journal %s: truncate after a failed append: %w", j.path, err)
		}
		j.ragged = false
	}
	if _, err := j.file.WriteAt(buf, j.size); err != nil {
		// Truncate at once: a restart must not find frames of an append that returned an error.
		j.ragged = j.file.Truncate(j.size) != nil
		return fmt.Errorf("journal %s: append: %w", j.path, err)
	}
	j.size, j.dirty = j.size+int64(len(buf)), true
	return nil
}

// probeBytes is the space that [Journal.Probe] tests for: one block, which is more than most
// appends take.
const probeBytes = 4 << 10

// Probe reports whether an append would succeed now, by writing a block after the journal's end and
// truncating it again.
func (j *Journal) Probe() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	end := j.size
	if err := j.write(make([]byte, probeBytes)); err != nil {
		return err
	}
	j.size = end
	if err := j.file.Truncate(end); err != nil {
		j.ragged = true
		return fmt.Errorf("journal %s: probe: %w", j.path, err)
	}
	return nil
}

// Size returns the length of the file in bytes, including the header.
func (j *Journal) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// Sync flushes everything appended before the call to the disk.
func (j *Journal) Sync() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	j.mu.Lock()
	if j.closed || !j.dirty {
		j.mu.Unlock()
		return nil
	}
	j.dirty = false
	j.mu.Unlock()
	if err := j.file.Sync(); err != nil {
		j.mu.Lock()
		j.dirty = true
		j.mu.Unlock()
		return fmt.Errorf("journal %s: sync: %w", j.path, err)
	}
	return nil
}

func (j *Journal) syncLoop() {
	defer close(j.done)
	tick := time.NewTicker(j.every)
	defer tick.Stop()
	for {
		select {
		case <-j.stop:
			return
		case <-tick.C:
			j.checkPath()
			if err := j.Sync(); err != nil {
				j.log.Error("The journal could not be synced to the disk; a power cut now would lose impressions. Check the disk.", "error", err)
			}
		}
	}
}

// Close syncs the journal and closes its file. Closing twice is harmless.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	j.mu.Unlock()
	close(j.stop)
	<-j.done
	j.syncing.Lock()
	defer j.syncing.Unlock()
	var err error
	if j.dirty {
		err = j.file.Sync()
	}
	if err = errors.Join(err, j.file.Close()); err != nil {
		return fmt.Errorf("journal %s: close: %w", j.path, err)
	}
	return nil
}

// SyncDir makes the creation, renaming and deletion of files in dir durable.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be synced on Windows; NTFS journals renames
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	err = d.Sync()
	if err = errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}

// checkPath records whether the file is still at its path. If it is not, a restart would not find
// new entries.
func (j *Journal) checkPath() {
	var moved error
	if there, err := os.Stat(j.path); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(j.is, there) {
		moved = fmt.Errorf("journal %s: it was removed or replaced while it was open: restart the server", j.path)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.moved = moved
}
