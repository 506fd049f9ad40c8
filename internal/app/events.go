package app

import (
	"context"
	"path/filepath"

	"github.com/freshet/freshet/signals/events"
	eventsredis "github.com/freshet/freshet/signals/events/redis"
	eventssqlite "github.com/freshet/freshet/signals/events/sqlite"
)

// eventsName is the file of counts in the data directory.
const eventsName = "events.db"

// openEvents opens the counts of what is shown and done: in Redis where several
// servers share one, else in a file.
func (a *App) openEvents(ctx context.Context) error {
	if a.clients.redis != nil {
		a.counts = eventsredis.New(a.clients.redis, a.cfg.Redis.KeyPrefix)
	} else {
		dir, err := a.dataDir("")
		if err != nil {
			return err
		}
		file, err := eventssqlite.Open(ctx, filepath.Join(dir, eventsName))
		if err != nil {
			return err
		}
		a.closers = append(a.closers, func(context.Context) error { return file.Close() })
		a.counts = file
	}
	a.tally = events.NewBuffer(ctx, a.counts, events.BufferConfig{Timeout: a.cfg.Server.RequestTimeout, Logger: a.log})
	a.closers = append(a.closers, func(ctx context.Context) error { a.tally.Close(ctx); return nil })
	return nil
}
