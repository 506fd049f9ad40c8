package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/social"
)

const (
	// guestReads is how often a page that has lost items to deletion is filled up.
	guestReads = 4
	// keepGuest is how long content is kept in this process for when it cannot be read.
	keepGuest = 10 * time.Minute
	// manyKept is how many contents are kept: several times what pages are made of.
	manyKept = 1000
	// newestGuests is how many of the newest are read: some may be gone, or trend.
	newestGuests = 2 * MaxLimit
	// belowTrends makes scores of the newest smaller than those of what trends.
	belowTrends = 1e-6
	// A promoted item stands on the ninth position of every ten.
	promotedOf, promotedAt = 10, 9
)

// GuestStores are the sources of the guest feed.
type GuestStores struct {
	Trending trending.Sets
	Items    catalog.Reader // of posts it answers the public ones
	// Newest has the items that fill a page where too little trends.
	Newest recall.Source
	// Promoted proposes what is promoted, to no agent; nil: nothing is.
	Promoted recall.Proposer
}

// Guest is the feed for readers who are not known: what trends, and the newest where that is
// too little, the same for everybody. It is safe for concurrent use.
type Guest struct {
	stores    GuestStores
	cfg       Config
	diversity func() feed.Diversity

	mu      sync.Mutex
	ordered guestOrder
	kept    *simplelru.LRU[string, keptDoc] // by id, items that were read lately
}

type keptDoc struct {
	feed.Doc
	at time.Time // when it was read
}

// GuestItem is an item of the guest feed.
type GuestItem struct {
	feed.Doc
	Source feed.Source // [feed.SourceTrending], [feed.SourceDiscovery] of the newest, or [feed.SourcePromoted]
	Trend  feed.Trend  // of what trends
}

// GuestPage is the guest feed.
type GuestPage struct {
	Items    []GuestItem
	Degraded []string // what the answer lacks, as in [Answer]
}

// NewGuest returns the guest feed. Of the configuration it uses Clock, Log, Begin and OriginStep;
// diversity tells how pages are built at the moment.
func NewGuest(stores GuestStores, diversity func() feed.Diversity, cfg Config) *Guest {
	kept, _ := simplelru.NewLRU[string, keptDoc](manyKept, nil) // fails only for a size that is not positive
	return &Guest{stores: stores, cfg: cfg.withDefaults(), diversity: diversity, kept: kept}
}

// Page answers the first limit items, 1 to [MaxLimit]. Their order is that of
// [feed.Trend.Guest] as of the moment the set was computed, built like any page, with the
// newest behind them where they do not fill it, and what is promoted on positions 9, 19, 29
// and so on. It changes nothing and records nothing. Items that cannot be read are as they
// were some minutes ago. Errors wrap [feed.ErrBadLimit], [trending.ErrUnavailable] while
// nothing is known to trend, or are those of the items or the newest where nothing is shown.
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
		r.lacks |= lacksTrending
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
	if err != nil {
		return GuestPage{}, err
	}
	countDegraded(r.lacks)
	return GuestPage{Items: placePromoted(items, limit), Degraded: r.lacks.names()}, nil
}

// guestRead is the making of one page.
type guestRead struct {
	g     *Guest
	now   time.Time
	lacks parts
}

// newest are the newest items and public posts, as far as they may be needed.
func (r *guestRead) newest(ctx context.Context) ([]feed.Candidate, error) {
	found, err := recallFrom(ctx, r.g.stores.Newest, feed.Query{Ranking: newestFirst, Origin: r.g.cfg.origin(r.now), N: newestGuests})
	if found.Stale || err != nil && ctx.Err() == nil {
		r.lacks |= lacksRecall
	}
	return found.Candidates, err
}

// promoted are the proposals for a page.
func (r *guestRead) promoted(ctx context.Context, limit int) []guestRef {
	positions := (limit + promotedOf - promotedAt) / promotedOf
	if r.g.stores.Promoted == nil || positions == 0 {
		return nil
	}
	found, err := r.g.stores.Promoted.Propose(ctx, feed.Query{Origin: r.now, N: positions})
	if err != nil {
		r.g.cfg.Log.WarnContext(ctx, "the guest feed goes without what is promoted", slog.Any("error", err))
		r.lacks |= lacksPromoted
		return nil
	}
	return each(found.Proposals, func(p recall.Proposal) guestRef {
		return guestRef{Ref: feed.Ref{ID: p.ID, Group: p.Group, Source: feed.SourcePromoted}}
	})
}

// fill reads what is promoted and as much of the list as the page has room for. An
// error is that of a page without anything.
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

// read reads items; what is gone is left out. What cannot be read is as kept, beside the error.
func (r *guestRead) read(ctx context.Context, refs []guestRef) ([]GuestItem, error) {
	ids := each(refs, func(r guestRef) string { return r.ID })
	docs, err := r.g.stores.Items.Docs(ctx, ids)
	if docs = slices.Clone(docs); len(docs) != len(ids) {
		docs = make([]feed.Doc, len(ids)) // nothing could be read
	}
	if errors.Is(err, social.ErrUnavailable) {
		r.lacks |= lacksSocial // also of the posts that are there, as they were kept
	}
	r.keep(docs, ids, err)
	items := make([]GuestItem, 0, len(refs))
	for i, doc := range docs {
		if becomes(&feed.Refusals{}, "", refs[i].Ref, doc, r.now.Unix(), 0) == api.OutcomePaged {
			items = append(items, GuestItem{Doc: doc, Source: refs[i].Source, Trend: refs[i].trend})
		}
	}
	return items, err
}

// keep keeps the items that were read, and fills in those that could not be from what
// was kept. Posts are kept where their deletion is known, see [social.KeptCards].
func (r *guestRead) keep(docs []feed.Doc, ids []string, err error) {
	g := r.g
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, id := range ids {
		k, kept := g.kept.Peek(id)
		switch {
		case docs[i].Missing() && err != nil:
			r.lacks |= unread(id, err)
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
