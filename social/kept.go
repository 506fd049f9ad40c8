package social

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
)

// CardLives is how long a card is kept, and a tombstone in its place.
const CardLives = time.Hour

// ErrCacheUnavailable is wrapped by errors that say that the cards that are kept
// could not be read or written.
var ErrCacheUnavailable = &feed.Outage{Text: "the kept cards are unavailable", Shown: "the kept cards are unavailable; try again later"}

// KeptCards reads the cards that are kept, for answers while the store cannot be
// asked.
type KeptCards interface {
	// Kept returns a card for each id, in their order. Those that are kept are
	// Visible and Public, at most [CardLives] old, and say nothing about any reader:
	// no reason, no like, no rights. The others have only their id. Errors wrap
	// [ErrCacheUnavailable] or are the context's; then nothing is returned.
	Kept(ctx context.Context, ids []string) ([]Card, error)
}

// CardCache keeps the cards of public posts for a while. It is never asked while
// the store answers. It is safe for concurrent use, by many servers at once.
//
// Its writes may be repeated, and may come late and in any order: of what is
// written about a post the greatest version holds, and at one version the
// tombstone. Errors wrap [ErrCacheUnavailable] or are the context's; then any part
// of the write may be made.
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
