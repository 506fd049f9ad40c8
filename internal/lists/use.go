package lists

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

// KeptCards returns kept cards that are answered only while Redis has the data of before: in
// an older snapshot there are cards of posts that were deleted since.
func KeptCards(cards social.KeptCards, late *Late) social.KeptCards { return current{cards, late} }

type current struct {
	social.KeptCards
	late *Late
}

// Kept implements [social.KeptCards].
func (c current) Kept(ctx context.Context, ids []string) ([]social.Card, error) {
	if c.late.Older() {
		return nil, fmt.Errorf("%w: Redis has older data than before", social.ErrCacheUnavailable)
	}
	return c.KeptCards.Kept(ctx, ids)
}

// Reader returns lists that tell late when they cannot be reached.
func Reader(lists timeline.Reader, late *Late) timeline.Reader { return noticing{lists, late} }

type noticing struct {
	timeline.Reader
	late *Late
}

// Read implements [timeline.Reader].
func (n noticing) Read(ctx context.Context, list string, below timeline.Position, limit int) (timeline.Page, error) {
	page, err := n.Reader.Read(ctx, list, below, limit)
	if errors.Is(err, timeline.ErrUnavailable) {
		n.late.Note()
	}
	return page, err
}
