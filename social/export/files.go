package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/media"
)

// partBytes is the size of all parts of a file but the last.
const partBytes = 4 << 20

// Files stores files in parts, which are numbered from 1. Each file is written by one worker, and read after that.
type Files interface {
	Put(ctx context.Context, file string, part int, data []byte) error
	// Get returns a part. The error wraps [feed.ErrNotFound] if there is none.
	Get(ctx context.Context, file string, part int) ([]byte, error)
	// Delete removes the first parts of a file, as far as they exist.
	Delete(ctx context.Context, file string, parts int) error
}

// Rows are [Files] in the social store's database.
type Rows struct{ Store social.Exports }

// Put implements [Files].
func (r Rows) Put(ctx context.Context, file string, part int, data []byte) error {
	return r.Store.PutExportPart(ctx, file, part, data)
}

// Get implements [Files].
func (r Rows) Get(ctx context.Context, file string, part int) ([]byte, error) {
	return r.Store.ExportPart(ctx, file, part)
}

// Delete implements [Files].
func (r Rows) Delete(ctx context.Context, file string, _ int) error {
	return r.Store.DropExportParts(ctx, file)
}

// Objects are [Files] beside the images of posts, which all servers share.
type Objects struct{ Store media.Store }

func object(file string, part int) string { return fmt.Sprintf("%s%s/%06d", media.Exports, file, part) }

// Put implements [Files].
func (o Objects) Put(ctx context.Context, file string, part int, data []byte) error {
	return o.Store.Put(ctx, object(file, part), media.File{Type: "application/octet-stream", Data: data})
}

// Get implements [Files].
func (o Objects) Get(ctx context.Context, file string, part int) ([]byte, error) {
	r, err := o.Store.Open(ctx, object(file, part))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, partBytes+1))
	return data, errors.Join(err, r.Close())
}

// Delete implements [Files].
func (o Objects) Delete(ctx context.Context, file string, parts int) error {
	for part := range parts {
		if err := o.Store.Delete(ctx, object(file, part+1)); err != nil {
			return err
		}
	}
	return nil
}

// Folder are [Files] in a folder that only the user of the process can read.
type Folder struct{ root *os.Root }

// OpenFolder opens a folder, and creates it if it does not exist.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	return &Folder{root}, err
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

func inFolder(file string, part int) string { return fmt.Sprintf("%s/%06d", file, part) }

// Put implements [Files].
func (f *Folder) Put(_ context.Context, file string, part int, data []byte) error {
	if err := f.root.MkdirAll(file, 0o700); err != nil {
		return err
	}
	return f.root.WriteFile(inFolder(file, part), data, 0o600)
}

// Get implements [Files].
func (f *Folder) Get(_ context.Context, file string, part int) ([]byte, error) {
	data, err := f.root.ReadFile(inFolder(file, part))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", feed.ErrNotFound, err)
	}
	return data, err
}

// Delete implements [Files].
func (f *Folder) Delete(_ context.Context, file string, _ int) error { return f.root.RemoveAll(file) }

// cutter cuts what is written to it into parts.
type cutter struct {
	put   func(part int, data []byte) error
	part  []byte
	parts int
	bytes int64
}

// Write implements [io.Writer].
func (c *cutter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		some := min(len(p), partBytes-len(c.part))
		c.part, p = append(c.part, p[:some]...), p[some:]
		if len(c.part) == partBytes {
			if err := c.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// flush stores the part that has begun, if one has.
func (c *cutter) flush() error {
	if len(c.part) == 0 {
		return nil
	}
	c.parts, c.bytes = c.parts+1, c.bytes+int64(len(c.part))
	err := c.put(c.parts, c.part)
	c.part = c.part[:0]
	return err
}
