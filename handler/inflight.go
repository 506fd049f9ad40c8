package handler

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/social"
)

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

// inFlight is a list of calls, the oldest first. It is linked through the calls, so
// that a request costs no allocation.
type inFlight struct {
	mu             sync.Mutex
	oldest, newest *call
	n              int
}

func (f *inFlight) begin(c *call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.older = f.newest
	if f.newest != nil {
		f.newest.newer = c
	} else {
		f.oldest = c
	}
	f.newest = c
	f.n++
}

func (f *inFlight) end(c *call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.older != nil {
		c.older.newer = c.newer
	} else {
		f.oldest = c.newer
	}
	if c.newer != nil {
		c.newer.older = c.older
	} else {
		f.newest = c.older
	}
	c.older, c.newer = nil, nil
	f.n--
}

// look returns how many calls there are and when the oldest began.
func (f *inFlight) look() (n int, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.oldest != nil {
		since = f.oldest.start
	}
	return f.n, since
}
