package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// ErrVersion is wrapped by the error for a file in a format that this version does not know.
var ErrVersion = errors.New("the journal was written by another version of Freshet")

// Empty reports whether the journal at path contains at most its header.
func Empty(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, fmt.Errorf("check journal: %w", err)
	}
	return info.Size() <= int64(len(header)), nil
}

// ErrForeign is wrapped by the error for a file that is not a journal.
var ErrForeign = errors.New("the file is not a journal of Freshet")

// Inspect returns an error if this version cannot use the file at path: it wraps [ErrVersion] or
// [ErrForeign]. It changes nothing. A damaged journal, which [Recover] repairs, and a missing one are
// no error.
func Inspect(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("inspect journal: %w", err)
	}
	defer func() { _ = f.Close() }()
	bad, err := readHeader(f)
	switch {
	case errors.Is(err, ErrVersion):
		return fmt.Errorf("%s: %w", path, err)
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("inspect journal %s: %w", path, err)
	case bad == nil:
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("inspect journal: %w", err)
	}
	torn := len(data) < len(header) || len(bytes.Trim(data, "\x00")) == 0
	if torn || hasFrame(data) {
		return nil
	}
	return fmt.Errorf("%s: %w", path, ErrForeign)
}

// Recover passes each entry of the journal at path to fn, in the order they were appended, and then
// repairs the file so that it ends with its last good frame. A torn tail is cut off; if good frames
// follow the damage, everything from the damage on is moved to a new file with a name that ends in
// ".corrupt". Both are logged. If fn returns an error, Recover stops and returns it; fn may be nil.
// For a missing file it returns [fs.ErrNotExist].
func Recover(path string, fn func(Entry) error, log *slog.Logger) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("recover journal: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil {
		var good int64
		var bad error
		if good, bad, err = scan(f, info.Size(), fn); err == nil && bad != nil {
			err = repair(f, good, info.Size(), bad, log)
		}
	}
	if err != nil {
		return fmt.Errorf("recover journal %s: %w", path, err)
	}
	return nil
}

// scan reads the frames of a journal of size bytes. It returns the end of the last good frame and
// the defect found there; bad is nil if the journal ends there.
func scan(f io.Reader, size int64, fn func(Entry) error) (good int64, bad, err error) {
	if size == 0 {
		return 0, nil, nil
	}
	r := bufio.NewReaderSize(f, 256<<10)
	if bad, err = readHeader(r); bad != nil || err != nil {
		return 0, bad, err
	}
	good = int64(len(header))
	var frame []byte
	for good < size {
		head, err := r.Peek(frameHeader)
		if err != nil && !errors.Is(err, io.EOF) {
			return good, nil, err
		}
		n, ok := frameLength(head, size-good)
		if !ok {
			return good, errors.New("bad frame: it is cut short or its length is out of bounds"), nil
		}
		// The length is bounded by MaxFrame and by the remaining size of the file.
		need := frameHeader + n
		if cap(frame) < need {
			frame = make([]byte, need)
		}
		frame = frame[:frameHeader+n]
		if _, err := io.ReadFull(r, frame); err != nil {
			return good, nil, err
		}
		e, _, bad := decodeFrame(frame)
		if bad != nil {
			return good, bad, nil
		}
		if fn != nil {
			if err := fn(e); err != nil {
				return good, nil, err
			}
		}
		good += int64(len(frame))
	}
	return good, nil, nil
}

func readHeader(r io.Reader) (bad, err error) {
	b := make([]byte, len(header))
	n, err := io.ReadFull(r, b)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	last := len(header) - 1
	switch {
	case string(b) == header:
		return nil, nil
	case n == len(header) && string(b[:last]) == header[:last]:
		return nil, fmt.Errorf("%w: its format is %d, this version reads %d", ErrVersion, b[last], header[last])
	}
	return errors.New("bad frame: the journal header is invalid"), nil
}

func repair(f *os.File, good, size int64, bad error, log *slog.Logger) error {
	rest, err := io.ReadAll(io.NewSectionReader(f, good, size-good))
	if err != nil {
		return err
	}
	if isTorn(rest, good) {
		log.Warn("The end of a journal is incomplete, as after a crash or a power cut during a write, and is cut off.",
			"journal", f.Name(), "kept_bytes", good, "cut_bytes", len(rest), "reason", bad)
	} else {
		aside, err := setAside(f.Name(), rest)
		if err != nil {
			return err
		}
		log.Error("A journal is damaged in the middle. Its beginning is used; the rest is set aside, and impressions in it may be shown again. Check the disk.",
			"journal", f.Name(), "kept_bytes", good, "aside", aside, "aside_bytes", len(rest), "reason", bad)
	}
	if err := f.Truncate(good); err != nil {
		return err
	}
	return f.Sync()
}

// isTorn reports whether the rest is an incomplete append, that is, no readable frame follows, and
// not damage. good is where the rest begins; at 0 even the header is bad.
func isTorn(rest []byte, good int64) bool {
	if good == 0 && len(rest) >= len(header) && len(bytes.Trim(rest, "\x00")) > 0 {
		return false // not a Freshet journal: never deleted
	}
	return !hasFrame(rest)
}

// hasFrame reports whether a readable frame begins after the first byte.
func hasFrame(rest []byte) bool {
	for i := 1; i+frameHeader < len(rest); i++ {
		// The kind is checked first, because a checksum at every offset is expensive.
		if !Kind(rest[i+frameHeader]).valid() {
			continue
		}
		if _, ok := frameLength(rest[i:], int64(len(rest)-i)); !ok {
			continue
		}
		if _, _, err := decodeFrame(rest[i:]); err == nil {
			return true
		}
	}
	return false
}

// setAside writes the rest into a separate file and syncs it before the caller cuts it off the
// journal.
func setAside(path string, rest []byte) (string, error) {
	for i := 0; ; i++ {
		aside := path + ".corrupt"
		if i > 0 {
			aside = fmt.Sprintf("%s.%d.corrupt", path, i)
		}
		f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(rest)
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
		return aside, SyncDir(filepath.Dir(path))
	}
}
