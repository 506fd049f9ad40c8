// Package folder is a [media.Store] in a folder of a file system.
package folder

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/media"
)

// Unfinished is the suffix of files that are being written. A killed process leaves such files.
const Unfinished = ".tmp"

// Store stores each file under its key, a path below the folder. It is safe for use by several
// processes.
type Store struct {
	root  *os.Root
	calls chan struct{} // has a value for each running call
}

var _ media.Store = (*Store)(nil)

// Open opens a folder, and creates it if it does not exist.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Store{root, make(chan struct{}, maxCalls)}, nil
}

// Put implements [media.Store]. The file has a temporary name until it is complete, in its final
// folder: a rename cannot move it to another disk.
func (s *Store) Put(ctx context.Context, key string, f media.File) error {
	_, err := within(ctx, s, func() (struct{}, error) {
		unfinished := key + "." + rand.Text() + Unfinished
		err := s.write(unfinished, f.Data)
		if err == nil {
			err = s.root.Rename(unfinished, key)
		}
		if err != nil {
			_ = s.root.Remove(unfinished)
		}
		return struct{}{}, err
	})
	return err
}

// write creates a file and its folder. It retries because [Store.Delete] may remove the folder,
// while it is empty, before the file is created.
func (s *Store) write(name string, data []byte) (err error) {
	for range 10 {
		if err = s.root.MkdirAll(path.Dir(name), 0o750); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err = s.root.WriteFile(name, data, 0o666); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// Open implements [media.Store]. The media type is detected from the content.
func (s *Store) Open(ctx context.Context, key string) (media.Reader, error) {
	f, err := within(ctx, s, func() (*os.File, error) { return s.root.Open(key) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no such image file: %w: %w", feed.ErrNotFound, err)
	}
	if err != nil {
		return nil, err
	}
	opened := &file{f: f, ctx: ctx, store: s}
	head, err := io.ReadAll(io.LimitReader(opened, 512)) // DetectContentType uses no more
	if err == nil {
		_, err = opened.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	opened.kind = http.DetectContentType(head)
	return opened, nil
}

// Delete implements [media.Store]. It also removes folders that are empty then.
func (s *Store) Delete(ctx context.Context, key string) error {
	_, err := within(ctx, s, func() (struct{}, error) {
		if err := s.root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return struct{}{}, err
		}
		for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
			if s.root.Remove(dir) != nil {
				break // it has other files
			}
		}
		return struct{}{}, nil
	})
	return err
}

// Keys implements [media.Store]. It does not list files that are being written.
func (s *Store) Keys(ctx context.Context, most int) ([]string, error) {
	return within(ctx, s, func() (keys []string, err error) {
		err = fs.WalkDir(s.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err == nil && ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				return err
			case len(keys) == most:
				return fs.SkipAll
			case !entry.IsDir() && !strings.HasSuffix(name, Unfinished):
				keys = append(keys, name)
			}
			return nil
		})
		return keys, err
	})
}

// Close implements [media.Store].
func (s *Store) Close() error { return s.root.Close() }
