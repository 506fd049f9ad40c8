package breaker

import (
	"context"
	"log/slog"
	"time"
)

const (
	// databaseShare is the share of a request's time that its calls to the database may take
	// until one fails: a third. The rest is for an answer without it.
	databaseShare = 3
	// databaseLongest is the longest call of anything else: one that never ends would
	// hide from the breaker that nobody answers.
	databaseLongest = 30 * time.Second
)

// Database stands in front of every call to the database of posts and follows.
type Database struct {
	*Breaker
	patience    time.Duration    // longest call of a request
	unreachable func(error) bool // whether an error says that the database could not be asked
	ping        func(context.Context) error
}

// NewDatabase returns the breaker of a database, of whose errors unreachable knows which
// say that it could not be asked. A request has requestTimeout altogether. ping asks the
// database something that costs it nothing, without waiting for other calls: a call that
// takes longer than it may counts against the database only if ping cannot ask it, either.
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
		if failure := b.ping(ctx); b.unreachable(failure) {
			return failure
		}
		return nil
	})
	return err
}
