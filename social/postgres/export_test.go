package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

// Open returns a store with an up-to-date schema.
func Open(ctx context.Context, cfg Config, opts social.Options) (*Store, error) {
	s, err := New(ctx, cfg, opts)
	if err != nil {
		return nil, err
	}
	if err := s.Migrate(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// StoredCards is [Store.Cards] without the memo.
func (s *Store) StoredCards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	return s.Store.Cards(ctx, reader, posts)
}

// StoredCelebrities is [Store.Celebrities] without the memo.
func (s *Store) StoredCelebrities(ctx context.Context, reader string) (social.Pulled, error) {
	return s.Store.Celebrities(ctx, reader)
}

// WithoutValidation stops bringing the memo up to date.
func (s *Store) WithoutValidation() {
	s.validator.memo = sqlstore.NewMemo(s.Store, memoReaders, nil)
}

// UsesMemo reports whether the memo is used.
func (s *Store) UsesMemo(ctx context.Context) bool {
	return s.validator.validate(ctx, time.Now()) == nil
}

// Trim removes old rows of touched, as of a time.
func (s *Store) Trim(ctx context.Context, now time.Time) error { return s.validator.trim(ctx, now) }

// IsSnapshot reports whether a text may be part of a cursor.
var IsSnapshot = isSnapshot
