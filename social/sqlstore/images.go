package sqlstore

import (
	"context"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// ReserveFiles implements [social.Images].
func (s *Store) ReserveFiles(ctx context.Context, post string, keys []string) error {
	if err := social.CheckPostID(post); err != nil {
		return err
	}
	return s.failed(ctx, "reserve files", s.write(ctx, func(t *Tx) {
		n := t.exec(`INSERT INTO files (key, post, state) SELECT j.value, $2, $3 FROM unnest($1::text[]) j (value) WHERE true ON CONFLICT DO NOTHING`,
			keys, post, social.FileReserved)
		if n != int64(len(keys)) {
			t.fail(fmt.Errorf("%w: a file of %s is already reserved", feed.ErrInvalid, post))
			return
		}
		t.enqueue(jobs.Spec{Kind: jobs.Images, Key: post, Priority: jobs.PriorityLater, After: social.ReservedFor})
	}))
}

// useFiles assigns reserved files to a post that is being created. A concurrent call that gives
// them up waits for this transaction, and then finds them used.
func (t *Tx) useFiles(post string, files int) {
	if files == 0 {
		return
	}
	n := t.exec(`UPDATE files SET state = $1 WHERE post = $2 AND state = $3`, social.FileUsed, post, social.FileReserved)
	if n != int64(files) {
		t.fail(fmt.Errorf("%w: only %d of the post's %d files are reserved", social.ErrUnavailable, n, files))
		return
	}
	t.later(`DELETE FROM jobs WHERE kind = $1 AND key = $2`, string(jobs.Images), post)
}

// giveUpFiles marks the files of a deleted post as unused.
func (t *Tx) giveUpFiles(post string) {
	t.later(`UPDATE files SET state = $1 WHERE post = $2`, social.FileUnused, post)
	t.enqueue(jobs.Spec{Kind: jobs.Images, Key: post, Priority: jobs.PriorityRemoval})
}

// FilePost implements [social.Images].
func (s *Store) FilePost(ctx context.Context, key string) (post string, err error) {
	err = s.read(ctx, func(q *Query) {
		if !q.row(into(&post), `SELECT post FROM files WHERE key = $1 AND state = $2`, key, social.FileUsed) {
			q.fail(feed.ErrNotFound)
			return
		}
	})
	return post, s.failed(ctx, "read file", err)
}

// UnusedFiles implements [social.Images].
func (s *Store) UnusedFiles(ctx context.Context, post string) (keys []string, err error) {
	err = s.write(ctx, func(t *Tx) {
		t.exec(`UPDATE files SET state = $1 WHERE post = $2 AND state = $3`, social.FileUnused, post, social.FileReserved)
		keys = t.texts(`SELECT key FROM files WHERE post = $1 AND state = $2`, post, social.FileUnused)
	})
	if err != nil {
		return nil, s.failed(ctx, "read unused files", err)
	}
	return keys, nil
}

// DropFiles implements [social.Images].
func (s *Store) DropFiles(ctx context.Context, keys []string) error {
	return s.failed(ctx, "drop files", s.write(ctx, func(t *Tx) {
		t.later(`DELETE FROM files WHERE key = ANY ($1) AND state = $2`, keys, social.FileUnused)
	}))
}
