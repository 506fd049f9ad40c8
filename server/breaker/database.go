package breaker

import (
	"context"
	"log/slog"
	"time"
)

const (
	// databaseShare is the divisor of a request's time that gives the longest database call: a
	// third. The rest is left for answering without the database.
	databaseShare = 3
	// databaseLongest limits calls outside a request: one that never ends would hide from the
	// breaker that the database does not answer.
	databaseLongest = 30 * time.Second
)

// Database guards every call to the database of posts and follows.
type Database struct {
	*Breaker
	patience    time.Duration    // time limit of a call in a request
	unreachable func(error) bool // whether an error means that the database was unreachable
	ping        func(context.Context) error
}

// NewDatabase returns the breaker of a database. unreachable reports whether an error means that
// the database was unreachable. requestTimeout is the total time of a request. ping sends the
// database a cheap query, without waiting for other calls: a call that exceeds its time limit
// counts against the database only if ping finds it unreachable too.
func NewDatabase(name string, requestTimeout time.Duration, ping func(context.Context) error, unreachable func(error) bool, log *slog.Logger) Database {
	return Database{New(name, log, "read", "write"), requestTimeout / databaseShare, unreachable, ping}
}

// Guard runs a call of a kind, read or write, or refuses it with an error.
func (b Database) Guard(ctx context.Context, kind string, run func(context.Context) error) error {
	r := requestOf(ctx)
	if r != nil && r.databaseLost.Load() {
		return b.refuseRest(ctx)
	}
	ctx, c, err := b.Enter(ctx, kind, kind, 0)
	if err != nil {
		return err
	}
	longest := databaseLongest
	if r != nil {
		longest = b.patience
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	err = run(ctx)
	if !b.unreachable(err) {
		c.Leave(nil)
		return err
	}
	if r != nil {
		r.databaseLost.Store(true)
	}
	if ctx.Err() == nil {
		c.Leave(err)
		return err
	}
	c.Late(ctx, err, func(ctx context.Context) error {
		failure := b.ping(ctx)
		if b.unreachable(failure) {
			return failure
		}
		return nil
	})
	return err
}
