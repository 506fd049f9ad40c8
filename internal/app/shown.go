package app

import (
	"context"

	"github.com/freshet/freshet/internal/breaker"
	"github.com/freshet/freshet/social"
)

// shownStore is the social store as answers see it: what they show is kept.
type shownStore struct {
	social.Store
	cards social.Cards
}

// Cards implements [social.Cards], as a call of a request.
func (s shownStore) Cards(ctx context.Context, reader string, posts []social.Known) ([]social.Card, error) {
	if !breaker.InRequest(ctx) {
		ctx = breaker.Begin(ctx)
	}
	return s.cards.Cards(ctx, reader, posts)
}
