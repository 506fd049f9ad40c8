package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/internal/guard"
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
		if r.moved(t) {
			moved = append(moved, t)
		} else {
			r.settle(t, nil)
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
		g.Go(guard.Func(func() error { return r.tellSome(ctx, some, boxes) }))
	}
	return g.Wait()
}

// moved reports whether there may be something new in a timeline, or whether its newest
// entries are to be known from now on.
func (r *round) moved(t *target) bool {
	if t.newest.Compare(t.seen()) > 0 {
		return true
	}
	begins := slices.ContainsFunc(t.watches, func(w *Watch) bool { return w.begins })
	return (begins || t.state != t.looked) && t.newest.Compare(r.recent) >= 0
}

// since is the position above which entries may be new to one of the watches.
func (r *round) since(t *target) timeline.Position {
	if seen := t.seen(); seen.Compare(r.recent) < 0 {
		return seen
	}
	return r.recent
}

// isNew reports whether an entry is new to a watch.
func (r *round) isNew(w *Watch, p timeline.Position) bool {
	return p.Compare(w.seen) > 0 || !w.begins && p.Compare(r.recent) >= 0 && !slices.Contains(w.known, p)
}

// settle notes that the entries of a timeline, newest first, have been looked at.
func (r *round) settle(t *target, entries []timeline.Position) {
	t.looked = t.state
	for _, w := range t.watches {
		w.begins = w.begins && !t.whole
		old := func(p timeline.Position) bool { return p.Compare(r.recent) < 0 }
		w.known = slices.DeleteFunc(w.known, old)
		for _, p := range entries {
			if !old(p) && !slices.Contains(w.known, p) {
				w.known = append(w.known, p)
			}
		}
		if len(entries) > 0 {
			w.seen = later(w.seen, entries[0])
		}
		w.seen = later(w.seen, t.newest)
	}
}

// offer holds the entries that may be new to an agent.
type offer struct {
	*target
	posts []timeline.Position // newest first
	all   []timeline.Position // with those that are known
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
		if o, ok := r.propose(t, lists, boxes); ok && len(o.posts) > 0 {
			offers, asked = append(offers, o), asked+len(o.posts)
		} else if ok {
			r.settle(t, o.all)
		}
		if asked >= askedAtOnce || i == len(some)-1 {
			if err := r.tellOffers(ctx, offers); err != nil {
				return err
			}
			offers, asked = offers[:0], 0
		}
	}
	return nil
}

// tellOffers asks the store with one statement what of the offers the agents' timelines
// show, and tells that.
func (r *round) tellOffers(ctx context.Context, offers []offer) error {
	w := r.w
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
			if cards[k].Author.ID != o.agent && read.shows(&cards[k], p) {
				visible = append(visible, p)
			}
		}
		cards = cards[len(o.posts):]
		r.tell(o.target, visible)
		r.settle(o.target, o.all)
	}
	return nil
}

// tell counts for each watch what is new to it. What the agent does not see is not
// looked at again.
func (r *round) tell(t *target, visible []timeline.Position) {
	for _, w := range t.watches {
		count := 0
		for _, p := range visible {
			if r.isNew(w, p) {
				count++
				w.told = later(w.told, p)
			}
		}
		if count > 0 {
			newsTotal.Inc()
			w.tell(count, w.told)
		}
	}
}

// movedBoxes reads the outboxes whose heads have moved.
func (r *round) movedBoxes(ctx context.Context, moved []*target) (found, error) {
	var authors []string
	for _, t := range moved {
		since := r.since(t)
		for _, author := range t.pulled.Authors {
			if r.boxes[author].Newest.Compare(since) > 0 {
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
	read := map[string]timeline.Position{}
	for _, t := range some {
		if since := r.since(t); t.list.Newest.Compare(since) > 0 {
			agents = append(agents, t.agent)
			read[t.agent] = since
		}
	}
	lists, err := readMany(ctx, r.w.stores.Lists, agents, fewNew)
	for agent, entries := range lists {
		if len(entries) == fewNew && entries[fewNew-1].Compare(read[agent]) > 0 {
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

// propose merges the newest that a timeline is read from, with those of them that are new
// to one of the watches; false: a part of it is not there any more.
func (r *round) propose(t *target, lists, boxes found) (offer, bool) {
	var all []timeline.Position
	since := r.since(t)
	add := func(newest timeline.Position, from found, name string) bool {
		if newest.Compare(since) <= 0 {
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
			all = append(all, e.Position)
		}
	}
	all = slices.DeleteFunc(all, func(p timeline.Position) bool { return p.Compare(since) <= 0 })
	slices.SortFunc(all, func(a, b timeline.Position) int { return b.Compare(a) })
	all = slices.Compact(all)
	o := offer{target: t, all: all}
	for _, p := range all {
		if len(o.posts) < MostNew && slices.ContainsFunc(t.watches, func(w *Watch) bool { return r.isNew(w, p) }) {
			o.posts = append(o.posts, p)
		}
	}
	return o, whole
}
