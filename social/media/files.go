package media

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social"
)

// Files stores the files of images in a store, and which post or avatar each belongs to in the social
// store. It is safe for concurrent use.
type Files struct {
	store   Store
	rows    social.Images
	longest time.Duration
}

// saveAtOnce limits the concurrent writes of files of a post.
const saveAtOnce = 4

// NewFiles returns Files over a store, which the caller closes. longest is the timeout for storing
// all files of a post, and for removing one: a store that hangs counts as unavailable.
func NewFiles(store Store, rows social.Images, longest time.Duration) *Files {
	return &Files{store, rows, longest}
}

// newKey returns an unguessable name: 128 random bits. A hash of the content would let anyone who
// has a picture find out whether it was posted.
func newKey() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // it never fails
	return hex.EncodeToString(raw)
}

// CheckKey returns [feed.ErrNotFound] if a key does not have the form of a key from this package.
func CheckKey(key string) error {
	if len(key) != 32 || strings.Trim(key, "0123456789abcdef") != "" {
		return feed.ErrNotFound
	}
	return nil
}

// path returns the path of a file: in one of 256 folders, to limit the size of directories.
func path(key string) string { return key[:2] + "/" + key }

// Save stores the images of a post. The caller then creates the post with n as
// [social.Creation.Files], and calls [Files.Release] if that fails; after a crash the post's job
// does so. Errors wrap [ErrUnavailable] or [social.ErrUnavailable], or are the context's.
func (f *Files) Save(ctx context.Context, post string, images []Image) (saved []social.Image, n int, err error) {
	var keys []string
	var files []File
	for _, m := range images {
		full, thumb := newKey(), newKey()
		keys, files = append(keys, full, thumb), append(files, m.Full, m.Thumb)
		saved = append(saved, social.Image{
			URL: social.ImagePath + full, Thumbnail: social.ImagePath + thumb,
			Width: m.Width, Height: m.Height, Color: m.Color, Digest: m.Digest,
		})
	}
	return saved, len(keys), f.put(ctx, post, keys, files)
}

// SaveAvatar stores the thumbnail of an image as an author's avatar, and returns its key. The caller then
// calls [social.Authors.PutAvatar], and [Files.Release] with the avatar's owner if that fails; after a crash
// the owner's job does so. Errors are those of Save.
func (f *Files) SaveAvatar(ctx context.Context, author string, m Image) (key string, err error) {
	key = newKey()
	return key, f.put(ctx, social.AvatarOwner(author, key), []string{key}, []File{m.Thumb})
}

// put reserves and stores the files of an owner.
func (f *Files) put(ctx context.Context, owner string, keys []string, files []File) error {
	if err := f.rows.ReserveFiles(ctx, owner, keys); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, f.longest)
	defer cancel()
	var all errgroup.Group
	all.SetLimit(saveAtOnce)
	for i, file := range files {
		all.Go(safego.Func(func() error { return f.store.Put(limited, path(keys[i]), file) }))
	}
	if err := all.Wait(); err != nil {
		if limited.Err() == nil { // after a timeout, do not wait for the store again
			f.undo(ctx, keys)
		}
		return failed(ctx, "store an image", err)
	}
	return nil
}

// undo removes the files that a failed Save has stored, and ignores errors. The keys stay reserved,
// so the job removes files that are still being written.
func (f *Files) undo(ctx context.Context, keys []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.longest)
	defer cancel()
	for _, key := range keys {
		_ = f.store.Delete(ctx, path(key))
	}
}

// Release removes the files of a post or an avatar that does not exist, and returns when they are removed.
// Errors are those of Save. It is idempotent.
func (f *Files) Release(ctx context.Context, owner string) error {
	keys, err := f.rows.UnusedFiles(ctx, owner)
	if err != nil || len(keys) == 0 {
		return err
	}
	for _, key := range keys {
		limited, cancel := context.WithTimeout(ctx, f.longest)
		err := f.store.Delete(limited, path(key))
		cancel()
		if err != nil {
			return failed(ctx, "remove an image", err)
		}
	}
	return f.rows.DropFiles(ctx, keys)
}

// Owner returns the post or the avatar that a file belongs to: see [social.IsAvatar]. Errors are
// [feed.ErrNotFound] or the social store's.
func (f *Files) Owner(ctx context.Context, key string) (string, error) {
	if err := CheckKey(key); err != nil {
		return "", err
	}
	return f.rows.FileOwner(ctx, key)
}

// Open opens a stored file, which the caller closes. Errors wrap [feed.ErrNotFound] or
// [ErrUnavailable], or are the context's.
func (f *Files) Open(ctx context.Context, key string) (Reader, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	r, err := f.store.Open(ctx, path(key))
	switch {
	case err == nil:
		return r, nil
	case errors.Is(err, feed.ErrNotFound):
		return nil, err
	}
	return nil, failed(ctx, "open an image", err)
}

// Ping returns an error if files cannot be listed or, once there is one, read. A right to list is no
// right to read.
func (f *Files) Ping(ctx context.Context) error {
	keys, err := f.store.Keys(ctx, 1)
	if err != nil {
		return failed(ctx, "list images", err)
	}
	for _, key := range keys {
		r, err := f.store.Open(ctx, key)
		if errors.Is(err, feed.ErrNotFound) { // removed meanwhile
			return nil
		}
		if err != nil {
			return failed(ctx, "read an image", err)
		}
		if err := r.Close(); err != nil {
			return failed(ctx, "read an image", err)
		}
	}
	return nil
}

// failed returns the error of a failed call of the store.
func failed(ctx context.Context, what string, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fmt.Errorf("%w: cannot %s: %w", ErrUnavailable, what, err)
}
