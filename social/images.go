package social

import (
	"context"
	"fmt"
	"time"
)

// ImagePath begins the URL of every image of this server; its key follows.
const ImagePath = "/media/"

// ReservedFor is how long files may wait for the post they were reserved for. It
// is longer than any request, so that no upload is under way when it is over.
const ReservedFor = time.Hour

// Images keeps which file of the blob store belongs to which post. A file is
// reserved before it is stored, so that none is ever without a row: the
// images of a process that died in between are found by it. Keys are the blob store's.
type Images interface {
	// ReserveFiles notes files that are about to be stored for a post that is to be
	// created with [Creation.Files], and leaves an images job of the post for after
	// [ReservedFor], which that removes. feed.ErrInvalid for keys that are noted already.
	ReserveFiles(ctx context.Context, post string, keys []string) error

	// FilePost returns the post that a file belongs to, or feed.ErrNotFound: also of a
	// file that is only reserved, or whose post is deleted.
	FilePost(ctx context.Context, key string) (post string, err error)

	// UnusedFiles returns the files of a post that is not there: never created, or
	// deleted. From now on it cannot be created with them. None of a post that has
	// them.
	UnusedFiles(ctx context.Context, post string) (keys []string, err error)

	// DropFiles forgets files that are not stored any more. Those of a post that is
	// there, and unknown ones, are left out.
	DropFiles(ctx context.Context, keys []string) error
}

// How a file stands to its post, as backends store it.
const (
	FileReserved = iota // the post is not created yet
	FileUsed            // it is the post's
	FileUnused          // it is to be removed
)

// CheckReserved reports whether all files that a post is created with were
// reserved, and not given up since. The error wraps [ErrUnavailable].
func CheckReserved(want int, got int64) error {
	if int64(want) == got {
		return nil
	}
	return fmt.Errorf("%w: %d of the post's %d files are reserved", ErrUnavailable, got, want)
}
