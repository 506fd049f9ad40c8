package fanout

import (
	"context"
	"errors"
	"slices"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

// replaceTries is how often a change of a list is begun anew because somebody
// else has changed the list meanwhile.
const replaceTries = 20

// reading asks the store for the newest n posts above a position that a list must
// hold, of those that a job is about.
type reading func(above social.Position, n int) ([]social.Entry, error)

// pair makes an author's posts in an agent's list what the store would deliver,
// after a follow, an unfollow, a block or its end. After many follows at once the
// list ends, and is built when it is read.
func (f *Fanout) pair(ctx context.Context, key string) error {
	author, agent, err := jobs.SplitPair(key)
	if err != nil {
		return err
	}
	if author == jobs.Everybody {
		return f.d.Lists.Drop(ctx, []string{agent})
	}
	return f.agree(ctx, agent, f.ofPair(ctx, author, agent), true)
}

func (f *Fanout) ofPair(ctx context.Context, author, agent string) reading {
	return func(above social.Position, n int) ([]social.Entry, error) {
		return f.d.Store.PairEntries(ctx, author, agent, above, n)
	}
}

// member makes a circle's posts in an agent's list what the store would deliver,
// after a membership began or ended.
func (f *Fanout) member(ctx context.Context, key string) error {
	circle, agent, err := jobs.SplitPair(key)
	if err != nil {
		return err
	}
	return f.agree(ctx, agent, func(above social.Position, n int) ([]social.Entry, error) {
		return f.d.Store.MemberEntries(ctx, circle, agent, above, n)
	}, true)
}

// agree makes a list have what reading says, and, with clean, nothing that does
// not belong into it. The change of the store is committed.
func (f *Fanout) agree(ctx context.Context, agent string, read reading, clean bool) error {
	one := []string{agent}
	// Whoever has asked the store before now writes nothing from here on.
	if err := f.d.Lists.ClearToken(ctx, one); err != nil {
		return err
	}
	return replaced(func() (done bool, err error) {
		heads, err := f.d.Lists.Heads(ctx, one)
		if err != nil || heads[0].State != timeline.Ready {
			return true, err // what is built now is built from the store as it is
		}
		c, same, err := f.change(ctx, agent, heads[0], read, clean)
		if err != nil || same {
			return true, err
		}
		return f.d.Lists.Replace(ctx, agent, c)
	})
}

// replaced tries to replace a list, again where another change came between.
func replaced(try func() (done bool, err error)) error {
	for range replaceTries {
		if done, err := try(); err != nil || done {
			return err
		}
	}
	return errors.New("the list is changed all the time")
}

// change returns the change that makes a list consistent with the store; same: it is.
func (f *Fanout) change(ctx context.Context, agent string, head timeline.Head, read reading, clean bool) (c timeline.Change, same bool, err error) {
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
		if at := slices.Index(c.Add, p); at >= 0 {
			c.Add = slices.Delete(c.Add, at, at+1)
		}
	}
	standings, err := f.d.Store.Standings(ctx, agent, ids)
	if err != nil {
		return c, false, err
	}
	for _, s := range standings {
		if !s.Listed {
			c.Remove = append(c.Remove, s.ID)
		}
	}
	return c, len(c.Add)+len(c.Remove) == 0 && c.Floor.Zero(), nil
}

// entries reads a whole list; nothing where it is not ready any more.
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

// takeOut takes a post out of one list, if it does not belong there.
func (f *Fanout) takeOut(ctx context.Context, agent, post string) error {
	return replaced(func() (done bool, err error) {
		heads, err := f.d.Lists.Heads(ctx, []string{agent})
		if err != nil || heads[0].State == timeline.None {
			return true, err
		}
		standings, err := f.d.Store.Standings(ctx, agent, []string{post})
		if err != nil || standings[0].Listed {
			return true, err
		}
		return f.d.Lists.Replace(ctx, agent, timeline.Change{Version: heads[0].Version, Remove: []string{post}})
	})
}
