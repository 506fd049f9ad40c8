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
	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/social"
)

// Files keeps the files of images in a store, and whose they are in the social
// store. It is safe for concurrent use.
type Files struct {
	store   Store
	rows    social.Images
	longest time.Duration
}

// saveAtOnce is how many files of a post are stored at once.
const saveAtOnce = 4

// NewFiles makes Files of a store, which the caller closes. To store all files of a post, or
// to remove one, takes longest at most: a store that hangs is one that is down.
func NewFiles(store Store, rows social.Images, longest time.Duration) *Files {
	return &Files{store, rows, longest}
}

// newKey is a name that nobody can guess: 128 random bits. It is no hash of the
// content, which would tell who knows a picture whether somebody has posted it.
func newKey() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // it never fails
	return hex.EncodeToString(raw)
}

// CheckKey reports whether a key can be one of ours; it is [feed.ErrNotFound] if not.
func CheckKey(key string) error {
	if len(key) != 32 || strings.Trim(key, "0123456789abcdef") != "" {
		return feed.ErrNotFound
	}
	return nil
}

// path is where a file lies: in one of 256 folders, for the sake of file systems.
func path(key string) string { return key[:2] + "/" + key }

// Save stores the images of a post that is to be created with n as [social.Creation.Files]. If that
// fails, call [Files.Release]; a process that dies before leaves it to the job of the post. Errors
// wrap [ErrUnavailable] or [social.ErrUnavailable], or are the context's.
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
	if err := f.rows.ReserveFiles(ctx, post, keys); err != nil {
		return nil, 0, err
	}
	late, err := f.within(ctx, func(ctx context.Context) error {
		var all errgroup.Group
		all.SetLimit(saveAtOnce)
		for i, file := range files {
			all.Go(guard.Func(func() error { return f.store.Put(ctx, path(keys[i]), file) }))
		}
		return all.Wait()
	})
	if err != nil {
		if !late { // else it is not waited for again
			f.undo(ctx, keys)
		}
		return nil, 0, failed(ctx, "store an image", err)
	}
	return saved, len(keys), nil
}

// within makes a call of the store, and reports whether it was late.
func (f *Files) within(ctx context.Context, call func(context.Context) error) (late bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.longest)
	defer cancel()
	err = call(ctx)
	return ctx.Err() != nil, err
}

// undo removes what a Save that failed has stored, as far as it can be. The keys stay reserved:
// what is still being written is the job's.
func (f *Files) undo(ctx context.Context, keys []string) {
	_, _ = f.within(context.WithoutCancel(ctx), func(ctx context.Context) error {
		for _, key := range keys {
			_ = f.store.Delete(ctx, path(key))
		}
		return nil
	})
}

// Release removes the files of a post that is not there, and returns when they are gone. Errors
// are those of Save. It may be repeated.
func (f *Files) Release(ctx context.Context, post string) error {
	keys, err := f.rows.UnusedFiles(ctx, post)
	if err != nil || len(keys) == 0 {
		return err
	}
	for _, key := range keys {
		if _, err := f.within(ctx, func(ctx context.Context) error { return f.store.Delete(ctx, path(key)) }); err != nil {
			return failed(ctx, "remove an image", err)
		}
	}
	return f.rows.DropFiles(ctx, keys)
}

// Post returns the post that a file belongs to: [feed.ErrNotFound], or the social store's errors.
func (f *Files) Post(ctx context.Context, key string) (string, error) {
	if err := CheckKey(key); err != nil {
		return "", err
	}
	return f.rows.FilePost(ctx, key)
}

// Open opens a stored file, which the caller closes. Errors are [feed.ErrNotFound],
// wrap [ErrUnavailable], or are the context's.
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

// Ping reports whether the store can be asked.
func (f *Files) Ping(ctx context.Context) error {
	if _, err := f.store.Keys(ctx, 1); err != nil {
		return failed(ctx, "ask", err)
	}
	return nil
}

// failed says what could not be done.
func failed(ctx context.Context, what string, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fmt.Errorf("%w: cannot %s: %w", ErrUnavailable, what, err)
}
