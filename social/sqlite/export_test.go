package sqlite

import (
	"context"

	"github.com/freshet/freshet/social"
)

// StoredCards is [Store.Cards] without the cache: it reads from the file.
func (s *Store) StoredCards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	return s.Store.Cards(ctx, reader, posts)
}
