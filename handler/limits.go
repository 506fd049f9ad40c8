package handler

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/time/rate"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// limitedAgents is the number of agents whose buckets are cached, at about 200 bytes each. An
// agent whose bucket was evicted starts with a full one, which is harmless at that number.
const limitedAgents = 1 << 16

// gate limits concurrent work, in calls or in bytes.
type gate struct {
	room *room              // nil means no limit
	shed prometheus.Counter // rejected calls
}

// room is a capacity, which may change, and what is taken of it.
type room struct{ most, taken atomic.Int64 }

// newGate returns a gate with a capacity of most; 0 means no limit. Rejected calls are counted
// under the name.
func newGate(name string, most int) gate {
	g := gate{&room{}, shedTotal.WithLabelValues(name)}
	g.resize(most)
	return g
}

// resize changes the capacity; 0 means no limit. What is taken beyond it stays taken until it is left.
func (g gate) resize(most int) { g.room.most.Store(int64(cmp.Or(most, math.MaxInt))) }

// enter takes n units of capacity. It fails at once if they are not free: queued calls would be
// answered too late, and the queue would outlive the overload. After a success leave must be
// called.
func (g gate) enter(n int) error {
	if g.room == nil {
		return nil
	}
	for {
		taken := g.room.taken.Load()
		if int64(n) > g.room.most.Load()-taken {
			g.shed.Inc()
			return feed.ErrBusy
		}
		if g.room.taken.CompareAndSwap(taken, taken+int64(n)) {
			return nil
		}
	}
}

func (g gate) leave(n int) {
	if g.room != nil {
		g.room.taken.Add(-int64(n))
	}
}

// limiter is a token bucket for each agent.
type limiter struct {
	perSecond atomic.Pointer[float64] // tokens; 0 for no limit
	clock     feed.Clock
	buckets   *lru.Cache[string, *rate.Limiter]
}

// newLimiter returns a limiter of calls per second; 0 means no limit.
func newLimiter(perSecond float64, agents int, clock feed.Clock) (*limiter, error) {
	buckets, err := lru.New[string, *rate.Limiter](agents)
	if err != nil {
		return nil, err
	}
	l := &limiter{clock: clock, buckets: buckets}
	l.resize(perSecond)
	return l, nil
}

// resize changes the limit. Buckets keep the tokens that they have, as far as the new burst allows.
func (l *limiter) resize(perSecond float64) { l.perSecond.Store(&perSecond) }

// burst returns how many calls may come at once: the calls of one second, at least 1.
func burst(perSecond float64) int { return max(1, int(math.Ceil(perSecond))) }

// take takes one token from the agent's bucket. If it is empty, the error is a [rateError].
func (l *limiter) take(agent string) error {
	perSecond := *l.perSecond.Load()
	if perSecond == 0 {
		return nil
	}
	bucket, ok := l.buckets.Get(agent)
	if !ok {
		fresh := rate.NewLimiter(rate.Limit(perSecond), burst(perSecond))
		// Two concurrent first calls must share one bucket.
		bucket, ok, _ = l.buckets.PeekOrAdd(agent, fresh)
		if !ok {
			bucket = fresh
		}
	}
	now := l.clock()
	if bucket.Limit() != rate.Limit(perSecond) {
		bucket.SetLimitAt(now, rate.Limit(perSecond))
		bucket.SetBurstAt(now, burst(perSecond))
	}
	if bucket.AllowN(now, 1) {
		return nil
	}
	missing := 1 - bucket.TokensAt(now)
	return rateError{after: time.Duration(missing / perSecond * float64(time.Second))}
}

// rateError is the error of an agent over its rate limit.
type rateError struct {
	after time.Duration // time until the next call may pass
	what  string        // what there was too much of; "" for requests
}

func (e rateError) Error() string {
	return fmt.Sprintf("%s; try again in %s s", cmp.Or(e.what, "too many requests of this agent"), e.seconds())
}

func (rateError) Is(target error) bool { return target == feed.ErrTooMany }

// seconds returns the value of Retry-After, rounded up.
func (e rateError) seconds() string {
	return strconv.Itoa(max(1, int(math.Ceil(e.after.Seconds()))))
}

const (
	// imageUploads is the number of posts with images received and processed concurrently. Most
	// of them wait for their clients.
	imageUploads = 64
	// agentUploads is the number of these per agent, so that one agent cannot block the others.
	agentUploads = 2
	// uploadMemory is the total memory for their images in bytes, as sent and as processed,
	// excluding decoding.
	uploadMemory = 8 * MaxImagesBody
)

// imageUploading limits concurrent posts with images. Like a gate, it rejects excess calls
// instead of queueing them.
type imageUploading struct {
	all, memory gate

	mu     sync.Mutex
	agents map[string]int // uploads by agent
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

// enter begins an upload. After a success the caller must call leave.
func (u *imageUploading) enter(agent string) (*imageUpload, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.agents[agent] >= agentUploads {
		u.all.shed.Inc()
		return nil, feed.Errorf(feed.ErrTooMany, "too many uploads: this agent is already sending %d forms with images; wait for one to finish", agentUploads)
	}
	if err := u.all.enter(1); err != nil {
		return nil, err
	}
	u.agents[agent]++
	return &imageUpload{in: u, agent: agent}, nil
}

// hold reserves n bytes, or releases −n if n is negative. It fails if they are not free.
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
	u.in.agents[u.agent]--
	if u.in.agents[u.agent] == 0 {
		delete(u.in.agents, u.agent)
	}
}

// exportsAtOnce is the number of exports being sent at the same time, and that of one agent.
const exportsAtOnce, agentExports = 16, 2

// enterExport begins to send an export. After a success the caller must call leave.
func (s *server) enterExport(agent string) (leave func(), err error) {
	s.exportsMu.Lock()
	defer s.exportsMu.Unlock()
	if s.exportsOf[agent] >= agentExports {
		return nil, feed.Errorf(feed.ErrTooMany, "too many downloads: the export of this agent is being sent %d times already", agentExports)
	}
	if err := s.exports.enter(1); err != nil {
		return nil, err
	}
	s.exportsOf[agent]++
	return func() {
		s.exports.leave(1)
		s.exportsMu.Lock()
		defer s.exportsMu.Unlock()
		s.exportsOf[agent]--
		if s.exportsOf[agent] == 0 {
			delete(s.exportsOf, agent)
		}
	}, nil
}

// callsInFlight is the set of calls being answered in this process, except those of long-running routes.
// The age of the oldest shows whether calls hang.
var callsInFlight inFlight

var (
	_ = promauto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "freshet_http_in_flight",
		Help: "Requests in progress, excluding long-running ones: streams, images, uploads, comparisons and replays.",
	}, func() float64 { n, _ := callsInFlight.oldest(); return float64(n) })
	_ = promauto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "freshet_http_oldest_seconds",
		Help: "Age in seconds of the oldest request of freshet_http_in_flight, 0 if there is none. A request older than two minutes hangs.",
	}, func() float64 {
		_, since := callsInFlight.oldest()
		if since.IsZero() {
			return 0
		}
		return time.Since(since).Seconds()
	})
)

// longRoutes are the routes whose calls may exceed the request timeout and the time allowed for a
// slow client.
var longRoutes = []string{
	"GET " + streamPath, "GET " + changesPath, "GET " + social.ImagePath + "{key}", "GET " + exportFilePath, "POST /v1/items", "POST /v1/items/counts",
	"PUT /v1/authors/{id}/image", "POST /v1/graph/events", "POST /v1/compare", "POST /v1/replay",
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

// oldest returns the number of calls and the start of the oldest.
func (f *inFlight) oldest() (n int, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.calls {
		if since.IsZero() || c.start.Before(since) {
			since = c.start
		}
	}
	return len(f.calls), since
}
