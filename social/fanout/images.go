package fanout

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Files removes images. [media.Files] implements it.
type Files interface {
	// Release removes the files of a post that is not there, never created or
	// deleted, and returns when they are gone. An error says that a store cannot be
	// asked. It may be repeated.
	Release(ctx context.Context, post string) error
}

// images removes the images of a post that is not there. While their store is down it
// does not give up, whatever that says.
func (f *Fanout) images(ctx context.Context, post string) error {
	if f.d.Files == nil {
		return fmt.Errorf("%w: media.url is not set any more, and posts have images", jobs.ErrWait)
	}
	err := f.d.Files.Release(ctx, post)
	if err != nil && !errors.Is(err, social.ErrDamaged) {
		return fmt.Errorf("%w: %w", jobs.ErrWait, err)
	}
	return err
}
