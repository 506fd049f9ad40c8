package handler

import (
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/time/rate"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// limitedAgents is how many agents' buckets are kept, at some 200 bytes each. An agent whose
// bucket was evicted starts with a full one, which does no harm with that many.
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

const (
	// imageUploads is how many posts with images are received and made at once. Most
	// of them wait for their clients.
	imageUploads = 64
	// agentUploads is how many of them are one agent's, so that nobody alone can keep
	// others from posting.
	agentUploads = 2
	// uploadMemory is how many bytes their images take together, as they are sent and
	// as they are made, without what decoding takes.
	uploadMemory = 8 * MaxImagesBody
)

// imageUploading limits the posts with images that are under way. Like a gate it lets
// nobody wait.
type imageUploading struct {
	all, memory gate

	mu     sync.Mutex
	agents map[string]int // how many each agent's are
}

func newImageUploading() *imageUploading {
	return &imageUploading{all: newGate("images", imageUploads), memory: newGate("images", uploadMemory), agents: map[string]int{}}
}

// imageUpload is one post with images. It is used by one goroutine.
type imageUpload struct {
	in    *imageUploading
	agent string
	bytes int
}

// enter begins one. After a success the caller must call leave.
func (u *imageUploading) enter(agent string) (*imageUpload, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.agents[agent] >= agentUploads {
		u.all.shed.Inc()
		return nil, feed.Errorf(feed.ErrTooMany, "too many uploads: %d of this agent's posts with images are under way; wait for one of them", agentUploads)
	}
	if err := u.all.enter(1); err != nil {
		return nil, err
	}
	u.agents[agent]++
	return &imageUpload{in: u, agent: agent}, nil
}

// hold takes so many bytes, or gives back as many as n is below 0. It fails where
// there is no room.
func (u *imageUpload) hold(n int) error {
	if n < 0 {
		u.in.memory.leave(-n)
	} else if err := u.in.memory.enter(n); err != nil {
		return err
	}
	u.bytes += n
	return nil
}

func (u *imageUpload) leave() {
	u.in.memory.leave(u.bytes)
	u.in.all.leave(1)
	u.in.mu.Lock()
	defer u.in.mu.Unlock()
	if u.in.agents[u.agent]--; u.in.agents[u.agent] == 0 {
		delete(u.in.agents, u.agent)
	}
}

// flying are the calls that are being answered in this process, but for those of routes
// that may last. The age of the oldest tells whether calls hang.
var flying inFlight

var (
	_ = promauto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "freshet_http_in_flight",
		Help: "Requests that are being answered, without streams, uploads, comparisons and replays, which may last.",
	}, func() float64 { n, _ := flying.look(); return float64(n) })
	_ = promauto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "freshet_http_oldest_seconds",
		Help: "Age of the oldest request of freshet_http_in_flight; 0 where there is none. Every request ends within two minutes, or it hangs.",
	}, func() float64 {
		_, since := flying.look()
		if since.IsZero() {
			return 0
		}
		return time.Since(since).Seconds()
	})
)

// lasting are the routes whose calls may take longer than a request's timeout and the
// patience with a slow client.
var lasting = []string{
	"GET " + streamPath, "GET " + social.ImagePath + "{key}", "POST /v1/items", "POST /v1/items/counts",
	"POST /v1/graph/events", "POST /v1/compare", "POST /v1/replay",
}

// inFlight is a set of calls.
type inFlight struct {
	mu    sync.Mutex
	calls map[*call]struct{}
}

func (f *inFlight) begin(c *call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[*call]struct{}{}
	}
	f.calls[c] = struct{}{}
}

func (f *inFlight) end(c *call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.calls, c)
}

// look returns how many calls there are and when the oldest began.
func (f *inFlight) look() (n int, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.calls {
		if since.IsZero() || c.start.Before(since) {
			since = c.start
		}
	}
	return len(f.calls), since
}
