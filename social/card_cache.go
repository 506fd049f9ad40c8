package social

import (
	"context"
	"errors"
	"log/slog"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/freshet/freshet/feed"
)

// CardTTL is how long a card, or a tombstone in its place, stays in the cache.
const CardTTL = time.Hour

// ErrCacheUnavailable is wrapped by errors that mean that cached cards could not be read or
// written.
var ErrCacheUnavailable = &feed.Outage{Text: "the card cache is unavailable", Shown: "the card cache is unavailable; try again later"}

// CachedCards reads cached cards, for answers while the store is unavailable.
type CachedCards interface {
	// Cached returns a card for each id, in their order. Cached cards are Visible and Public, at most
	// [CardTTL] old, and have no fields about a reader: no reason, no like, no rights. The others
	// have only their id. Errors wrap [ErrCacheUnavailable] or are the context's; then nothing is
	// returned.
	Cached(ctx context.Context, ids []string) ([]Card, error)
}

// FallbackCards returns the cached cards of posts that the store, with the error cause, did not return:
// one for each id, in their order. It returns nil if cause does not mean that the store is
// unavailable, or if kept is nil or unavailable, too.
func FallbackCards(ctx context.Context, kept CachedCards, ids []string, cause error) []Card {
	if kept == nil || ctx.Err() != nil || !errors.Is(cause, ErrUnavailable) {
		return nil
	}
	cards, err := kept.Cached(ctx, ids)
	if err != nil {
		return nil
	}
	return cards
}

// CardCache caches the cards of public posts. It is safe for concurrent use, by many servers at
// once.
//
// Its writes are idempotent and may arrive late and in any order: for each post the greatest
// version wins, and at equal versions the tombstone. Errors wrap [ErrCacheUnavailable] or are the
// context's; then any part of the write may have been made.
type CardCache interface {
	CachedCards
	// Put stores the cards that are [Card.Cacheable], each for [CardTTL] from now on. The others are
	// ignored.
	Put(ctx context.Context, cards []Card) error
	// Remove stores tombstones for posts that are deleted or no longer public, at these versions.
	// For [CardTTL], no card up to that version is stored.
	Remove(ctx context.Context, posts []PostVersion) error
	// Erase hides all cards of an author, including those stored in the next [CardTTL], because
	// posts from before the erasure must not reappear.
	Erase(ctx context.Context, author string) error
}

const (
	// recacheAfter is the age from which a card that is shown is cached again.
	recacheAfter = CardTTL / 2
	// cacheWriterRecent is how many recently cached posts a [CardCacheWriter] remembers.
	cacheWriterRecent = 20_000
	// cacheWriterQueue is how many cards may wait to be cached. Further ones are cached when they are
	// read again.
	cacheWriterQueue = 2_000
	// cacheWriterBatch is the number of cards in one write.
	cacheWriterBatch = 200
	// cacheWriterTimeout bounds one write: a card that arrives after a tombstone has expired would make
	// a deleted post reappear.
	cacheWriterTimeout = 5 * time.Second
)

// CardCacheWriter returns cards from a store, and in the background caches the public ones that it has not
// cached recently. Unlike a [signals.Buffer] it neither repeats a write nor completes its queue at the
// end: a card that is lost is queued when it is read again. It is safe for concurrent use.
type CardCacheWriter struct {
	store   Cards
	cache   CardCache
	clock   feed.Clock
	log     *slog.Logger
	recent  *lru.Cache[string, cachedAt]
	waiting chan Card
}

var _ Cards = (*CardCacheWriter)(nil)

type cachedAt struct {
	version int64
	until   time.Time
}

// NewCardCacheWriter returns a Keeper that reads from store. It writes to cache while [CardCacheWriter.Run] runs.
func NewCardCacheWriter(store Cards, cache CardCache, clock feed.Clock, log *slog.Logger) *CardCacheWriter {
	lately, err := lru.New[string, cachedAt](cacheWriterRecent)
	if err != nil { // the size is not positive
		panic(err)
	}
	return &CardCacheWriter{store: store, cache: cache, clock: clock, log: log, recent: lately, waiting: make(chan Card, cacheWriterQueue)}
}

// Cards implements [Cards].
func (k *CardCacheWriter) Cards(ctx context.Context, reader string, posts []PostVersion) ([]Card, error) {
	cards, err := k.store.Cards(ctx, reader, posts)
	if err == nil {
		k.enqueue(cards)
	}
	return cards, err
}

// CacheAhead queues the cards of public posts that were not cached recently, before anybody reads
// them; [CardCacheWriter.Run] caches them. Errors are those of [Cards].
func (k *CardCacheWriter) CacheAhead(ctx context.Context, ids []string) error {
	now := k.clock()
	var posts []PostVersion
	for _, id := range ids {
		if last, ok := k.recent.Get(id); !ok || !now.Before(last.until) {
			posts = append(posts, PostVersion{ID: id})
		}
	}
	if len(posts) == 0 {
		return nil
	}
	_, err := k.Cards(ctx, "", posts)
	return err
}

// enqueue queues the public cards that were not cached recently. It never blocks.
func (k *CardCacheWriter) enqueue(cards []Card) {
	now := k.clock()
	for i := range cards {
		c := &cards[i]
		if !c.Cacheable() {
			continue
		}
		if last, ok := k.recent.Get(c.ID); ok && last.version == c.Version && now.Before(last.until) {
			continue
		}
		k.recent.Add(c.ID, cachedAt{c.Version, now.Add(recacheAfter)})
		select {
		case k.waiting <- *c:
		default:
			k.recent.Remove(c.ID)
			return
		}
	}
}

// Run writes to the cache until ctx ends.
func (k *CardCacheWriter) Run(ctx context.Context) {
	batch := make([]Card, 0, cacheWriterBatch)
	for {
		select {
		case c := <-k.waiting:
			batch = append(batch[:0], c)
		case <-ctx.Done():
			return
		}
		for len(batch) < cacheWriterBatch && len(k.waiting) > 0 { // there is no other receiver
			batch = append(batch, <-k.waiting)
		}
		k.write(ctx, batch)
	}
}

func (k *CardCacheWriter) write(ctx context.Context, batch []Card) {
	ctx, cancel := context.WithTimeout(ctx, cacheWriterTimeout)
	defer cancel()
	err := k.cache.Put(ctx, batch)
	if err == nil {
		return
	}
	k.log.DebugContext(ctx, "cannot cache cards; they are cached when read again", "cards", len(batch), "error", err)
	for i := range batch {
		k.recent.Remove(batch[i].ID)
	}
}
