package fanout

import (
	"context"
	"errors"
	"slices"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

// replaceTries limits how often a change to a list is attempted when concurrent changes
// of the list overtake it.
const replaceTries = 20

var errOvertaken = errors.New("too many concurrent changes of the list")

// storeRead reads from the store the newest n posts above a position that a list must hold,
// among the posts that a job concerns.
type storeRead func(above social.Position, n int) ([]social.Entry, error)

// authorAgent updates an author's posts in an agent's list to what the store would deliver, after a
// follow, an unfollow, a block or an unblock. After a bulk follow it drops the list instead,
// which is rebuilt at the next read.
func (f *Fanout) authorAgent(ctx context.Context, j jobs.Job) error {
	author, agent, err := jobs.SplitPair(j.Key)
	if err != nil {
		return err
	}
	if author == jobs.Everybody {
		return f.d.Lists.Drop(ctx, []string{agent})
	}
	return f.reconcile(ctx, agent, f.entriesOfAuthor(ctx, author, agent), true)
}

func (f *Fanout) entriesOfAuthor(ctx context.Context, author, agent string) storeRead {
	return func(above social.Position, n int) ([]social.Entry, error) {
		return f.d.Store.PairEntries(ctx, author, agent, above, n)
	}
}

// member updates a circle's posts in an agent's list to what the store would deliver, after
// a membership began or ended.
func (f *Fanout) member(ctx context.Context, j jobs.Job) error {
	circle, agent, err := jobs.SplitPair(j.Key)
	if err != nil {
		return err
	}
	return f.reconcile(ctx, agent, func(above social.Position, n int) ([]social.Entry, error) {
		return f.d.Store.MemberEntries(ctx, circle, agent, above, n)
	}, true)
}

// reconcile adds the posts that read returns to a list and, with clean, removes all posts that do
// not belong in it. The change in the store must be committed before the call.
func (f *Fanout) reconcile(ctx context.Context, agent string, read storeRead, clean bool) error {
	one := []string{agent}
	// From here on, writes based on earlier reads of the store fail.
	if err := f.d.Lists.ClearToken(ctx, one); err != nil {
		return err
	}
	for range replaceTries {
		heads, err := f.d.Lists.Heads(ctx, one)
		if err != nil || heads[0].State != timeline.Ready {
			return err // a build that starts now reads the changed store
		}
		c, same, err := f.change(ctx, agent, heads[0], read, clean)
		if err != nil || same {
			return err
		}
		if done, err := f.d.Lists.Replace(ctx, agent, c); err != nil || done {
			return err
		}
	}
	return errOvertaken
}

// change returns the change that makes a list consistent with the store; same is true if
// it already is.
func (f *Fanout) change(ctx context.Context, agent string, head timeline.Head, read storeRead, clean bool) (c timeline.Change, same bool, err error) {
	c.Version = head.Version
	due, err := read(head.Floor, f.d.Cap+1)
	if err != nil {
		return c, false, err
	}
	c.Add, c.Floor = content(due, f.d.Cap)
	if !clean {
		return c, len(c.Add) == 0, nil
	}
	has, err := f.entries(ctx, agent)
	if err != nil {
		return c, false, err
	}
	ids := make([]string, len(has))
	for i, p := range has {
		ids[i] = p.ID
		at := slices.Index(c.Add, p)
		if at >= 0 {
			c.Add = slices.Delete(c.Add, at, at+1)
		}
	}
	statuses, err := f.d.Store.ListStatuses(ctx, agent, ids)
	if err != nil {
		return c, false, err
	}
	for _, s := range statuses {
		if !s.Listed {
			c.Remove = append(c.Remove, s.ID)
		}
	}
	return c, len(c.Add)+len(c.Remove) == 0 && c.Floor.Zero(), nil
}

// entries reads a whole list. A list that is no longer ready has no entries.
func (f *Fanout) entries(ctx context.Context, agent string) (all []timeline.Position, err error) {
	var below timeline.Position
	for {
		p, err := f.d.Lists.Read(ctx, agent, below, f.d.Cap)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Entries...)
		if !p.More {
			return all, nil
		}
		below = all[len(all)-1]
	}
}

// removeUnlisted removes a post, just deleted, from one list unless it belongs there.
func (f *Fanout) removeUnlisted(ctx context.Context, agent, post string) error {
	ctx, cancel := f.brief(ctx)
	defer cancel()
	for range replaceTries {
		heads, err := f.d.Lists.Heads(ctx, []string{agent})
		if err != nil || heads[0].State == timeline.None {
			return err
		}
		statuses, err := f.d.Store.ListStatuses(ctx, agent, []string{post})
		if err != nil || statuses[0].Listed {
			return err
		}
		done, err := f.d.Lists.Replace(ctx, agent, timeline.Change{Version: heads[0].Version, Remove: []string{post}})
		if err != nil || done {
			return err
		}
	}
	return errOvertaken
}
