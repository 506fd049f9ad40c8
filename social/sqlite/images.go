package sqlite

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
		n, err := t.exec(`INSERT INTO files (key, post, state) SELECT value, ?, ? FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
			post, social.FileReserved, array(keys))
		if err != nil {
			return err
		}
		if n != int64(len(keys)) {
			return fmt.Errorf("%w: a file of %s is noted already", social.ErrBad, post)
		}
		return t.mark(jobs.Dirty{Kind: jobs.Images, Key: post, Priority: jobs.PriorityLater, After: social.ReservedFor})
	}))
}

// useFiles gives a post that is created the files that were reserved for it.
func (t *tx) useFiles(post string, files int) error {
	if files == 0 {
		return nil
	}
	n, err := t.exec(`UPDATE files SET state = ? WHERE post = ? AND state = ?`, social.FileUsed, post, social.FileReserved)
	if err == nil {
		err = social.CheckReserved(files, n)
	}
	if err != nil {
		return err
	}
	_, err = t.exec(`DELETE FROM jobs WHERE kind = ? AND key = ?`, jobs.Images, post)
	return err
}

// giveUpFiles gives up the files of a post that is deleted.
func (t *tx) giveUpFiles(post string) error {
	if _, err := t.exec(`UPDATE files SET state = ? WHERE post = ?`, social.FileUnused, post); err != nil {
		return err
	}
	return t.mark(jobs.Dirty{Kind: jobs.Images, Key: post, Priority: jobs.PriorityRemoval})
}

// FilePost implements [social.Images].
func (s *Store) FilePost(ctx context.Context, key string) (post string, err error) {
	err = s.readers.read(ctx, func(q *reading) error {
		ok, err := found(q.row(`SELECT post FROM files WHERE key = ? AND state = ?`, key, social.FileUsed), &post)
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
		if _, err := t.exec(`UPDATE files SET state = ? WHERE post = ? AND state = ?`, social.FileUnused, post, social.FileReserved); err != nil {
			return err
		}
		keys, err = t.texts(`SELECT key FROM files WHERE post = ? AND state = ?`, post, social.FileUnused)
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
		_, err := t.exec(`DELETE FROM files WHERE key IN (SELECT value FROM json_each(?)) AND state = ?`, array(keys), social.FileUnused)
		return err
	}))
}
