package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"
	"golang.org/x/time/rate"
)

// Options change how a backup is made, restored or compared.
type Options struct {
	// Rate limits the bytes that are copied per second; 0 means no limit. SQLite copies its own files
	// at its own pace.
	Rate int64
	// SkipImages leaves out the images of posts, for a store that is copied otherwise.
	SkipImages bool
	// EncryptTo are the recipients to whom a backup is encrypted; none means that it is not.
	EncryptTo []age.Recipient
	// Identities are those of recipients, to restore a backup that is encrypted.
	Identities []age.Identity
	// Notice is told why the call waits. Nil means that nobody asks.
	Notice func(text string)
	// Progress is told of each step of a part: how much of it is done, and how much there is, in bytes,
	// rows or files; total is 0 if that is unknown. Nil means that nobody asks.
	Progress func(part string, done, total int64)
}

func (o *Options) progress(part string, done, total int64) {
	if o.Progress != nil {
		o.Progress(part, done, total)
	}
}

func (o *Options) notice(text string) {
	if o.Notice != nil {
		o.Notice(text)
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

// output is a new file of a backup. What is stored of it is counted and hashed.
type output struct {
	io.Writer           // gets the content
	sealed    io.Closer // of the encryption; nil if there is none
	stored    *stored
	name      string
}

// stored counts and hashes the stored form of an [output].
type stored struct {
	upload
	hash hash.Hash
	size int64
}

func (s *stored) Write(p []byte) (int, error) {
	n, err := s.upload.Write(p)
	s.size += int64(n)
	_, _ = s.hash.Write(p[:n]) // never fails
	return n, err
}

// begin begins a file in a folder; both names have slashes.
func (f *files) begin(ctx context.Context, folder, name string) (*output, error) {
	if err := step(ctx, "create "+name); err != nil {
		return nil, err
	}
	to, err := f.create(ctx, folder+f.named(name))
	if err != nil {
		return nil, err
	}
	out := &output{name: name, stored: &stored{upload: to, hash: sha256.New()}}
	out.Writer = out.stored
	if f.sealed() {
		sealed, err := age.Encrypt(out.stored, f.to...)
		if err != nil {
			return nil, errors.Join(err, to.Abort())
		}
		out.Writer, out.sealed = sealed, sealed
	}
	return out, nil
}

// finish makes the file durable and describes it; after an error of the caller it only gives it up.
func (o *output) finish(failed error) (File, error) {
	err := failed
	if err == nil && o.sealed != nil {
		err = o.sealed.Close()
	}
	if err != nil {
		return File{}, errors.Join(err, o.stored.Abort())
	}
	if err := o.stored.Finish(); err != nil {
		return File{}, err
	}
	return File{Name: o.name, Bytes: o.stored.size, SHA256: hex.EncodeToString(o.stored.hash.Sum(nil))}, nil
}

// describe reads a file that another library has written, which gets a name.
func describe(ctx context.Context, path, name string) (File, error) {
	f, err := os.Open(path)
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

// content returns a file as it was before it was encrypted.
func (f *files) content(ctx context.Context, folder string, file File) (File, error) {
	if !f.sealed() {
		return file, nil
	}
	in, err := f.checked(ctx, folder, file)
	if err != nil {
		return File{}, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, in)
	return File{Name: file.Name, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, errors.Join(err, in.Close())
}

// checked opens a file of a backup for reading. Its last read fails if what is stored is not what the manifest
// names.
func (f *files) checked(ctx context.Context, folder string, file File) (io.ReadCloser, error) {
	name := folder + f.named(file.Name)
	in, err := f.open(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the backup lacks a file: %w; restore another backup", err)
	case err != nil:
		return nil, err
	}
	c := &checkedFile{in: in, name: f.shown(name), want: file, hash: sha256.New()}
	if f.sealed() {
		return f.decrypt(ctx, c)
	}
	return c, nil
}

// mostDrained is the number of bytes that are read for a better message.
const mostDrained = 256 << 20

// because returns why what was read of a file could not be used: it may not be the file of the manifest, which
// shows at its end.
func because(ctx context.Context, err error, file io.Reader) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	_, damaged := io.CopyN(io.Discard, file, mostDrained)
	if damaged != nil && !errors.Is(damaged, io.EOF) {
		return damaged
	}
	return err
}

type checkedFile struct {
	in   io.ReadCloser
	name string
	want File
	hash hash.Hash
	size int64
}

func (c *checkedFile) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.size += int64(n)
	_, _ = c.hash.Write(p[:n]) // never fails
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if c.size != c.want.Bytes || hex.EncodeToString(c.hash.Sum(nil)) != c.want.SHA256 {
		return n, fmt.Errorf("the backup is damaged: %s has not the content that its manifest names; restore another backup", c.name)
	}
	return n, err
}

func (c *checkedFile) Close() error { return c.in.Close() }

// restoreFile copies a file of a backup to a path that must not exist.
func (r *restoring) restoreFile(ctx context.Context, f File, to string) error {
	if err := step(ctx, "restore "+f.Name); err != nil {
		return err
	}
	in, err := r.files.checked(ctx, r.folder, f)
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
