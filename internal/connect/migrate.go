package connect

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/social"
)

// migrateEvery is the pause between two tries to begin with PostgreSQL.
const migrateEvery = time.Second

// Migrator has tables that it brings up to date. Errors wrap [social.ErrUnavailable] while
// the database is down.
type Migrator interface {
	Migrate(ctx context.Context) error
}

// Migrate brings the tables up to date. While the database is down that waits: later, which
// is nil otherwise, does it, and ends when it is done or ctx ends.
func Migrate(ctx context.Context, store Migrator, log *slog.Logger) (later func(context.Context), err error) {
	err = store.Migrate(ctx)
	if !errors.Is(err, social.ErrUnavailable) {
		return nil, err
	}
	log.WarnContext(ctx, "PostgreSQL is down; serving without posts and timelines until it is back", "error", err)
	return func(ctx context.Context) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		repeat.Every(ctx, migrateEvery, func(ctx context.Context) {
			switch err := store.Migrate(ctx); {
			case err == nil:
				log.InfoContext(ctx, "PostgreSQL is in use")
				stop()
			case !errors.Is(err, social.ErrUnavailable) && ctx.Err() == nil:
				log.ErrorContext(ctx, "PostgreSQL cannot be used", "error", err)
			}
		})
	}, nil
}
