package fanout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/freshet/freshet/feed/personal"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

// Parts lists what is derived from the social store about agents. The job of an erasure removes it.
func (f *Fanout) Parts() []personal.Part {
	return []personal.Part{{
		Name: "lists", What: "lists of the posts in your timeline, and of your newest posts",
		Places:  []string{"redis timeline:", "redis celebrity_posts:"},
		Without: "they are made from what you follow and from the posts of others, and made anew when they are missing",
	}, {
		Name: "cached_posts", What: "copies of your public posts, for readers while the database is down", Places: []string{"redis feed:post:"},
		Without: "posts has them",
	}}
}

const (
	// eraseStep is how many records of an agent one transaction removes.
	eraseStep = 500
	// listsAtOnce is how many lists are searched at once.
	listsAtOnce = 50
	// statusesAtOnce is how many posts of these lists one statement queries.
	statusesAtOnce = 1000
)

// erase removes the remaining data of an agent, and then their list. Each post that it deletes has
// a separate job; the lists of followers are handled here.
func (f *Fanout) erase(ctx context.Context, j jobs.Job) error {
	agent := j.Key
	if err := f.hide(ctx, agent); err != nil {
		return err
	}
	for {
		done, err := f.d.Store.EraseSome(ctx, agent, eraseStep, func(ctx context.Context, followers []string) error {
			return f.leave(ctx, agent, followers)
		})
		if err != nil {
			return err
		}
		if done {
			return f.d.Lists.Drop(ctx, []string{agent})
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// leave removes the posts of an erased author from the lists of followers, in batches of lists
// instead of with a job for each follower.
func (f *Fanout) leave(ctx context.Context, author string, followers []string) error {
	for some := range slices.Chunk(followers, listsAtOnce) {
		versions, err := f.d.Lists.Versions(ctx, some)
		if err != nil {
			return err
		}
		var lists []string
		for i, version := range versions {
			if version != "" {
				lists = append(lists, some[i])
			}
		}
		if err := f.removeErased(ctx, author, lists); err != nil {
			return err
		}
	}
	return nil
}

// removeErased removes an author's posts from lists in which they do not belong any more.
func (f *Fanout) removeErased(ctx context.Context, author string, lists []string) error {
	if len(lists) == 0 {
		return nil
	}
	// From here on, pushes and builds based on earlier reads of the store fail.
	if err := f.d.Lists.ClearToken(ctx, lists); err != nil {
		return err
	}
	pages, err := f.d.Lists.ReadMany(ctx, lists, timeline.Position{}, f.d.Cap+f.d.Cap/timeline.TrimMore+1)
	if err != nil {
		return err
	}
	var ids []string
	for _, p := range pages {
		for _, e := range p.Entries {
			ids = append(ids, e.ID)
		}
	}
	slices.Sort(ids)
	var gone []string
	for part := range slices.Chunk(slices.Compact(ids), statusesAtOnce) {
		statuses, err := f.d.Store.ListStatuses(ctx, author, part)
		if err != nil {
			return err
		}
		for _, s := range statuses {
			if s.Found && s.Author == author && !s.Listed {
				gone = append(gone, s.ID)
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return f.d.Lists.Remove(ctx, lists, gone)
}

// Files removes images. [media.Files] implements it.
type Files interface {
	// Release removes the files of a post that was never created or is deleted, and returns when
	// they are removed. An error means that a store is unavailable. Release is idempotent.
	Release(ctx context.Context, post string) error
}

// images removes the images of a post that does not exist. Any error of their store counts as an
// outage, so that the job is retried without a limit, except for [social.ErrDamaged].
func (f *Fanout) images(ctx context.Context, j jobs.Job) error {
	if f.d.Files == nil {
		return fmt.Errorf("%w: media.url is no longer set, but posts have images", jobs.ErrWait)
	}
	err := f.d.Files.Release(ctx, j.Key)
	if err != nil && !errors.Is(err, social.ErrDamaged) {
		return fmt.Errorf("%w: %w", jobs.ErrWait, err)
	}
	return err
}
