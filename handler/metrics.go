package handler

import (
	"net/http"
	"net/http/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var (
	requestsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_http_requests_total",
		Help: "Answered requests by route and HTTP status; 499 means that the client disconnected.",
	}, []string{"route", "code"})
	requestSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "freshet_http_request_seconds",
		Help:    "Seconds from a request's headers to its complete answer, by route.",
		Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 60, 600},
	}, []string{"route"})
	shedTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_http_shed_total",
		Help: "Requests rejected because too many were in progress, by gate: agents (server.max_in_flight), uploads, explain, offline, media, images.",
	}, []string{"gate"})
)

// meter records the metrics of one route.
type meter struct {
	seconds prometheus.Observer
	total   *prometheus.CounterVec
	// byStatus caches the counters by status, because looking up a label costs more
	// than counting.
	byStatus *[maxStatus]atomic.Pointer[prometheus.Counter]
}

// maxStatus is greater than every status that this server sends.
const maxStatus = 600

func newMeter(route string) meter {
	m := meter{
		seconds:  requestSeconds.WithLabelValues(route),
		total:    requestsTotal.MustCurryWith(prometheus.Labels{"route": route}),
		byStatus: new([maxStatus]atomic.Pointer[prometheus.Counter]),
	}
	// Created at start, so that rate() includes the first failures.
	m.counter(http.StatusInternalServerError)
	m.counter(http.StatusServiceUnavailable)
	m.counter(http.StatusTooManyRequests)
	return m
}

func (m meter) observe(status int, took time.Duration) {
	m.seconds.Observe(took.Seconds())
	m.counter(status).Inc()
}

func (m meter) counter(status int) prometheus.Counter {
	if status < 0 || status >= maxStatus {
		return m.total.WithLabelValues(strconv.Itoa(status))
	}
	known := m.byStatus[status].Load()
	if known != nil {
		return *known
	}
	c := m.total.WithLabelValues(strconv.Itoa(status))
	m.byStatus[status].Store(&c)
	return c
}

// pprofRoutes adds GET /debug/pprof/*, Go's profiles of the process, for admins only. The command
// line is not served, because its flags may contain secrets.
func (s *server) pprofRoutes(g *gin.Engine) {
	const path = "/debug/pprof"
	serve := map[string]http.HandlerFunc{
		"/profile": pprof.Profile,
		"/symbol":  pprof.Symbol,
		"/trace":   pprof.Trace,
	}
	answer := s.handle("GET "+path+"/{profile}", func(c *call) error {
		if err := s.auth.admin(c.gin.Request); err != nil {
			return err
		}
		h := c.gin.Writer.Header()
		h["Cache-Control"], h["X-Content-Type-Options"] = noStore, noSniff
		// The index also serves the named profiles: heap, goroutine, …
		profile, ok := serve[c.gin.Param("profile")]
		if !ok {
			profile = pprof.Index
		}
		profile(c.gin.Writer, c.gin.Request)
		return nil
	})
	g.GET(path+"/*profile", answer)
	g.HEAD(path+"/*profile", answer)
}
