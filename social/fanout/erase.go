package fanout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

const (
	// eraseStep is how many things of an agent one transaction removes.
	eraseStep = 500
	// leftAtOnce is how many lists are looked through at once.
	leftAtOnce = 50
	// standingsAtOnce is how many posts of these lists one statement asks for.
	standingsAtOnce = 1000
)

// erase removes what is left of an agent, and then their list. Each post that it ends has a
// job of its own; the lists of followers are its own.
func (f *Fanout) erase(ctx context.Context, agent string) error {
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

// leave takes what an erased author has posted out of the lists of followers: some lists at
// a time, instead of by a job of each follower.
func (f *Fanout) leave(ctx context.Context, author string, followers []string) error {
	for some := range slices.Chunk(followers, leftAtOnce) {
		heads, err := f.d.Lists.Heads(ctx, some)
		if err != nil {
			return err
		}
		var lists []string
		for i, h := range heads {
			if h.State != timeline.None {
				lists = append(lists, some[i])
			}
		}
		if err := f.takeLeft(ctx, author, lists); err != nil {
			return err
		}
	}
	return nil
}

// takeLeft takes what an author has posted and is not there any more out of lists.
func (f *Fanout) takeLeft(ctx context.Context, author string, lists []string) error {
	if len(lists) == 0 {
		return nil
	}
	// Whoever has asked the store before, to push or to build, writes nothing from here on.
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
	for part := range slices.Chunk(slices.Compact(ids), standingsAtOnce) {
		standings, err := f.d.Store.Standings(ctx, author, part)
		if err != nil {
			return err
		}
		for _, s := range standings {
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
	// Release removes the files of a post that is not there, never created or deleted, and returns
	// when they are gone. An error says that a store cannot be asked. It may be repeated.
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
