// Package redis keeps timelines and outboxes in Redis, for any number of servers at once: one
// sorted set a list, which also holds the list's state and floor. It needs Redis 6.2 or newer.
// The Redis may evict: a list that was evicted is rebuilt.
package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/social/timeline"
)

// Config tunes Lists. Zero values stand for the defaults, but a clock is needed.
type Config struct {
	KeyPrefix string     // goes before every key
	Cap       int        // most entries of a list; 500, of an outbox 100
	Clock     feed.Clock // tells how long a build has been going on
	// Replicas must have what jobs write before it counts; the zero value: the master is
	// enough. Reads and builds do not wait.
	Replicas rediskeys.Replicas
}

// Lists implements [timeline.Lists] on Redis. It is safe for concurrent use, by
// any number of servers at once.
type Lists struct {
	client redis.Cmdable
	key    func(list string) string
	cfg    Config
}

var _ timeline.Lists = (*Lists)(nil)

// NewTimelines makes the agents' timelines, kept behind client; it does not talk to the server.
func NewTimelines(client redis.Cmdable, cfg Config) *Lists {
	cfg.Cap = cmp.Or(cfg.Cap, timeline.Cap)
	return &Lists{client, rediskeys.For(client, cfg.KeyPrefix).Timeline, cfg}
}

// NewOutboxes makes the authors' outboxes, as [NewTimelines].
func NewOutboxes(client redis.Cmdable, cfg Config) *Lists {
	cfg.Cap = cmp.Or(cfg.Cap, timeline.OutboxCap)
	return &Lists{client, rediskeys.For(client, cfg.KeyPrefix).Outbox, cfg}
}

// run runs a script on one list, without waiting for replicas.
func (l *Lists) run(ctx context.Context, s *redis.Script, list string, args ...any) *redis.Cmd {
	return s.Run(ctx, l.client, []string{l.key(list)}, args...)
}

// floor is how scripts read a floor: two arguments.
func floor(p timeline.Position) (at, id any) {
	if p.Zero() {
		return "", ""
	}
	return p.At, p.ID
}

// withEntries adds at and id of each entry to the arguments of a script.
func withEntries(args []any, entries []timeline.Position) []any {
	for i := range entries { // a pointer is written as what it points to, and is no allocation
		args = append(args, entries[i].At, &entries[i].ID)
	}
	return args
}

// contractError gives an error of the client the sentinel a caller looks for.
func contractError(step string, err error) error {
	if errors.Is(err, errReply) || rediskeys.Foreign(err) { // it has answered: this list cannot be used, others can
		return fmt.Errorf("%s: %w", step, err)
	}
	return rediskeys.Failed(timeline.ErrUnavailable, step, err)
}
