package clocks

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
)

// Redis asks Redis whether it answers, by asking for its time.
type Redis struct {
	client Timer
	clock  feed.Clock
	off    atomic.Int64 // nanoseconds the clocks differed by when last asked
}

// Timer is a client of Redis that is asked for the time.
type Timer interface {
	Time(ctx context.Context) *redis.TimeCmd
}

// OfRedis compares the clock of a Redis with this one.
func OfRedis(client Timer, clock feed.Clock) *Redis { return &Redis{client: client, clock: clock} }

// Ask returns an error where Redis does not answer.
func (r *Redis) Ask(ctx context.Context) error {
	sent := r.clock()
	theirs, err := r.client.Time(ctx).Result()
	if err == nil {
		r.off.Store(int64(Skew(sent, theirs, r.clock())))
	}
	return err
}

// Warning says by how much the clocks differed when Redis was asked last; "" where that is
// little.
func (r *Redis) Warning() string {
	off := time.Duration(r.off.Load())
	if off <= MostSkew {
		return ""
	}
	return fmt.Sprintf("its clock differs from this server's by %s; run NTP on both machines", off.Round(time.Millisecond))
}

// Earlier is the time by a server's clock or by that of Redis, whichever is less: one clock
// that is far ahead must not remove what is young.
func Earlier(clock feed.Clock, client Timer) func(ctx context.Context) (time.Time, error) {
	return func(ctx context.Context) (time.Time, error) {
		theirs, err := client.Time(ctx).Result()
		if err != nil {
			return time.Time{}, err
		}
		if ours := clock(); ours.Before(theirs) {
			return ours, nil
		}
		return theirs, nil
	}
}
