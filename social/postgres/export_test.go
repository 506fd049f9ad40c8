package postgres

import (
	"context"
	"errors"

	"github.com/freshet/freshet/social"
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
