package social

import (
	"context"
	"log/slog"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/freshet/freshet/feed"
)

// CardLives is how long a card is kept, and a tombstone in its place.
const CardLives = time.Hour

// ErrCacheUnavailable is wrapped by errors that say that the cards that are kept
// could not be read or written.
var ErrCacheUnavailable = &feed.Outage{Text: "the kept cards are unavailable", Shown: "the kept cards are unavailable; try again later"}

// KeptCards reads the cards that are kept, for answers while the store cannot be asked.
type KeptCards interface {
	// Kept returns a card for each id, in their order. Those that are kept are
	// Visible and Public, at most [CardLives] old, and say nothing about any reader:
	// no reason, no like, no rights. The others have only their id. Errors wrap
	// [ErrCacheUnavailable] or are the context's; then nothing is returned.
	Kept(ctx context.Context, ids []string) ([]Card, error)
}

// CardCache keeps the cards of public posts for a while. It is safe for concurrent use, by many
// servers at once.
//
// Its writes may be repeated, and may come late and in any order: of what is written about a post
// the greatest version holds, and at one version the tombstone. Errors wrap [ErrCacheUnavailable]
// or are the context's; then any part of the write may be made.
type CardCache interface {
	KeptCards
	// Keep keeps those of the cards that are visible, [Card.Public] and have their
	// content, each for [CardLives] from now on. The others are ignored.
	Keep(ctx context.Context, cards []Card) error
	// Remove leaves tombstones: posts that are gone, or not public any more, at these
	// versions. No card up to that version is kept in the next [CardLives].
	Remove(ctx context.Context, posts []Known) error
	// Erase hides all cards of an author, those that come in the next [CardLives]
	// included: what they published before must not come back.
	Erase(ctx context.Context, author string) error
}

const (
	// keptAgain is the age from which on a card that is shown is kept again.
	keptAgain = CardLives / 2
	// keeperRemembers is how many posts a [Keeper] remembers to have kept.
	keeperRemembers = 20_000
	// keeperWaiting is how many cards may wait to be kept. Of more, the next reader brings them.
	keeperWaiting = 2_000
	// keeperBatch is how many are kept at once.
	keeperBatch = 200
	// keeperTimeout bounds one write: a card that comes later than a tombstone lives would
	// bring a deleted post back.
	keeperTimeout = 5 * time.Second
)

// Keeper answers from a store, and in the background keeps the public cards that it has answered
// in a cache, unless it did lately. It is safe for concurrent use.
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

// NewKeeper returns a Keeper of what store answers. It writes while [Keeper.Run] runs.
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

// KeepAhead has the public ones of posts kept that were not lately, before anybody reads them.
// Errors are those of [Cards].
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

// note has the public ones of the cards kept that were not lately. It never waits.
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
		for len(batch) < keeperBatch && len(k.waiting) > 0 { // nobody else receives
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
	k.log.DebugContext(ctx, "cards are not kept; their next readers bring them again", "cards", len(batch), "error", err)
	for i := range batch {
		k.lately.Remove(batch[i].ID)
	}
}
