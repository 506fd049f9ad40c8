// Package promotion is the source of home for what is promoted. It keeps the
// promotions of the social store in this process, with what the engine must know of
// what they promote, and chooses among those that run by their weights.
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
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
)

const (
	// refreshEvery is how old what a server knows of promotions gets.
	refreshEvery = 5 * time.Second
	// refreshWithin bounds one refresh.
	refreshWithin = 30 * time.Second
	// itemBatch is how many items are read at once.
	itemBatch = 500
	// remember is how long acts on what was promoted count after its end: as long as
	// the counts remember that it was shown.
	remember = events.OnceDays * 24 * time.Hour
)

// Items reads what is promoted, posts included. A catalog.Catalog does; a post is
// there where it is public. Errors wrap catalog.ErrUnavailable.
type Items interface {
	Docs(ctx context.Context, ids []string) ([]feed.Doc, error)
}

// List reads the promotions. [social.Promotions] is one.
type List interface {
	// PromotionsUntil lists by id all that end after a time. Errors wrap
	// [social.ErrUnavailable].
	PromotionsUntil(ctx context.Context, after time.Time) ([]social.Promotion, error)
}

// Config tunes a Source.
type Config struct {
	Clock feed.Clock
	Log   *slog.Logger // nil: nothing is logged
	Tells recall.Tells // nil: the content of an item always tells whether a reader refuses it
}

// Source proposes what is promoted. It is a [recall.Proposer], safe for concurrent
// use, and asks no store for a proposal.
type Source struct {
	list  List
	items Items
	cfg   Config
	known atomic.Pointer[known]
}

var _ recall.Proposer = (*Source)(nil)

// known holds the promotions as they were last read. It is immutable.
type known struct {
	items  [][]*promoted // all promotions of one item together, by id
	byItem map[string][]*promoted
}

// promoted is a promotion and what it promotes.
type promoted struct {
	social.Promotion
	content
	itemHash, ownHash uint64
	tags              []string    // folded
	langs             terms.Langs // of its readers
}

// New returns a source that knows nothing until it is refreshed: by [Source.Run], or
// [Source.Refresh].
func New(list List, items Items, cfg Config) *Source {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Source{list: list, items: items, cfg: cfg}
	s.known.Store(&known{byItem: map[string][]*promoted{}})
	return s
}

// Run refreshes every five seconds until ctx ends, and logs when that begins to
// fail. What is known goes on meanwhile, each promotion until its end.
func (s *Source) Run(ctx context.Context) {
	failing := repeat.Failing{Fails: "promotions cannot be read now; those that are known go on", Again: "promotions are read again"}
	repeat.Now(ctx, refreshEvery, func(ctx context.Context) {
		bounded, cancel := context.WithTimeout(ctx, refreshWithin)
		defer cancel()
		failing.Tell(ctx, s.cfg.Log, s.Refresh(bounded))
	})
}

// Refresh reads the promotions, and what those promote that run or are about to.
// Errors wrap [social.ErrUnavailable] where the promotions could not be read; then
// nothing changes. They are those of [Items] where the items could not be; then those
// that are known stay as they were, and the others are not proposed.
func (s *Source) Refresh(ctx context.Context) error {
	now := s.cfg.Clock()
	list, err := s.list.PromotionsUntil(ctx, now.Add(-remember))
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, p := range list {
		// Those that begin before the next refresh may have been read.
		if p.Until > now.Unix() && p.From <= now.Add(2*refreshEvery).Unix() {
			wanted[p.ItemID] = true
		}
	}
	items, err := s.read(ctx, wanted)
	s.known.Store(newKnown(list, items))
	return err
}

// read reads items by their ids. Those that cannot be read are as they were;
// those that do not exist are left out.
func (s *Source) read(ctx context.Context, wanted map[string]bool) (map[string]content, error) {
	items := make(map[string]content, len(wanted))
	before := s.known.Load().byItem
	var failed error
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(wanted)), itemBatch) {
		var docs []feed.Doc
		if failed == nil { // a catalog that is down is asked once
			docs, failed = s.items.Docs(ctx, batch)
		}
		for i, id := range batch {
			if b := before[id]; failed != nil && len(b) > 0 {
				items[id] = b[0].content
			} else if failed == nil && !docs[i].Missing() {
				items[id] = contentOf(docs[i])
			}
		}
	}
	return items, failed
}

// content is the part of an item that promotions need; the zero one: it does not exist, or
// was not read.
type content struct {
	item     feed.Item
	proposal recall.Proposal
}

// contentOf is that of a document; none of one that cannot be read.
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
