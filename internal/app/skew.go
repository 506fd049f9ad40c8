package app

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
)

// maxSkew is the clock difference that is not reported. Around midnight,
// servers whose clocks differ write into different days' filters.
const maxSkew = time.Second

// skew is the least a clock can differ from another one that was read between
// two moments of its own: the difference to the nearer of them.
func skew(sent, theirs, received time.Time) time.Duration {
	return max(0, sent.Sub(theirs), theirs.Sub(received))
}

// redisClock asks Redis whether it answers, by asking for its time.
type redisClock struct {
	client redis.UniversalClient
	clock  feed.Clock
	off    atomic.Int64 // nanoseconds the clocks differed by when last asked
}

func (r *redisClock) ask(ctx context.Context) error {
	sent := r.clock()
	theirs, err := r.client.Time(ctx).Result()
	if err == nil {
		r.off.Store(int64(skew(sent, theirs, r.clock())))
	}
	return err
}

// warning says by how much the clocks differ; "" where that is little.
func (r *redisClock) warning() string {
	off := time.Duration(r.off.Load())
	if off <= maxSkew {
		return ""
	}
	return fmt.Sprintf("its clock differs from this server's by %s; run NTP on both machines", off.Round(time.Millisecond))
}
