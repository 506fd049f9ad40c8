package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

// found holds the entries of lists by list name; lists that are no longer ready are
// absent.
type found map[string][]timeline.Position

// news tells the watches of the timelines whose heads have moved: some at a time, so that
// the first do not wait for the last.
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
	boxes, err := r.movedBoxes(ctx, moved)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(truthsAtOnce)
	for some := range slices.Chunk(moved, readersAtOnce) {
		g.Go(func() error { return r.tellSome(ctx, some, boxes) })
	}
	return g.Wait()
}

// offer holds the entries that may be new to an agent.
type offer struct {
	*target
	posts []timeline.Position // newest first
}

// tellSome tells the watches of some timelines.
func (r *round) tellSome(ctx context.Context, some []*target, boxes found) error {
	lists, err := r.movedLists(ctx, some)
	if err != nil {
		return err
	}
	var offers []offer
	asked := 0
	for i, t := range some {
		// Where a part of it is not there any more something has just expired.
		if proposed, ok := r.propose(t, lists, boxes); ok && len(proposed) > 0 {
			offers, asked = append(offers, offer{t, proposed}), asked+len(proposed)
		}
		if asked >= askedAtOnce || i == len(some)-1 {
			if err := r.w.tellOffers(ctx, offers); err != nil {
				return err
			}
			offers, asked = offers[:0], 0
		}
	}
	return nil
}

// tellOffers asks the store with one statement what of the offers the agents' timelines
// show, and tells that.
func (w *Watcher) tellOffers(ctx context.Context, offers []offer) error {
	var asked []social.Asked
	agents := make([]string, len(offers))
	for i, o := range offers {
		agents[i] = o.agent
		for _, p := range o.posts {
			asked = append(asked, social.Asked{Reader: o.agent, ID: p.ID})
		}
	}
	if len(asked) == 0 {
		return nil
	}
	cards, err := w.stores.Posts.CardsOf(ctx, asked)
	if err != nil {
		return err
	}
	profiles, err := w.stores.Profiles.ProfilesOf(ctx, agents)
	// Where profiles cannot be asked nothing is known of mutes.
	if err != nil && !errors.Is(err, catalog.ErrUnavailable) {
		return err
	}
	for i, o := range offers {
		read := timelineRead{agent: o.agent, profile: profiles[i]}
		var visible []timeline.Position
		for k, p := range o.posts {
			if read.shows(&cards[k], social.Position(p)) {
				visible = append(visible, p)
			}
		}
		cards = cards[len(o.posts):]
		o.tell(visible, later(o.newest, o.posts[0]))
	}
	return nil
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

// movedBoxes reads the outboxes whose heads have moved.
func (r *round) movedBoxes(ctx context.Context, moved []*target) (found, error) {
	var authors []string
	for _, t := range moved {
		seen := t.seen()
		for _, author := range t.pulled.Authors {
			if r.boxes[author].Newest.Compare(seen) > 0 {
				authors = append(authors, author)
			}
		}
	}
	slices.Sort(authors)
	return readMany(ctx, r.w.stores.Outboxes, slices.Compact(authors), MostNew)
}

// fewNew is how many entries of a list are read first: most have fewer that are new.
const fewNew = 8

// movedLists reads the lists whose heads have moved, as far as they are new.
func (r *round) movedLists(ctx context.Context, some []*target) (found, error) {
	var agents, more []string
	seen := map[string]timeline.Position{}
	for _, t := range some {
		if since := t.seen(); t.list.Newest.Compare(since) > 0 {
			agents = append(agents, t.agent)
			seen[t.agent] = since
		}
	}
	lists, err := readMany(ctx, r.w.stores.Lists, agents, fewNew)
	for agent, entries := range lists {
		if len(entries) == fewNew && entries[fewNew-1].Compare(seen[agent]) > 0 {
			more = append(more, agent)
		}
	}
	if err != nil || len(more) == 0 {
		return lists, err
	}
	longer, err := readMany(ctx, r.w.stores.Lists, more, MostNew)
	for _, agent := range more {
		delete(lists, agent) // what has expired since is not there
	}
	maps.Copy(lists, longer)
	return lists, err
}

func readMany(ctx context.Context, from timeline.Reader, names []string, n int) (found, error) {
	if len(names) == 0 {
		return nil, nil
	}
	pages, err := from.ReadMany(ctx, names, timeline.Position{}, n)
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
