package spool

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/dedup/journal"
)

// suffix is the suffix of segment names: <serial>.spool; the oldest has the lowest serial.
const suffix = ".spool"

// asideSuffix is the suffix of files that were named as segments and cannot be read.
const asideSuffix = ".unreadable"

// segment is a closed segment. The spool's mutex guards all fields except serial.
type segment struct {
	serial     uint64
	size       int64
	gone       bool // forgotten, deleted or set aside
	unreadable bool // reading it failed before, which has been logged
}

// errNotAFile is the error for a directory, a pipe or the like.
var errNotAFile = errors.New("it is not a regular file")

// Inspect returns an error that wraps [journal.ErrVersion] if a segment in the directory has a format
// that this version does not read, and one that wraps [fs.ErrPermission] if a file there belongs to another
// user. It changes nothing. Other segments that cannot be read are set aside when they are needed. A missing
// directory is no error.
func Inspect(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	errs := []error{cmp.Or(err, journal.InspectLock(dir), inspectID(dir))}
	for _, name := range names {
		if _, err := regular(name); err != nil {
			continue
		}
		err := journal.Inspect(name)
		if errors.Is(err, journal.ErrVersion) || errors.Is(err, fs.ErrPermission) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// find lists the segments that an earlier process left.
func (s *Spool) find() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		serial, err := strconv.ParseUint(strings.TrimSuffix(e.Name(), suffix), 10, 64)
		if err != nil || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		s.serial = max(s.serial, serial)
		path := filepath.Join(s.dir, e.Name())
		info, err := regular(path)
		if err != nil {
			s.setAside(path, err)
			continue
		}
		s.closed = append(s.closed, &segment{serial: serial, size: info.Size()})
		s.bytes += info.Size()
	}
	slices.SortFunc(s.closed, func(a, b *segment) int { return cmp.Compare(a.serial, b.serial) })
	s.publish()
	return nil
}

func regular(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotAFile
	}
	return info, err
}

// publish updates the metric of the size on disk. mu must be held.
func (s *Spool) publish() {
	size := s.bytes
	if s.current != nil {
		size += s.current.Size()
	}
	spoolBytes.Set(float64(size))
}

func (s *Spool) path(serial uint64) string {
	return filepath.Join(s.dir, fmt.Sprintf("%020d%s", serial, suffix))
}

func (s *Spool) waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current != nil || len(s.closed) > 0
}

// rotate closes the current segment so that it can be recorded. mu must be held.
func (s *Spool) rotate() {
	if s.current == nil {
		return
	}
	size := s.current.Size()
	if err := s.current.Close(); err != nil {
		s.cfg.Logger.Warn("a segment of the impression spool could not be closed", "error", err)
	}
	s.current = nil
	s.closed = append(s.closed, &segment{serial: s.serial, size: size})
	s.bytes += size
}

// drop deletes a closed segment and logs how many impressions it contained. mu must be held.
func (s *Spool) drop(seg *segment, why string) {
	n := 0
	if err := s.read(seg, func(e journal.Entry) error { n += len(e.Groups); return nil }); unreadable(err) {
		s.setAside(s.path(seg.serial), err)
		s.forget(seg)
		return
	}
	droppedTotal.Add(float64(n))
	s.cfg.Logger.Warn("impressions dropped: readers may be shown these items again", "impressions", n, "why", why)
	s.delete(seg)
}

// delete removes a closed segment and its file. mu must be held.
func (s *Spool) delete(seg *segment) {
	if err := os.Remove(s.path(seg.serial)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.cfg.Logger.Warn("a segment of the impression spool cannot be deleted; the next start will record it again", "error", err)
	}
	s.forget(seg)
}

// forget removes a closed segment from the list, regardless of its file. mu must be held.
func (s *Spool) forget(seg *segment) {
	if seg.gone {
		return
	}
	seg.gone = true
	s.bytes -= seg.size
	s.closed = slices.DeleteFunc(s.closed, func(other *segment) bool { return other == seg })
	s.publish()
}

// unreadable reports whether an error means that a segment will never be readable as it is. Other
// errors, such as a full disk, may be temporary.
func unreadable(err error) bool {
	for _, never := range []error{fs.ErrNotExist, fs.ErrPermission, journal.ErrVersion, errNotAFile} {
		if errors.Is(err, never) {
			return true
		}
	}
	return false
}

// setAside renames a segment that cannot be read, so that it is neither read again nor lost, and
// logs it.
func (s *Spool) setAside(path string, why error) {
	const lost = "impressions in it may be shown again"
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		s.cfg.Logger.Warn("A segment of the impression spool was deleted: "+lost, "segment", path)
		return
	}
	aside := path + asideSuffix
	for i := 1; ; i++ {
		if _, err := os.Lstat(aside); err != nil {
			break
		}
		aside = fmt.Sprintf("%s.%d%s", path, i, asideSuffix)
	}
	if err := os.Rename(path, aside); err != nil {
		s.cfg.Logger.Warn("A segment of the impression spool can be neither read nor set aside: "+lost,
			"segment", path, "reason", why, "error", err)
		return
	}
	s.cfg.Logger.Warn("A segment of the impression spool cannot be read and is set aside: "+lost+
		". Once it can be read, rename it back; the next start records it.",
		"segment", path, "aside", aside, "reason", why)
}
