// Package redisbloom stores impressions in RedisBloom: one Bloom filter per day, optionally split
// into shards, and each agent's pending set. It requires Redis 6.2 or newer with the Bloom filter
// type.
package redisbloom

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/rediskeys"
)

// errAnswer is wrapped by errors for an invalid reply: the server was reachable, so they do not
// wrap [dedup.ErrUnavailable].
var errAnswer = errors.New("unexpected answer")

// Config configures a Store. Zero values mean the defaults.
type Config struct {
	KeyPrefix string       // prepended to every key
	Logger    *slog.Logger // nil disables logging
	// Replicas is the number of replicas that must have an impression before it is confirmed; the zero
	// value waits for none.
	Replicas rediskeys.Replicas
}

// Store implements [dedup.Store] on Redis. It is safe for concurrent use.
type Store struct {
	client redis.Cmdable
	keys   rediskeys.Keys
	cfg    dedup.Config
	rate   float64 // error rate of one filter
	copies rediskeys.Replicas
	log    *slog.Logger
	// foreign is when the log last reported a key of another type, in seconds since 1970.
	foreign atomic.Int64
	refused atomic.Pointer[error] // see TakesWrites
	shards  shardCounts
	fill    filterStates
	args    sync.Pool // *[]any, the arguments of a check
}

var _ dedup.Store = (*Store)(nil)

// New returns a store; it does not contact the server yet (see [Store.Verify]). The error names the
// invalid value of cfg.
func New(client redis.Cmdable, cfg dedup.Config, tuning Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Store{
		client: client, keys: rediskeys.For(client, tuning.KeyPrefix), cfg: cfg, rate: cfg.FilterRate(),
		copies: tuning.Replicas, log: cmp.Or(tuning.Logger, slog.New(slog.DiscardHandler)),
	}
	s.args.New = func() any { return new([]any) }
	return s, nil
}

func contractError(step string, err error) error {
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, errAnswer) && rediskeys.Unreachable(err):
		return fmt.Errorf("%w: %s: %w", dedup.ErrUnavailable, step, err)
	}
	return fmt.Errorf("%s: %w", step, err)
}

// isReply reports whether the error is the reply to a single command, so that the other commands of
// its pipeline have their own replies.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// expired returns the newest score that no longer counts as pending.
func (s *Store) expired(now time.Time) int64 {
	return now.Add(-s.cfg.PendingTTL).UnixMilli() - 1
}
