package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Store stores files under keys, each atomically. Keys are relative paths with slashes. It is safe
// for concurrent use. Errors are the backend's own, or the context's.
type Store interface {
	// Put stores a file, or replaces it. After an error it may be stored or not.
	Put(ctx context.Context, key string, f File) error
	// Open opens a file, which the caller closes. ctx also bounds reads of the file. The error
	// wraps [feed.ErrNotFound] if there is no such file.
	Open(ctx context.Context, key string) (Reader, error)
	// Delete removes a file, if there is one.
	Delete(ctx context.Context, key string) error
	// Keys lists at most the first most keys, in order.
	Keys(ctx context.Context, most int) ([]string, error)
	// Close frees the resources of the store, which must not be used afterwards.
	Close() error
}

// Reader reads a stored file, from any offset.
type Reader interface {
	io.ReadSeekCloser
	// ContentType returns the media type, as stored or as detected from the content.
	ContentType() string
}

// Exports begins the keys of the parts of exports, which are in the store besides the images.
const Exports = "x-export/"

// probes begins the keys of the files that only test a store. They come before those of images.
const probes = "-probe/"

// probeAge is the age from which nobody works with such a file any more, and mostProbes the most of them
// that are removed at once.
const (
	probeAge   = 10 * time.Minute
	mostProbes = 1000
)

// Probe stores, lists, reads and removes a small file, and removes those of earlier probes that were
// killed. The error names the step that failed.
func Probe(ctx context.Context, store Store, now time.Time) (err error) {
	key, data := fmt.Sprintf("%s%d-%s", probes, now.Unix(), newKey()), []byte("a file that only tests whether files can be stored")
	if err := store.Put(ctx, key, File{Type: "text/plain", Data: data}); err != nil {
		return failed(ctx, "store a file", err)
	}
	defer func() {
		gone := store.Delete(context.WithoutCancel(ctx), key)
		if err == nil && gone != nil {
			err = failed(ctx, "remove a file", gone)
		}
	}()
	keys, err := store.Keys(ctx, mostProbes)
	if err != nil {
		return failed(ctx, "list files", err)
	}
	got, err := readAll(ctx, store, key)
	if err == nil && !bytes.Equal(got, data) {
		err = errors.New("the content read differs from the content stored")
	}
	if err != nil {
		return failed(ctx, "read a file", err)
	}
	for _, old := range keys {
		if !abandoned(old, now) {
			continue
		}
		if err := store.Delete(ctx, old); err != nil {
			return failed(ctx, "remove a file", err)
		}
	}
	return nil
}

// abandoned reports whether a key is that of a probe which was killed.
func abandoned(key string, now time.Time) bool {
	name, ok := strings.CutPrefix(key, probes)
	at, _, _ := strings.Cut(name, "-")
	made, err := strconv.ParseInt(at, 10, 64)
	return ok && err == nil && now.Sub(time.Unix(made, 0)) > probeAge
}

func readAll(ctx context.Context, store Store, key string) ([]byte, error) {
	r, err := store.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}
