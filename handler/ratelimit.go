package handler

import (
	"fmt"
	"math"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/freshet/freshet/feed"
)

// limitedAgents is how many agents' buckets are kept, at some 200 bytes each. An
// agent whose bucket was evicted starts with a full one: with that many agents at
// once a burst of one of them does no harm.
const limitedAgents = 1 << 16

// limiter is a token bucket for each agent.
type limiter struct {
	rate    rate.Limit // tokens a second
	burst   int
	clock   feed.Clock
	buckets *lru.Cache[string, *rate.Limiter]
}

// newLimiter returns nil for no limit. A burst of 0 stands for the calls of one
// second.
func newLimiter(perSecond float64, agents int, clock feed.Clock) (*limiter, error) {
	if perSecond == 0 {
		return nil, nil
	}
	buckets, err := lru.New[string, *rate.Limiter](agents)
	if err != nil {
		return nil, err
	}
	return &limiter{rate: rate.Limit(perSecond), burst: max(1, int(math.Ceil(perSecond))), clock: clock, buckets: buckets}, nil
}

// take takes one token of the agent's bucket. An empty bucket is a [rateError].
func (l *limiter) take(agent string) error {
	if l == nil {
		return nil
	}
	bucket, ok := l.buckets.Get(agent)
	if !ok {
		fresh := rate.NewLimiter(l.rate, l.burst)
		// Two concurrent first calls must share one bucket.
		if bucket, ok, _ = l.buckets.PeekOrAdd(agent, fresh); !ok {
			bucket = fresh
		}
	}
	now := l.clock()
	if bucket.AllowN(now, 1) {
		return nil
	}
	missing := 1 - bucket.TokensAt(now)
	return rateError{after: time.Duration(missing / float64(l.rate) * float64(time.Second))}
}

// rateError is the error about an agent over its rate limit.
type rateError struct {
	after time.Duration // until the next call may pass
}

func (e rateError) Error() string {
	return fmt.Sprintf("too many requests of this agent; try again in %s s", e.seconds())
}

func (rateError) Is(target error) bool { return target == feed.ErrTooMany }

// seconds is the wait for Retry-After, rounded up.
func (e rateError) seconds() string {
	return strconv.Itoa(max(1, int(math.Ceil(e.after.Seconds()))))
}
