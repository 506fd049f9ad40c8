package timeline

import (
	"context"
	"errors"
	"slices"

	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
)

// proposal holds the entries that one source proposes below a position, newest first.
type proposal struct {
	entries []lists.Position
	// bound is the position above which the source is complete, including bound itself if it is
	// an entry. Zero means that the source is complete.
	bound lists.Position
	ended bool // the bound is the floor of a list
}

// fromList returns the proposal of one page of a list.
func fromList(p lists.Page) proposal {
	n := len(p.Entries)
	if p.More && n > 0 {
		return proposal{entries: p.Entries, bound: p.Entries[n-1]}
	}
	return proposal{entries: p.Entries, bound: p.Floor, ended: !p.Floor.Zero()}
}

// fromStore returns the proposal of the social store, which was asked for n entries.
func fromStore(list []social.Entry, n int) proposal {
	p := proposal{entries: convert.Each(list, func(e social.Entry) lists.Position { return e.Position })}
	if len(list) > 0 && len(list) == n {
		p.bound = p.entries[n-1]
	}
	return p
}

// propose returns the newest n positions below another one, without gaps. more reports that there
// are more.
func (r *pageRead) propose(ctx context.Context, below social.Position, n int) (found []social.Position, more bool, err error) {
	want := n + 1 // the last one shows that there are more
	own, ok, err := r.own(ctx, below, want)
	if err != nil {
		return nil, false, err
	}
	var all []lists.Position
	if ok {
		var complete bool
		if all, complete, err = r.merged(ctx, own, below, want); err != nil {
			return nil, false, err
		}
		ok = complete || len(all) == want
	}
	if !ok { // there is no list, or it ends at its floor, below which only the store knows the posts
		last := below
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		list, err := r.t.stores.Posts.Pull(ctx, social.PullQuery{Reader: r.agent, Below: last, N: want - len(all), Whole: true})
		if err != nil {
			return nil, false, err
		}
		all = append(all, fromStore(list, want).entries...)
	}
	return all[:min(n, len(all))], len(all) > n, nil
}

// merged combines the proposals of list and outboxes. complete reports that nothing is below
// them.
func (r *pageRead) merged(ctx context.Context, own proposal, below lists.Position, want int) (all []lists.Position, complete bool, err error) {
	pulled, ended, err := r.pulled(ctx, below, want)
	if err != nil {
		return nil, false, err
	}
	all, complete = mergeProposals(append(pulled, own), want)
	if len(all) == want || len(ended) == 0 {
		return all, complete, nil
	}
	// Outboxes end at their floors. The store has the posts below.
	list, err := r.t.stores.Posts.Newest(ctx, ended, below, want)
	if err != nil {
		return nil, false, err
	}
	for i := range pulled {
		if pulled[i].ended {
			pulled[i].bound = lists.Position{}
		}
	}
	all, complete = mergeProposals(append(pulled, own, fromStore(list, want)), want)
	return all, complete, nil
}

// mergeProposals returns the newest want entries that are certainly without gaps. complete
// reports that nothing is below them either.
func mergeProposals(sources []proposal, want int) (all []lists.Position, complete bool) {
	var bound lists.Position
	for _, s := range sources {
		all = append(all, s.entries...)
		if !s.bound.Zero() && (bound.Zero() || s.bound.Compare(bound) > 0) {
			bound = s.bound
		}
	}
	slices.SortFunc(all, func(a, b lists.Position) int { return b.Compare(a) })
	all = slices.Compact(all)
	if !bound.Zero() {
		all = slices.DeleteFunc(all, func(p lists.Position) bool { return p.Compare(bound) < 0 })
	}
	return all[:min(want, len(all))], bound.Zero()
}

// own returns the proposal of the agent's list; false means that the store must answer. An agent
// who follows [social.Server] gets every public post, which no list holds, and a list that must
// be rebuilt is incomplete.
func (r *pageRead) own(ctx context.Context, below lists.Position, n int) (proposal, bool, error) {
	stores := r.t.stores
	if stores.Incomplete != nil && stores.Incomplete() {
		r.noLists = true
		r.missing |= degraded.Timeline
	}
	if r.noLists || r.unlisted.Server || r.unlisted.Rebuilt {
		return proposal{}, false, nil
	}
	if stores.QueueBehind != nil && stores.QueueBehind() {
		r.missing |= degraded.Timeline
	}
	list, err := stores.Lists.Read(ctx, r.agent, below, n)
	if err == nil && list.State != lists.Ready {
		if err = stores.Builder.Build(ctx, r.agent); err == nil {
			list, err = stores.Lists.Read(ctx, r.agent, below, n)
		}
	}
	if err == nil && list.State == lists.Ready {
		return fromList(list), true, nil
	}
	r.noLists = true // not to be read again for this page
	switch {
	case ctx.Err() != nil:
		return proposal{}, false, ctx.Err()
	case errors.Is(err, social.ErrUnavailable):
		return proposal{}, false, err
	case errors.Is(err, lists.ErrUnavailable):
		r.missing |= degraded.Timeline
	case err != nil:
		r.t.cfg.Log.WarnContext(ctx, "cannot read a list; the posts come from the store", "agent", r.agent, "error", err)
	}
	return proposal{}, false, nil
}

// pulled returns the proposals of those followed authors whose posts are in no list: from
// their outboxes, and from the store for authors without one. ended lists the authors
// whose outboxes end at a floor.
func (r *pageRead) pulled(ctx context.Context, below lists.Position, n int) (out []proposal, ended []string, err error) {
	if len(r.unlisted.Authors) == 0 {
		return nil, nil, nil
	}
	missing := r.unlisted.Authors
	pages, err := r.t.stores.Outboxes.ReadMany(ctx, r.unlisted.Authors, below, n)
	switch {
	case err == nil:
		missing = nil
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, lists.ErrUnavailable):
		r.missing |= degraded.Timeline
		pages = nil
	default:
		r.t.cfg.Log.WarnContext(ctx, "cannot read outboxes; the posts come from the store", "agent", r.agent, "error", err)
		pages = nil
	}
	for i, p := range pages {
		if p.State != lists.Ready {
			missing = append(missing, r.unlisted.Authors[i])
			continue
		}
		source := fromList(p)
		if source.ended {
			ended = append(ended, r.unlisted.Authors[i])
		}
		out = append(out, source)
	}
	if len(missing) == 0 {
		return out, ended, nil
	}
	if r.missing&degraded.Timeline == 0 {
		if err := r.t.stores.Builder.Outbox(ctx, missing[:min(len(missing), outboxesAtOnce)]); err != nil && ctx.Err() == nil {
			r.t.cfg.Log.DebugContext(ctx, "cannot build outboxes; the posts come from the store", "error", err)
		}
	}
	list, err := r.t.stores.Posts.Newest(ctx, missing, below, n)
	return append(out, fromStore(list, n)), ended, err
}

// keptAtOnce is how many entries of a list are checked in one step while the store is
// unavailable: most of their posts may not be cached.
const keptAtOnce = 100

// keptPage returns a page while the store is unavailable: the cached public posts that the
// agent's list proposes. Relations are unknown then, so the page reports none; only the agent's
// own mutes apply. It returns cause if there is nothing to show.
func (r *pageRead) keptPage(ctx context.Context, req Request, cause error) (Page, error) {
	r.missing |= degraded.Social
	late := r.t.stores.Incomplete
	if late != nil && late() {
		r.missing |= degraded.Timeline
	}
	page, at := Page{Posts: []social.Card{}}, req.Below
	for {
		list, err := r.t.stores.Lists.Read(ctx, r.agent, at, keptAtOnce)
		if err != nil || list.State != lists.Ready {
			break
		}
		ids := convert.Each(list.Entries, func(p lists.Position) string { return p.ID })
		cards := social.FallbackCards(ctx, r.t.stores.CachedCards, ids, cause)
		if cards == nil {
			break
		}
		left := page.put(cards, list.Entries, req.Limit, func(c *social.Card, at social.Position) bool {
			strange := r.heads != nil && c.NotRecommended // home, which cannot know whether the reader follows the author
			return c.Public && asProposed(c, at) && !strange && !r.mutes(c)
		})
		// Below a floor there is more, once the store is back.
		page.HasMore = left || list.More || !list.Floor.Zero()
		if left || !list.More {
			break
		}
		at = list.Entries[len(list.Entries)-1]
	}
	if len(page.Posts) == 0 {
		return Page{}, cause
	}
	return page, nil
}
