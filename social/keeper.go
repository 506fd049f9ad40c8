package social

import (
	"context"
	"errors"
	"log/slog"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/freshet/freshet/feed"
)

// CardLives is how long a card, or a tombstone in its place, stays in the cache.
const CardLives = time.Hour

// ErrCacheUnavailable is wrapped by errors that mean that cached cards could not be read or
// written.
var ErrCacheUnavailable = &feed.Outage{Text: "the card cache is unavailable", Shown: "the card cache is unavailable; try again later"}

// KeptCards reads cached cards, for answers while the store is unavailable.
type KeptCards interface {
	// Kept returns a card for each id, in their order. Cached cards are Visible and Public, at most
	// [CardLives] old, and have no fields about a reader: no reason, no like, no rights. The others
	// have only their id. Errors wrap [ErrCacheUnavailable] or are the context's; then nothing is
	// returned.
	Kept(ctx context.Context, ids []string) ([]Card, error)
}

// Instead returns the cached cards of posts that the store, with the error cause, did not return:
// one for each id, in their order. It returns nil if cause does not mean that the store is
// unavailable, or if kept is nil or unavailable, too.
func Instead(ctx context.Context, kept KeptCards, ids []string, cause error) []Card {
	if kept == nil || ctx.Err() != nil || !errors.Is(cause, ErrUnavailable) {
		return nil
	}
	cards, err := kept.Kept(ctx, ids)
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
	KeptCards
	// Keep stores the cards that are visible, [Card.Public] and have their content, each for
	// [CardLives] from now on. The others are ignored.
	Keep(ctx context.Context, cards []Card) error
	// Remove stores tombstones for posts that are deleted or no longer public, at these versions.
	// For [CardLives], no card up to that version is stored.
	Remove(ctx context.Context, posts []Known) error
	// Erase hides all cards of an author, including those stored in the next [CardLives], because
	// posts from before the erasure must not reappear.
	Erase(ctx context.Context, author string) error
}

const (
	// keptAgain is the age from which a card that is shown is cached again.
	keptAgain = CardLives / 2
	// keeperRemembers is how many recently cached posts a [Keeper] remembers.
	keeperRemembers = 20_000
	// keeperWaiting is how many cards may wait to be cached. Further ones are cached when they are
	// read again.
	keeperWaiting = 2_000
	// keeperBatch is the number of cards in one write.
	keeperBatch = 200
	// keeperTimeout bounds one write: a card that arrives after a tombstone has expired would make
	// a deleted post reappear.
	keeperTimeout = 5 * time.Second
)

// Keeper returns cards from a store, and in the background caches the public ones that it has not
// cached recently. It is safe for concurrent use.
type Keeper struct {
	store   Cards
	cache   CardCache
	clock   feed.Clock
	log     *slog.Logger
	lately  *lru.Cache[string, keptAt]
	waiting chan Card
}

var _ Cards = (*Keeper)(nil)

type keptAt struct {
	version int64
	until   time.Time
}

// NewKeeper returns a Keeper that reads from store. It writes to cache while [Keeper.Run] runs.
func NewKeeper(store Cards, cache CardCache, clock feed.Clock, log *slog.Logger) *Keeper {
	lately, err := lru.New[string, keptAt](keeperRemembers)
	if err != nil { // the size is not positive
		panic(err)
	}
	return &Keeper{store: store, cache: cache, clock: clock, log: log, lately: lately, waiting: make(chan Card, keeperWaiting)}
}

// Cards implements [Cards].
func (k *Keeper) Cards(ctx context.Context, reader string, posts []Known) ([]Card, error) {
	cards, err := k.store.Cards(ctx, reader, posts)
	if err == nil {
		k.note(cards)
	}
	return cards, err
}

// KeepAhead queues the cards of public posts that were not cached recently, before anybody reads
// them; [Keeper.Run] caches them. Errors are those of [Cards].
func (k *Keeper) KeepAhead(ctx context.Context, ids []string) error {
	now := k.clock()
	var posts []Known
	for _, id := range ids {
		if last, ok := k.lately.Get(id); !ok || !now.Before(last.until) {
			posts = append(posts, Known{ID: id})
		}
	}
	if len(posts) == 0 {
		return nil
	}
	_, err := k.Cards(ctx, "", posts)
	return err
}

// note queues the public cards that were not cached recently. It never blocks.
func (k *Keeper) note(cards []Card) {
	now := k.clock()
	for i := range cards {
		c := &cards[i]
		if !c.Visible || !c.Public || len(c.Content) == 0 {
			continue
		}
		if last, ok := k.lately.Get(c.ID); ok && last.version == c.Version && now.Before(last.until) {
			continue
		}
		k.lately.Add(c.ID, keptAt{c.Version, now.Add(keptAgain)})
		select {
		case k.waiting <- *c:
		default:
			k.lately.Remove(c.ID)
			return
		}
	}
}

// Run writes to the cache until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	batch := make([]Card, 0, keeperBatch)
	for {
		select {
		case c := <-k.waiting:
			batch = append(batch[:0], c)
		case <-ctx.Done():
			return
		}
		for len(batch) < keeperBatch && len(k.waiting) > 0 { // there is no other receiver
			batch = append(batch, <-k.waiting)
		}
		k.keep(ctx, batch)
	}
}

func (k *Keeper) keep(ctx context.Context, batch []Card) {
	ctx, cancel := context.WithTimeout(ctx, keeperTimeout)
	defer cancel()
	err := k.cache.Keep(ctx, batch)
	if err == nil {
		return
	}
	k.log.DebugContext(ctx, "cannot cache cards; they are cached when read again", "cards", len(batch), "error", err)
	for i := range batch {
		k.lately.Remove(batch[i].ID)
	}
}
