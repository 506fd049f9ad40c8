package postgres

import (
	"context"
	"fmt"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// ReserveFiles implements [social.Images].
func (s *Store) ReserveFiles(ctx context.Context, post string, keys []string) error {
	if err := social.CheckPostID(post); err != nil {
		return err
	}
	return failed(ctx, "reserve files", s.write(ctx, func(t *tx) error {
		n, err := t.exec(`INSERT INTO files (key, post, state) SELECT unnest($1::text[]), $2, $3 ON CONFLICT DO NOTHING`,
			keys, post, social.FileReserved)
		if err != nil {
			return err
		}
		if n != int64(len(keys)) {
			return fmt.Errorf("%w: a file of %s is noted already", social.ErrBad, post)
		}
		t.mark(jobs.Dirty{Kind: jobs.Images, Key: post, Priority: jobs.PriorityLater, After: social.ReservedFor})
		return nil
	}))
}

// useFiles gives a post that is created the files that were reserved for it.
// Whoever gives them up at the same time waits for this transaction, and then
// finds them used.
func (t *tx) useFiles(post string, files int) error {
	if files == 0 {
		return nil
	}
	n, err := t.exec(`UPDATE files SET state = $1 WHERE post = $2 AND state = $3`, social.FileUsed, post, social.FileReserved)
	if err == nil {
		err = social.CheckReserved(files, n)
	}
	if err != nil {
		return err
	}
	t.then(`DELETE FROM jobs WHERE kind = $1 AND key = $2`, string(jobs.Images), post)
	return nil
}

// giveUpFiles gives up the files of a post that is deleted.
func (t *tx) giveUpFiles(post string) {
	t.then(`UPDATE files SET state = $1 WHERE post = $2`, social.FileUnused, post)
	t.mark(jobs.Dirty{Kind: jobs.Images, Key: post, Priority: jobs.PriorityRemoval})
}

// FilePost implements [social.Images].
func (s *Store) FilePost(ctx context.Context, key string) (post string, err error) {
	err = s.read(ctx, func(q querying) error {
		ok, err := found(q.row(`SELECT post FROM files WHERE key = $1 AND state = $2`, key, social.FileUsed), &post)
		if err == nil && !ok {
			err = social.ErrNotFound
		}
		return err
	})
	return post, failed(ctx, "read file", err)
}

// UnusedFiles implements [social.Images].
func (s *Store) UnusedFiles(ctx context.Context, post string) (keys []string, err error) {
	err = s.write(ctx, func(t *tx) error {
		if _, err := t.exec(`UPDATE files SET state = $1 WHERE post = $2 AND state = $3`, social.FileUnused, post, social.FileReserved); err != nil {
			return err
		}
		keys, err = t.texts(`SELECT key FROM files WHERE post = $1 AND state = $2`, post, social.FileUnused)
		return err
	})
	if err != nil {
		return nil, failed(ctx, "give up files", err)
	}
	return keys, nil
}

// DropFiles implements [social.Images].
func (s *Store) DropFiles(ctx context.Context, keys []string) error {
	return failed(ctx, "drop files", s.write(ctx, func(t *tx) error {
		t.then(`DELETE FROM files WHERE key = ANY ($1) AND state = $2`, every(keys), social.FileUnused)
		return nil
	}))
}
