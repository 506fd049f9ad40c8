package folder

import (
	"context"
	"io"
	"os"

	"github.com/freshet/freshet/internal/safego"
)

// maxCalls is the maximum number of concurrent calls of the file system.
const maxCalls = 64

// within calls the file system, and stops waiting when ctx ends: a call to a hanging network disk
// cannot be interrupted and ends only when the disk answers. Up to [maxCalls] calls may hang.
// Further calls wait for one of them to end, each until its own context ends.
func within[T any](ctx context.Context, s *Store, call func() (T, error)) (result T, err error) {
	if err := ctx.Err(); err != nil {
		return result, err
	}
	select {
	case s.calls <- struct{}{}:
	case <-ctx.Done():
		return result, ctx.Err()
	}
	type answer struct {
		result T
		err    error
	}
	done := make(chan answer)
	go func() {
		defer func() { <-s.calls }()
		var a answer
		a.err = safego.Run(func() (err error) { a.result, err = call(); return err })
		select {
		case done <- a:
		case <-ctx.Done():
			if f, ok := any(a.result).(io.Closer); ok && a.err == nil {
				_ = f.Close() // the caller did not receive it
			}
		}
	}()
	select {
	case a := <-done:
		return a.result, a.err
	case <-ctx.Done():
		return result, ctx.Err()
	}
}

// file is a file and its media type.
type file struct {
	f     *os.File
	ctx   context.Context //nolint:containedctx // it is read within the time of the call that opened it
	store *Store
	kind  string
	buf   []byte
}

// ContentType implements [media.Reader].
func (f *file) ContentType() string { return f.kind }

// Read implements [io.Reader]. It reads into a separate buffer, because the read may continue after
// ctx has ended. No read follows one that was abandoned.
func (f *file) Read(p []byte) (int, error) {
	if len(f.buf) < len(p) {
		f.buf = make([]byte, len(p))
	}
	buf := f.buf[:len(p)]
	n, err := within(f.ctx, f.store, func() (int, error) { return f.f.Read(buf) })
	return copy(p, buf[:n]), err
}

// Seek implements [io.Seeker].
func (f *file) Seek(offset int64, whence int) (int64, error) {
	return within(f.ctx, f.store, func() (int64, error) { return f.f.Seek(offset, whence) })
}

// Close implements [io.Closer].
func (f *file) Close() error { return f.f.Close() }
