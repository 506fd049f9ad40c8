package social

import (
	"context"
	"time"
)

// ImagePath is the prefix of the URL of every image on this server; its key follows.
const ImagePath = "/media/"

// ReservedFor is how long files stay reserved for a post that is not created: longer than any
// request takes.
const ReservedFor = time.Hour

// Images records which file of the blob store belongs to which post. A file is reserved before it
// is stored, so that every stored file has a row. Keys are the blob store's.
type Images interface {
	// ReserveFiles records files that are about to be stored for a post that will be created with
	// [Creation.Files], and enqueues an images job of the post that runs after [ReservedFor]. Keys
	// that are already recorded are feed.ErrInvalid.
	ReserveFiles(ctx context.Context, post string, keys []string) error

	// FilePost returns the post that a file belongs to, or feed.ErrNotFound, also if the post is
	// not created yet, or deleted.
	FilePost(ctx context.Context, key string) (post string, err error)

	// UnusedFiles returns the files of a post that was never created, or is deleted. Afterwards it
	// cannot be created with them. It returns none for a post that uses its files.
	UnusedFiles(ctx context.Context, post string) (keys []string, err error)

	// DropFiles removes the records of files that are no longer stored, except those of a post that
	// exists.
	DropFiles(ctx context.Context, keys []string) error
}

// The states of a file, as backends store them.
const (
	FileReserved = iota // the post is not created yet
	FileUsed            // it belongs to a post
	FileUnused          // it can be removed
)
