package timeline

import (
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
)

// found holds the entries of lists by list name; lists that are no longer ready are
// absent.
type found map[string][]lists.Position

// news notifies the watches of the timelines whose heads have moved, in batches, so that the
// first do not wait for the last.
func (r *round) news(ctx context.Context) error {
	var moved []*Watch
	for _, w := range r.watches {
		if r.moved(w) {
			moved = append(moved, w)
		} else {
			r.markChecked(w, nil)
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
	g.SetLimit(storeCallsAtOnce)
	for some := range slices.Chunk(moved, readersAtOnce) {
		g.Go(safego.Func(func() error { return r.notifySome(ctx, some, boxes) }))
	}
	return g.Wait()
}

// moved reports whether a timeline may have something new, or its newest entries must be added to
// known.
func (r *round) moved(w *Watch) bool {
	if w.newest.Compare(w.seen) > 0 {
		return true
	}
	unchecked := w.begins || w.state != w.checked
	return unchecked && w.newest.Compare(r.recent) >= 0
}

// since returns the position above which entries may be new to a watch.
func (r *round) since(w *Watch) lists.Position {
	if w.seen.Compare(r.recent) < 0 {
		return w.seen
	}
	return r.recent
}

// isNew reports whether an entry is new to a watch.
func (r *round) isNew(w *Watch, p lists.Position) bool {
	if p.Compare(w.seen) > 0 {
		return true
	}
	late := !w.begins && p.Compare(r.recent) >= 0
	return late && !slices.Contains(w.known, p)
}

// markChecked records that the entries of a timeline, newest first, have been checked.
func (r *round) markChecked(w *Watch, entries []lists.Position) {
	w.checked, w.begins = w.state, w.begins && !w.whole
	old := func(p lists.Position) bool { return p.Compare(r.recent) < 0 }
	w.known = slices.DeleteFunc(w.known, old)
	for _, p := range entries {
		if !old(p) && !slices.Contains(w.known, p) {
			w.known = append(w.known, p)
		}
	}
	if len(entries) > 0 {
		w.seen = later(w.seen, entries[0])
	}
	w.seen = later(w.seen, w.newest)
}

// offer holds the entries that may be new to a watch.
type offer struct {
	*Watch
	posts []lists.Position // newest first
	all   []lists.Position // including known ones
	late  bool             // these are late posts that arrived up to upTo
	upTo  int64
}

// inTurn reports whether a post is reported by an offer: late posts are in the offers of those alone,
// unless the watch begins without a known arrival.
func (r *round) inTurn(o offer, c *social.Card) bool {
	if o.late || r.byPosition && c.Arrived <= o.arrived {
		return true
	}
	return !c.Late()
}

// notifySome notifies the watches of some timelines.
func (r *round) notifySome(ctx context.Context, some []*Watch, boxes found) error {
	lists, err := r.movedLists(ctx, some)
	if err != nil {
		return err
	}
	var offers []offer
	asked := 0
	for i, w := range some {
		// A source that is missing has just expired; the next check covers its timeline.
		if o, ok := r.propose(w, lists, boxes); ok && len(o.posts) > 0 {
			offers, asked = append(offers, o), asked+len(o.posts)
		} else if ok {
			r.markChecked(w, o.all)
		}
		if asked >= postsPerQuery || i == len(some)-1 {
			if err := r.notifyOffers(ctx, offers); err != nil {
				return err
			}
			offers, asked = offers[:0], 0
		}
	}
	return nil
}

// notifyOffers queries the store, with one statement, for the offered posts that the agents'
// timelines show, and reports these.
func (r *round) notifyOffers(ctx context.Context, offers []offer) error {
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
	// If profiles are unavailable, mutes are unknown.
	if err != nil && !errors.Is(err, catalog.ErrUnavailable) {
		return err
	}
	for i, o := range offers {
		read := pageRead{agent: o.agent, profile: profiles[i]}
		count := 0
		for k, p := range o.posts {
			c := &cards[k]
			if c.Author.ID == o.agent || !r.inTurn(o, c) || !read.shows(c, p) {
				continue
			}
			o.reported = later(o.reported, p)
			if o.counted.add(c) {
				count++
			}
		}
		cards = cards[len(o.posts):]
		if o.late {
			o.arrived = o.upTo
		} else {
			r.markChecked(o.Watch, o.all)
		}
		if count > 0 { // posts that the agent cannot see are not checked again
			newsTotal.Inc()
			o.notify(count)
		}
	}
	return nil
}

// movedBoxes reads the outboxes whose heads have moved.
func (r *round) movedBoxes(ctx context.Context, moved []*Watch) (found, error) {
	var authors []string
	for _, w := range moved {
		since := r.since(w)
		for _, author := range w.pulled.Authors {
			if r.boxes[author].Newest.Compare(since) > 0 {
				authors = append(authors, author)
			}
		}
	}
	slices.Sort(authors)
	return readMany(ctx, r.w.stores.Outboxes, slices.Compact(authors), MostNew)
}

// fewNew is how many entries of a list are read first: most lists have fewer new ones.
const fewNew = 8

// movedLists reads the new entries of the lists whose heads have moved.
func (r *round) movedLists(ctx context.Context, some []*Watch) (found, error) {
	var agents, more []string
	read := map[string]lists.Position{}
	for _, w := range some {
		since := r.since(w)
		if w.list.Newest.Compare(since) <= 0 {
			continue
		}
		at, twice := read[w.agent]
		if !twice {
			agents = append(agents, w.agent)
		}
		if !twice || since.Compare(at) < 0 { // of several streams of an agent, use the one that lags most
			read[w.agent] = since
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
		delete(lists, agent) // lists that have expired since are dropped
	}
	maps.Copy(lists, longer)
	return lists, err
}

func readMany(ctx context.Context, from lists.Reader, names []string, n int) (found, error) {
	if len(names) == 0 {
		return nil, nil
	}
	pages, err := from.ReadMany(ctx, names, lists.Position{}, n)
	if err != nil {
		return nil, err
	}
	all := make(found, len(names))
	for i, p := range pages {
		if p.State == lists.Ready {
			all[names[i]] = p.Entries
		}
	}
	return all, nil
}

// propose merges the newest entries of the sources of a timeline, and selects the new ones among
// them. It returns false if a source has expired.
func (r *round) propose(w *Watch, inLists, boxes found) (offer, bool) {
	var all []lists.Position
	since := r.since(w)
	add := func(newest lists.Position, from found, name string) bool {
		if newest.Compare(since) <= 0 {
			return true
		}
		entries, ok := from[name]
		all = append(all, entries...)
		return ok
	}
	whole := add(w.list.Newest, inLists, w.agent)
	for _, author := range w.pulled.Authors {
		whole = add(r.boxes[author].Newest, boxes, author) && whole
	}
	if w.pulled.Server {
		for _, e := range r.public {
			all = append(all, e.Position)
		}
	}
	all = slices.DeleteFunc(all, func(p lists.Position) bool { return p.Compare(since) <= 0 })
	slices.SortFunc(all, func(a, b lists.Position) int { return b.Compare(a) })
	all = slices.Compact(all)
	o := offer{Watch: w, all: all}
	for _, p := range all {
		if len(o.posts) < MostNew && r.isNew(w, p) {
			o.posts = append(o.posts, p)
		}
	}
	return o, whole
}
