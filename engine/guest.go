package engine

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/social"
)

const (
	// guestReads is the maximum number of reads for a page that loses items to deletion.
	guestReads = 4
	// keepGuest is how long this process caches content for when it cannot be read.
	keepGuest = 10 * time.Minute
	// manyKept is how many items are cached: several times as many as pages have.
	manyKept = 1000
	// newestGuests is how many of the newest items are read: some may be deleted, or trend.
	newestGuests = 2 * MaxLimit
	// belowTrends scales the scores of the newest items below those of trending ones.
	belowTrends = 1e-6
	// A promoted item takes the ninth of every ten positions.
	promotedOf, promotedAt = 10, 9
)

// GuestStores are the sources of the guest feed.
type GuestStores struct {
	Trending trending.Sets
	Items    catalog.Reader // of posts it returns the public ones
	// Newest provides the items that fill a page if too few are trending.
	Newest recall.Source
	// Promoted proposes promoted items, without an agent. Nil means there are none.
	Promoted recall.Proposer
}

// Guest is the feed for readers who are not signed in: trending items, then the newest if those
// are too few, the same for everybody. It is safe for concurrent use.
type Guest struct {
	stores    GuestStores
	cfg       Config
	diversity func() feed.Diversity

	mu      sync.Mutex
	ordered guestOrder
	kept    *simplelru.LRU[string, keptDoc] // recently read items, by id
}

type keptDoc struct {
	feed.Doc
	at time.Time // when it was read
}

// GuestItem is an item of the guest feed.
type GuestItem struct {
	feed.Doc
	Source feed.Source // [feed.SourceTrending], [feed.SourceDiscovery] for the newest, or [feed.SourcePromoted]
	Trend  feed.Trend  // of a trending item
}

// GuestPage is the guest feed.
type GuestPage struct {
	Items    []GuestItem
	Degraded []string // the missing parts, as in [Answer]
}

// NewGuest returns the guest feed. Of the configuration it uses Clock, Log, Begin and OriginStep;
// diversity returns the rules that pages are currently built by.
func NewGuest(stores GuestStores, diversity func() feed.Diversity, cfg Config) *Guest {
	kept, _ := simplelru.NewLRU[string, keptDoc](manyKept, nil) // fails only for a size that is not positive
	return &Guest{stores: stores, cfg: cfg.withDefaults(), diversity: diversity, kept: kept}
}

// Page returns the first limit items, 1 to [MaxLimit]. Trending items are ordered by
// [feed.Trend.Guest] as of the moment the set was computed, and built like any page; the newest
// fill the rest, and promoted items take positions 9, 19, 29 and so on. It changes nothing and
// records nothing. Items that cannot be read are returned as they were some minutes ago. Errors
// wrap [feed.ErrBadLimit], [trending.ErrUnavailable] if no set of trends is known, or are those
// of the items or the newest if nothing can be shown.
func (g *Guest) Page(ctx context.Context, limit int) (GuestPage, error) {
	if err := feed.CheckLimit(limit, MaxLimit); err != nil {
		return GuestPage{}, err
	}
	if err := ctx.Err(); err != nil {
		return GuestPage{}, err
	}
	set, stale := g.stores.Trending.Set()
	if set == nil {
		return GuestPage{}, trending.ErrUnavailable
	}
	r := guestRead{g: g, now: g.cfg.Clock()}
	if stale {
		r.missing |= degraded.Trending
	}
	ctx = g.cfg.Begin(ctx)
	list := g.order(set, limit)
	if len(list) < limit {
		newest, err := r.newest(ctx)
		if err != nil && len(list) == 0 {
			return GuestPage{}, err
		}
		list = orderGuests(set, newest, g.diversity(), limit)
	}
	list, promoted := placeable(list, r.promoted(ctx, limit))
	items, err := r.fill(ctx, list, promoted, limit)
	if err == nil && len(items) < limit && len(r.refused) > 0 {
		items, err = r.refill(ctx, set, items, limit)
	}
	if err != nil {
		return GuestPage{}, err
	}
	r.missing.Count()
	return GuestPage{Items: placePromoted(items, limit), Degraded: r.missing.Names()}, nil
}

// guestRead holds the state of building one page.
type guestRead struct {
	g       *Guest
	now     time.Time
	missing degraded.Parts
	shown   []guestRef
	refused map[string]bool // the authors of posts that cannot be shown
}

// newest returns the newest items and public posts that are not by the authors, as many as may be needed.
func (r *guestRead) newest(ctx context.Context, without ...string) ([]feed.Candidate, error) {
	found, err := recallFrom(ctx, r.g.stores.Newest, feed.Query{
		Profile: feed.Profile{MutedAuthors: without}, Ranking: newestFirst, Origin: r.g.cfg.origin(r.now), N: newestGuests,
	})
	if found.Stale || err != nil && ctx.Err() == nil {
		r.missing |= degraded.Recall
	}
	return found.Candidates, err
}

// promoted returns the promoted proposals for a page.
func (r *guestRead) promoted(ctx context.Context, limit int) []guestRef {
	positions := (limit + promotedOf - promotedAt) / promotedOf
	if r.g.stores.Promoted == nil || positions == 0 {
		return nil
	}
	found, err := r.g.stores.Promoted.Propose(ctx, feed.Query{Origin: r.now, N: positions})
	if err != nil {
		r.g.cfg.Log.WarnContext(ctx, "the guest feed lacks promoted items", slog.Any("error", err))
		r.missing |= degraded.Promoted
		return nil
	}
	return convert.Each(found.Proposals, func(p recall.Proposal) guestRef {
		return guestRef{Ref: feed.Ref{ID: p.ID, Group: p.Group, Source: feed.SourcePromoted}}
	})
}

// fill reads the promoted items and as much of the list as fits on the page. It ignores an
// unavailable store if anything can be shown.
func (r *guestRead) fill(ctx context.Context, list, promoted []guestRef, limit int) (items []GuestItem, err error) {
	missing := limit
	for read := 0; read < guestReads && missing > 0 && len(list)+len(promoted) > 0; read++ {
		n := min(len(list), missing)
		var found []GuestItem
		found, err = r.read(ctx, slices.Concat(promoted, list[:n]))
		if err != nil && !down(ctx, err) {
			return nil, err
		}
		items = append(items, found...)
		list, promoted = list[n:], nil
		missing = limit - len(items)
	}
	if len(items) > 0 {
		err = nil
	}
	return items, err
}

// refill completes a page that is short since posts cannot be shown, with what others have published: an
// author who was suspended meanwhile may have all that trends, and all that is new.
func (r *guestRead) refill(ctx context.Context, set *trending.Set, items []GuestItem, limit int) ([]GuestItem, error) {
	newest, err := r.newest(ctx, slices.Sorted(maps.Keys(r.refused))...)
	others := &trending.Set{At: set.At}
	for _, e := range set.Entries {
		if !r.refused[e.Author] {
			others.Entries = append(others.Entries, e)
		}
	}
	list := without(orderGuests(others, newest, r.g.diversity(), limit), r.shown)
	if len(list) > 0 {
		var more []GuestItem
		more, err = r.fill(ctx, list, nil, limit-len(items))
		items = append(items, more...)
	}
	if len(items) > 0 {
		err = nil
	}
	return items, err
}

// read reads items, without deleted ones. With an error, it returns cached items for unreadable
// ones.
func (r *guestRead) read(ctx context.Context, refs []guestRef) ([]GuestItem, error) {
	ids := convert.Each(refs, func(r guestRef) string { return r.ID })
	docs, err := r.g.stores.Items.Docs(ctx, ids)
	docs = slices.Clone(docs)
	if len(docs) != len(ids) {
		docs = make([]feed.Doc, len(ids)) // nothing could be read
	}
	if errors.Is(err, social.ErrUnavailable) {
		r.missing |= degraded.Social // set even if cached posts were returned
	}
	r.keep(docs, ids, err)
	items := make([]GuestItem, 0, len(refs))
	for i, doc := range docs {
		if classify(&feed.Refusals{}, "", refs[i].Ref, doc, r.now.Unix(), 0) == api.OutcomePaged {
			items = append(items, GuestItem{Doc: doc, Source: refs[i].Source, Trend: refs[i].trend})
			r.shown = append(r.shown, refs[i])
		} else if err == nil && feed.IsPost(refs[i].ID) && refs[i].author != "" {
			r.refuse(refs[i].author)
		}
	}
	return items, err
}

func (r *guestRead) refuse(author string) {
	if r.refused == nil {
		r.refused = map[string]bool{}
	}
	r.refused[author] = true
}

// keep caches the items that were read, and fills in unreadable ones from the cache. Posts are
// cached where their deletion is known; see [social.CachedCards].
func (r *guestRead) keep(docs []feed.Doc, ids []string, err error) {
	g := r.g
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, id := range ids {
		k, kept := g.kept.Peek(id)
		switch {
		case docs[i].Missing() && err != nil:
			r.missing |= unread(id, err)
			if kept && r.now.Sub(k.at) <= keepGuest && !k.at.After(r.now) {
				docs[i] = k.Doc
			}
		case docs[i].Missing():
			g.kept.Remove(id)
		case err == nil && !feed.IsPost(id):
			g.kept.Add(id, keptDoc{docs[i], r.now})
		}
	}
}
