package sqlstore

import (
	"context"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// ReserveFiles implements [social.Images].
func (s *Store) ReserveFiles(ctx context.Context, owner string, keys []string) error {
	if !social.IsAvatar(owner) {
		if err := social.CheckPostID(owner); err != nil {
			return err
		}
	}
	return s.failed(ctx, "reserve files", s.write(ctx, func(t *Tx) {
		n := t.exec(`INSERT INTO files (key, post, state) SELECT j.value, $2, $3 FROM unnest($1::text[]) j (value) WHERE true ON CONFLICT DO NOTHING`,
			keys, owner, social.FileReserved)
		if n != int64(len(keys)) {
			t.fail(fmt.Errorf("%w: a file of %s is already reserved", feed.ErrInvalid, owner))
			return
		}
		t.enqueue(jobs.Spec{Kind: jobs.Images, Key: owner, Priority: jobs.PriorityLater, After: social.ReservedFor})
	}))
}

// useFiles assigns reserved files to a post that is being created, or to a card. A concurrent call that
// gives them up waits for this transaction, and then finds them used.
func (t *Tx) useFiles(owner string, files int) {
	if files == 0 {
		return
	}
	n := t.exec(`UPDATE files SET state = $1 WHERE post = $2 AND state = $3`, social.FileUsed, owner, social.FileReserved)
	if n != int64(files) {
		t.fail(fmt.Errorf("%w: only %d of %d files are still reserved; send the call again", social.ErrUnavailable, n, files))
		return
	}
	t.later(`DELETE FROM jobs WHERE kind = $1 AND key = $2`, string(jobs.Images), owner)
}

// giveUpFiles marks the files of a deleted post as unused.
func (t *Tx) giveUpFiles(post string) {
	t.later(`UPDATE files SET state = $1 WHERE post = $2`, social.FileUnused, post)
	t.enqueue(jobs.Spec{Kind: jobs.Images, Key: post, Priority: jobs.PriorityRemoval})
}

// replaceAvatar gives up the file of an author's avatar if the card had it and no longer does. A card that
// refers to another image of this server, such as that of a post, has no file of its own.
func (t *Tx) replaceAvatar(author, before, after string) {
	key := social.AvatarKey(before)
	if key == "" || key == social.AvatarKey(after) {
		return
	}
	owner := social.AvatarOwner(author, key)
	if t.exec(`UPDATE files SET state = $1 WHERE post = $2 AND state = $3`, social.FileUnused, owner, social.FileUsed) > 0 {
		t.enqueue(jobs.Spec{Kind: jobs.Images, Key: owner, Priority: jobs.PriorityRemoval})
	}
}

// PutAvatar implements [social.Authors].
func (s *Store) PutAvatar(ctx context.Context, author, key string) (social.Author, error) {
	return s.patchAuthor(ctx, author, func(t *Tx, a social.Author) (social.Author, error) {
		t.useFiles(social.AvatarOwner(author, key), 1)
		a.ImageURL = social.ImagePath + key
		return a, nil
	})
}

// FileOwner implements [social.Images].
func (s *Store) FileOwner(ctx context.Context, key string) (owner string, err error) {
	err = s.read(ctx, func(q *Query) {
		if !q.row(into(&owner), `SELECT post FROM files WHERE key = $1 AND state = $2`, key, social.FileUsed) {
			q.fail(feed.ErrNotFound)
			return
		}
	})
	return owner, s.failed(ctx, "read file", err)
}

// UnusedFiles implements [social.Images].
func (s *Store) UnusedFiles(ctx context.Context, owner string) (keys []string, err error) {
	err = s.write(ctx, func(t *Tx) {
		t.exec(`UPDATE files SET state = $1 WHERE post = $2 AND state = $3`, social.FileUnused, owner, social.FileReserved)
		keys = t.texts(`SELECT key FROM files WHERE post = $1 AND state = $2`, owner, social.FileUnused)
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
