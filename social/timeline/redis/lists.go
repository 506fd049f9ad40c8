// Package redis stores timelines and outboxes in Redis, for any number of servers: one sorted set
// per list, which also holds the list's state and floor. It requires Redis 6.2 or newer. Redis may
// evict lists, which are then rebuilt.
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

// Config tunes Lists. Zero fields have their defaults, but Clock is required.
type Config struct {
	KeyPrefix string     // prefix of every key
	Cap       int        // maximum number of entries; 500 for a timeline, 100 for an outbox
	Clock     feed.Clock // for the age of builds
	// Replicas configures how many replicas must confirm the writes of jobs. The zero value means
	// that the master is enough. Reads and builds do not wait.
	Replicas rediskeys.Replicas
}

// Lists implements [timeline.Lists] on Redis. It is safe for concurrent use by any number of
// servers.
type Lists struct {
	client redis.Cmdable
	key    func(list string) string
	cfg    Config
}

var _ timeline.Lists = (*Lists)(nil)

// NewTimelines returns the agents' timelines, stored with client. It makes no call to Redis.
func NewTimelines(client redis.Cmdable, cfg Config) *Lists {
	cfg.Cap = cmp.Or(cfg.Cap, timeline.Cap)
	return &Lists{client, rediskeys.For(client, cfg.KeyPrefix).Timeline, cfg}
}

// NewOutboxes returns the authors' outboxes; see [NewTimelines].
func NewOutboxes(client redis.Cmdable, cfg Config) *Lists {
	cfg.Cap = cmp.Or(cfg.Cap, timeline.OutboxCap)
	return &Lists{client, rediskeys.For(client, cfg.KeyPrefix).Outbox, cfg}
}

// run runs a script on one list, without waiting for replicas.
func (l *Lists) run(ctx context.Context, s *redis.Script, list string, args ...any) *redis.Cmd {
	return s.Run(ctx, l.client, []string{l.key(list)}, args...)
}

// floor returns a floor as two arguments of a script.
func floor(p timeline.Position) (at, id any) {
	if p.Zero() {
		return "", ""
	}
	return p.At, p.ID
}

// withEntries adds at and id of each entry to the arguments of a script.
func withEntries(args []any, entries []timeline.Position) []any {
	for i := range entries { // go-redis writes the value behind a pointer, which avoids an allocation
		args = append(args, entries[i].At, &entries[i].ID)
	}
	return args
}

// contractError wraps an error of the client in the sentinel that callers check for.
func contractError(step string, err error) error {
	if errors.Is(err, errReply) || rediskeys.Foreign(err) { // Redis is available; only this list is unusable
		return fmt.Errorf("%s: %w", step, err)
	}
	return rediskeys.Failed(timeline.ErrUnavailable, step, err)
}
