package handler

import (
	"cmp"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/freshet/freshet/feed/api"
)

// Starting answers for a server that is not open yet, so that a probe can tell a slow start from a
// process that hangs: /livez and /metrics answer at once, and /readyz with 503 and what the server
// waits for. Other calls wait until the server is open. [NewStarting] creates one. It is safe for
// concurrent use.
type Starting struct {
	timeout  time.Duration // of calls that wait
	metrics  http.Handler
	waitsFor atomic.Pointer[pendingPart]
	opened   chan struct{} // closed by Open
	next     http.Handler  // may be read once opened is closed
}

// NewStarting returns a Starting whose calls wait for timeout at most, and then get 503.
func NewStarting(timeout time.Duration) *Starting {
	return &Starting{timeout: timeout, metrics: promhttp.Handler(), opened: make(chan struct{})}
}

// pendingPart is a dependency that a start waits for, as it is called in /readyz, and why.
type pendingPart struct{ dependency, why string }

// WaitFor sets what the server now waits for: the name of the dependency, as in /readyz, and if it is
// known why, otherwise "".
func (s *Starting) WaitFor(dependency, why string) {
	s.waitsFor.Store(&pendingPart{dependency, cmp.Or(why, "the server is starting and waits for it")})
}

// Open hands over all calls to next, also those that wait. It must be called once.
func (s *Starting) Open(next http.Handler) {
	s.next = next
	close(s.opened)
}

// ServeHTTP implements [http.Handler].
func (s *Starting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	timeout := s.timeout
	switch r.URL.Path {
	case "/livez", "/readyz", "/metrics":
		timeout = 0
	}
	if s.wait(r, timeout) {
		s.next.ServeHTTP(w, r)
		return
	}
	switch r.URL.Path {
	case "/livez":
		sendStarting(w, http.StatusOK, envelope{Msg: "success", Data: empty{}})
	case "/readyz":
		sendStarting(w, http.StatusServiceUnavailable, s.readiness())
	case "/metrics":
		s.metrics.ServeHTTP(w, r)
	default:
		sendStarting(w, http.StatusServiceUnavailable, envelope{Code: 50301, Msg: "unavailable: the server is starting"})
	}
}

// wait reports whether the server is open, or opens within timeout.
func (s *Starting) wait(r *http.Request, timeout time.Duration) bool {
	select {
	case <-s.opened:
		return true
	default:
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-s.opened:
		return true
	case <-timer.C:
	case <-r.Context().Done():
	}
	return false
}

func (s *Starting) readiness() envelope {
	e, states := envelope{Code: 50301, Msg: "not ready: the server is starting"}, map[string]api.Dependency{}
	w := s.waitsFor.Load()
	if w != nil {
		e.Msg += " and waits for " + w.dependency
		states[w.dependency] = api.Dependency{State: "down", Error: w.why}
	}
	e.Data = api.Readiness{Dependencies: states}
	return e
}

func sendStarting(w http.ResponseWriter, status int, e envelope) {
	body, err := json.Marshal(e)
	if err != nil {
		status = http.StatusInternalServerError
	}
	h := w.Header()
	h["Content-Type"], h["Cache-Control"], h["X-Content-Type-Options"] = jsonType, noStore, noSniff
	if status != http.StatusOK {
		h["Retry-After"] = retryLater
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
