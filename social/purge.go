package social

import (
	"context"
	"log/slog"
)

// purgeRows is how many tombstones are removed at once.
const purgeRows = 10_000

// Purger is the part of a [Store] that removes what is over.
type Purger interface {
	Purge(ctx context.Context, limit int) (removed int, err error)
}

// PurgeAll removes all that a store keeps of what is over. What goes wrong is logged: the
// next time it is tried again.
func PurgeAll(ctx context.Context, store Purger, log *slog.Logger) {
	for {
		n, err := store.Purge(ctx, purgeRows)
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "tombstones cannot be removed", "error", err)
		}
		if err != nil || n < purgeRows {
			return
		}
	}
}
