package timelinetest

import (
	"fmt"
	"slices"

	"github.com/freshet/freshet/social/timeline"
)

// check checks the invariants that hold for all lists at any time.
func (w *system) check() error {
	if w.failed != nil {
		return w.failed
	}
	for _, agent := range w.agents {
		page, err := w.A.Read(w.ctx, agent, none, 100)
		if err != nil {
			return err
		}
		if page.State != timeline.Ready {
			continue
		}
		if err := w.sound(page); err != nil {
			return fmt.Errorf("%s: %w", agent, err)
		}
		for _, p := range w.posts {
			has := slices.Contains(page.Entries, p.Position)
			open := w.rows[job{post: p}] != nil || w.rows[job{pair: pair{agent, p.author}}] != nil
			if !has && !open && w.due(agent, p) && p.Above(page.Floor) {
				return fmt.Errorf("%s misses %v: %+v", agent, p.Position, page)
			}
			if has && p.deleted && w.rows[job{post: p}] == nil {
				return fmt.Errorf("%s has %v, which is deleted", agent, p.Position)
			}
		}
	}
	return nil
}

// sound checks the size and order of one list.
func (w *system) sound(page timeline.Page) error {
	if len(page.Entries) > w.most || page.More {
		return fmt.Errorf("too long: %+v", page)
	}
	for i, p := range page.Entries {
		if !p.Above(page.Floor) || i > 0 && p.Compare(page.Entries[i-1]) >= 0 {
			return fmt.Errorf("out of order: %+v", page)
		}
	}
	return nil
}

// due reports whether the store would deliver a post to an agent.
func (w *system) due(agent string, p *post) bool {
	return !p.deleted && w.follows[pair{agent, p.author}]
}

// delivered returns the posts that the store would deliver to an agent, newest first.
func (w *system) delivered(agent string) (list []timeline.Position) {
	for _, p := range w.posts {
		if w.due(agent, p) {
			list = append(list, p.Position)
		}
	}
	slices.SortFunc(list, func(a, b timeline.Position) int { return b.Compare(a) })
	return list
}

// settled compares the lists, read page by page, with the store after all jobs are done.
func (w *system) settled() error {
	known := map[string]*post{}
	for _, p := range w.posts {
		known[p.ID] = p
	}
	for _, agent := range w.agents {
		seen := []timeline.Position{}
		var page timeline.Page
		below := none
		for more := true; more; more = page.More {
			var err error
			if page, err = w.B.Read(w.ctx, agent, below, 2); err != nil {
				return err
			}
			for _, p := range page.Entries {
				below = p
				seen = append(seen, p)
			}
		}
		want := w.delivered(agent)
		want = slices.DeleteFunc(want, func(p timeline.Position) bool { return !p.Above(page.Floor) })
		if page.State == timeline.Ready && !slices.Equal(seen, want) {
			return fmt.Errorf("%s sees %v above %v, not %v", agent, seen, page.Floor, want)
		}
		if !page.Floor.Zero() && known[page.Floor.ID] == nil {
			return fmt.Errorf("%s has the floor %v, which is no post", agent, page.Floor)
		}
	}
	return nil
}
