package engine

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/timeline"
)

// found is what lists have, by their names; those that are not ready any more are
// not in it.
type found map[string][]timeline.Position

// news tells the watches of the timelines whose heads have moved.
func (r *round) news(ctx context.Context) error {
	var moved []*target
	for _, t := range r.targets {
		if t.moved() {
			moved = append(moved, t)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	lists, boxes, err := r.entries(ctx, moved)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(truthsAtOnce)
	for _, t := range moved {
		proposed, ok := r.propose(t, lists, boxes)
		if !ok || len(proposed) == 0 { // something has just expired
			continue
		}
		g.Go(func() error {
			visible, err := r.w.visible(ctx, t.agent, proposed)
			if err != nil {
				return err
			}
			t.tell(visible, later(t.newest, proposed[0]))
			return nil
		})
	}
	return g.Wait()
}

// tell counts for each watch what is new to it. What the agent does not see is not
// looked at again.
func (t *target) tell(visible []timeline.Position, looked timeline.Position) {
	for _, w := range t.watches {
		count := 0
		for count < len(visible) && visible[count].Compare(w.seen) > 0 {
			count++
		}
		if count > 0 {
			newsTotal.Inc()
			w.tell(count, visible[0])
		}
		w.seen = later(w.seen, looked)
	}
}

// entries reads the lists and outboxes whose heads have moved.
func (r *round) entries(ctx context.Context, moved []*target) (lists, boxes found, err error) {
	var agents, authors []string
	for _, t := range moved {
		seen := t.seen()
		if t.list.Newest.Compare(seen) > 0 {
			agents = append(agents, t.agent)
		}
		for _, author := range t.pulled.Authors {
			if r.boxes[author].Newest.Compare(seen) > 0 {
				authors = append(authors, author)
			}
		}
	}
	slices.Sort(authors)
	authors = slices.Compact(authors)
	if lists, err = readMany(ctx, r.w.stores.Lists, agents); err != nil {
		return nil, nil, err
	}
	boxes, err = readMany(ctx, r.w.stores.Outboxes, authors)
	return lists, boxes, err
}

func readMany(ctx context.Context, from timeline.Reader, names []string) (found, error) {
	if len(names) == 0 {
		return nil, nil
	}
	pages, err := from.ReadMany(ctx, names, timeline.Position{}, MostNew)
	if err != nil {
		return nil, err
	}
	all := make(found, len(names))
	for i, p := range pages {
		if p.State == timeline.Ready {
			all[names[i]] = p.Entries
		}
	}
	return all, nil
}

// propose merges the newest that a timeline is read from and that is new to one of
// the watches; false: a part of it is not there any more.
func (r *round) propose(t *target, lists, boxes found) ([]timeline.Position, bool) {
	var all []timeline.Position
	seen := t.seen()
	add := func(newest timeline.Position, from found, name string) bool {
		if newest.Compare(seen) <= 0 {
			return true
		}
		entries, ok := from[name]
		all = append(all, entries...)
		return ok
	}
	whole := add(t.list.Newest, lists, t.agent)
	for _, author := range t.pulled.Authors {
		whole = add(r.boxes[author].Newest, boxes, author) && whole
	}
	if t.pulled.Server {
		for _, e := range r.public {
			all = append(all, timeline.Position(e.Position))
		}
	}
	all = slices.DeleteFunc(all, func(p timeline.Position) bool { return p.Compare(seen) <= 0 })
	slices.SortFunc(all, func(a, b timeline.Position) int { return b.Compare(a) })
	all = slices.Compact(all)
	return all[:min(MostNew, len(all))], whole
}

// visible asks the store which of the proposed posts the agent's timeline shows.
func (w *Watcher) visible(ctx context.Context, agent string, proposed []timeline.Position) ([]timeline.Position, error) {
	known := make([]social.Known, len(proposed))
	for i, p := range proposed {
		known[i].ID = p.ID
	}
	cards, err := w.stores.Posts.Cards(ctx, agent, known)
	if err != nil {
		return nil, err
	}
	read := timelineRead{agent: agent}
	read.profile, err = w.stores.Profiles.Profile(ctx, agent)
	// Without a profile nothing is muted; where it cannot be asked nothing is known of mutes.
	if err != nil && !errors.Is(err, catalog.ErrNotFound) && !errors.Is(err, catalog.ErrUnavailable) {
		return nil, err
	}
	var visible []timeline.Position
	for i, c := range cards {
		if read.shows(c, social.Position(proposed[i])) {
			visible = append(visible, proposed[i])
		}
	}
	return visible, nil
}
