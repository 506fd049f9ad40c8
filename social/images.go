package social

import (
	"context"
	"time"
)

// ImagePath begins the URL of every image of this server; its key follows.
const ImagePath = "/media/"

// ReservedFor is how long files may wait for the post they were reserved for: longer than any
// request.
const ReservedFor = time.Hour

// Images keeps which file of the blob store belongs to which post. A file is reserved before it
// is stored, so that none is ever without a row. Keys are the blob store's.
type Images interface {
	// ReserveFiles notes files that are about to be stored for a post that is to be created
	// with [Creation.Files], and leaves an images job of the post for after [ReservedFor].
	// feed.ErrInvalid for keys that are noted already.
	ReserveFiles(ctx context.Context, post string, keys []string) error

	// FilePost returns the post that a file belongs to, or feed.ErrNotFound, also where the
	// post is not created yet, or deleted.
	FilePost(ctx context.Context, key string) (post string, err error)

	// UnusedFiles returns the files of a post that is not there: never created, or deleted. From
	// now on it cannot be created with them. None of a post that has them.
	UnusedFiles(ctx context.Context, post string) (keys []string, err error)

	// DropFiles forgets files that are not stored any more, but those of a post that is there.
	DropFiles(ctx context.Context, keys []string) error
}

// How a file stands to its post, as backends store it.
const (
	FileReserved = iota // the post is not created yet
	FileUsed            // it is the post's
	FileUnused          // it is to be removed
)
