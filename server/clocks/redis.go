package clocks

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
)

// Redis checks that Redis answers, by reading its clock.
type Redis struct {
	client Timer
	clock  feed.Clock
	off    atomic.Int64 // difference of the clocks at the last check, in nanoseconds
}

// Timer is a Redis client that can read the server's clock.
type Timer interface {
	Time(ctx context.Context) *redis.TimeCmd
}

// OfRedis returns a check of a Redis that compares its clock with this machine's.
func OfRedis(client Timer, clock feed.Clock) *Redis { return &Redis{client: client, clock: clock} }

// Ask returns an error if Redis does not answer.
func (r *Redis) Ask(ctx context.Context) error {
	sent := r.clock()
	theirs, err := r.client.Time(ctx).Result()
	if err == nil {
		r.off.Store(int64(Skew(sent, theirs, r.clock())))
	}
	return err
}

// Warning reports the clock difference measured by the last check, or "" if it is small.
func (r *Redis) Warning() string {
	off := time.Duration(r.off.Load())
	if off <= MostSkew {
		return ""
	}
	return fmt.Sprintf("its clock differs from this server's by %s; run NTP on both machines", off.Round(time.Millisecond))
}

// Earlier returns a clock that reads the server's clock and that of Redis, and returns the earlier
// time: one clock that is far ahead must not cause recent data to be removed.
func Earlier(clock feed.Clock, client Timer) func(ctx context.Context) (time.Time, error) {
	return func(ctx context.Context) (time.Time, error) {
		theirs, err := client.Time(ctx).Result()
		if err != nil {
			return time.Time{}, err
		}
		ours := clock()
		if ours.Before(theirs) {
			return ours, nil
		}
		return theirs, nil
	}
}
