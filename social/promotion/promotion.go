// Package promotion is home's source of promoted items. It caches the promotions of the social
// store in this process, with the required data of the promoted items, and draws among the
// running ones by weight.
package promotion

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
)

const (
	// refreshEvery is the maximum age of the cached promotions.
	refreshEvery = 5 * time.Second
	// refreshWithin bounds one refresh.
	refreshWithin = 30 * time.Second
	// itemBatch is the number of items read in one call.
	itemBatch = 500
	// remember is how long acts on a promoted item count after the promotion's end: as long as
	// the counts remember that it was shown.
	remember = events.OnceDays * 24 * time.Hour
)

// Items reads the promoted items, including posts. A catalog.Catalog implements it; it returns
// a post only if the post is public. Errors wrap catalog.ErrUnavailable.
type Items interface {
	Docs(ctx context.Context, ids []string) ([]feed.Doc, error)
}

// List reads the promotions. [social.Promotions] implements it.
type List interface {
	// PromotionsUntil lists, ordered by id, all promotions that end after a time. Errors wrap
	// [social.ErrUnavailable].
	PromotionsUntil(ctx context.Context, after time.Time) ([]social.Promotion, error)
}

// Config tunes a Source.
type Config struct {
	Clock          feed.Clock
	Log            *slog.Logger          // nil disables logging
	ContentDecides recall.ContentDecides // nil means that item content always decides whether a reader refuses it
}

// Source proposes promoted items. It is a [recall.Proposer], safe for concurrent use, and calls
// no store to make a proposal.
type Source struct {
	list  List
	items Items
	cfg   Config
	known atomic.Pointer[known]
}

var _ recall.Proposer = (*Source)(nil)

// known holds the promotions of the last read. It is immutable.
type known struct {
	items  [][]*promoted // the promotions grouped by item
	byItem map[string][]*promoted
}

// promoted is a promotion with its item.
type promoted struct {
	social.Promotion
	content
	itemHash, ownHash uint64
	tags              []string    // folded
	langs             terms.Langs // of its readers
}

// New returns a source without promotions; [Source.Run] or [Source.Refresh] reads them.
func New(list List, items Items, cfg Config) *Source {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Source{list: list, items: items, cfg: cfg}
	s.known.Store(&known{byItem: map[string][]*promoted{}})
	return s
}

// Run refreshes every five seconds until ctx ends, and logs when refreshing starts to fail.
// Until it works again, the known promotions continue, each to its end.
func (s *Source) Run(ctx context.Context) {
	failing := periodic.Failing{Fails: "promotions cannot be read; the known ones continue", Again: "promotions are read again"}
	for range periodic.Now(ctx, refreshEvery) {
		bounded, cancel := context.WithTimeout(ctx, refreshWithin)
		err := s.Refresh(bounded)
		cancel()
		failing.Tell(ctx, s.cfg.Log, err)
	}
}

// Refresh reads the promotions, and the items of those that run or begin soon. If the
// promotions cannot be read, the error wraps [social.ErrUnavailable] and nothing changes. If
// the items cannot be read, the error is that of [Items]; items already known stay as they
// were, and the others are not proposed.
func (s *Source) Refresh(ctx context.Context) error {
	now := s.cfg.Clock()
	list, err := s.list.PromotionsUntil(ctx, now.Add(-remember))
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, p := range list {
		// Include those that begin before the next refresh has completed.
		if p.Until > now.Unix() && p.From <= now.Add(2*refreshEvery).Unix() {
			wanted[p.ItemID] = true
		}
	}
	items, err := s.read(ctx, wanted)
	s.known.Store(newKnown(list, items))
	return err
}

// read reads items by their ids. If the read fails, known items stay as they were. Items that
// do not exist are left out, and posts of authors who do not want to be recommended.
func (s *Source) read(ctx context.Context, wanted map[string]bool) (map[string]content, error) {
	items := make(map[string]content, len(wanted))
	before := s.known.Load().byItem
	var failed error
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(wanted)), itemBatch) {
		var docs []feed.Doc
		if failed == nil { // a catalog that is down is queried only once
			docs, failed = s.items.Docs(ctx, batch)
		}
		for i, id := range batch {
			b := before[id]
			if failed != nil && len(b) > 0 {
				items[id] = b[0].content
			} else if failed == nil && !docs[i].Missing() && !docs[i].NotRecommended {
				items[id] = contentOf(docs[i])
			}
		}
	}
	return items, failed
}

// content is the part of an item that promotions need. It is zero if the item does not exist or
// was not read.
type content struct {
	item     feed.Item
	proposal recall.Proposal
}

// contentOf returns the content of a document, or zero if it cannot be parsed.
func contentOf(doc feed.Doc) content {
	it, err := doc.Item()
	if err != nil {
		return content{}
	}
	return content{
		feed.Item{ID: it.ID, GroupID: it.GroupID, AuthorID: it.AuthorID, AuthorIDs: it.AuthorIDs, Tags: it.Tags, Lang: it.Lang, Langs: it.Langs},
		recall.Proposal{
			Candidate: feed.Candidate{
				ID: it.ID, Group: it.Group(), Source: feed.SourcePromoted.String(), UpdateTime: it.UpdateTime, Traits: it.Traits().Detached(),
			},
			Reactions: feed.Reactions(it.Likes, it.Comments),
		},
	}
}

func newKnown(list []social.Promotion, items map[string]content) *known {
	k := &known{byItem: make(map[string][]*promoted, len(list))}
	for _, p := range list {
		k.byItem[p.ItemID] = append(k.byItem[p.ItemID], &promoted{
			Promotion: p, content: items[p.ItemID], itemHash: hashOf(p.ItemID), ownHash: hashOf(p.ID),
			tags: terms.FoldAll(p.Tags), langs: terms.ReadLangs(p.Langs),
		})
	}
	k.items = slices.AppendSeq(make([][]*promoted, 0, len(k.byItem)), maps.Values(k.byItem))
	return k
}
