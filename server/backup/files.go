package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/time/rate"
)

// Options change how a backup is made, restored or compared.
type Options struct {
	// Rate limits the bytes that are copied per second; 0 means no limit. SQLite copies its own files
	// at its own pace.
	Rate int64
	// SkipImages leaves out the images of posts, for a store that is copied otherwise.
	SkipImages bool
	// Progress is told of each step of a part: how much of it is done, and how much there is, in bytes,
	// rows or files; total is 0 if that is unknown. Nil means that nobody asks.
	Progress func(part string, done, total int64)
}

func (o *Options) progress(part string, done, total int64) {
	if o.Progress != nil {
		o.Progress(part, done, total)
	}
}

// chunk is the number of bytes that are copied at once.
const chunk = 64 << 10

// pace delays copies to a rate.
type pace struct{ limit *rate.Limiter }

func newPace(bytesPerSecond int64) pace {
	if bytesPerSecond <= 0 {
		return pace{}
	}
	return pace{rate.NewLimiter(rate.Limit(bytesPerSecond), chunk)}
}

// wait waits until n more bytes may be copied.
func (p pace) wait(ctx context.Context, n int) error {
	for p.limit != nil && n > 0 {
		step := min(n, chunk)
		if err := p.limit.WaitN(ctx, step); err != nil {
			return err
		}
		n -= step
	}
	return ctx.Err()
}

// paced is a reader that a pace and a context bound.
type paced struct {
	ctx  context.Context //nolint:containedctx // of the one copy that it is made for
	pace pace
	r    io.Reader
	read func(n int)
}

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.r.Read(b[:min(len(b), chunk)])
	if n > 0 {
		if err := p.pace.wait(p.ctx, n); err != nil {
			return 0, err
		}
		if p.read != nil {
			p.read(n)
		}
	}
	return n, err
}

// output is a new file of a part, whose bytes are counted and hashed.
type output struct {
	path string
	name string
	file *os.File
	hash hash.Hash
	size int64
}

// create creates a file in a directory; name has slashes.
func create(ctx context.Context, dir, name string) (*output, error) {
	if err := step(ctx, "create "+name); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &output{path: path, name: name, file: f, hash: sha256.New()}, nil
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	o.size += int64(n)
	_, _ = o.hash.Write(p[:n]) // never fails
	return n, err
}

// finish makes the file durable and describes it; after an error of the caller it only closes the file.
func (o *output) finish(failed error) (File, error) {
	err := failed
	if err == nil {
		err = o.file.Sync()
	}
	if err = errors.Join(err, o.file.Close()); err != nil {
		return File{}, err
	}
	return File{Name: o.name, Bytes: o.size, SHA256: hex.EncodeToString(o.hash.Sum(nil))}, nil
}

// describe reads a file that another library has written.
func describe(ctx context.Context, dir, name string) (File, error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return File{}, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, &paced{ctx: ctx, r: f})
	if err == nil {
		err = f.Sync()
	}
	return File{Name: name, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, errors.Join(err, f.Close())
}

// checked opens a file of a backup for reading. Its last read fails if the content is not the one that the
// manifest names.
func checked(dir string, f File) (*checkedFile, error) {
	in, err := os.Open(filepath.Join(dir, filepath.FromSlash(f.Name)))
	if err != nil {
		return nil, fmt.Errorf("the backup lacks a file: %w; restore another backup", err)
	}
	return &checkedFile{File: in, want: f, hash: sha256.New()}, nil
}

type checkedFile struct {
	*os.File
	want File
	hash hash.Hash
	size int64
}

func (c *checkedFile) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	c.size += int64(n)
	_, _ = c.hash.Write(p[:n]) // never fails
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if c.size != c.want.Bytes || hex.EncodeToString(c.hash.Sum(nil)) != c.want.SHA256 {
		return n, fmt.Errorf("the backup is damaged: %s has not the content that its manifest names; restore another backup", c.Name())
	}
	return n, err
}

// WriteTo hides that of the file, which would bypass the check.
func (c *checkedFile) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{c})
}

// restoreFile copies a file of a backup to a path that must not exist.
func (r *restoring) restoreFile(ctx context.Context, f File, to string) error {
	if err := step(ctx, "restore "+f.Name); err != nil {
		return err
	}
	in, err := checked(r.folder, f)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, &paced{ctx: ctx, pace: r.pace, r: in})
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
