package handler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"sync"
	"syscall"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/certificates"
)

// readyTimeout is the timeout of a readiness probe. Orchestrators rarely wait longer.
const readyTimeout = 2 * time.Second

// live answers GET /livez: 200 while the process runs, regardless of its dependencies.
func (s *server) live(c *call) error { return c.succeed(empty{}) }

// ready answers GET /readyz: 503 if a required dependency is down or the server is about to stop.
func (s *server) ready(c *call) error {
	if s.deps.Drain.draining() {
		return s.sendReadiness(c, envelope{Code: 50301, Msg: "not ready: the server is stopping", Data: api.Readiness{Dependencies: map[string]api.Dependency{}}})
	}
	ctx, cancel := context.WithTimeout(c.gin.Request.Context(), min(readyTimeout, s.cfg.RequestTimeout))
	defer cancel()
	checked := s.deps.Health.Check(ctx)
	states := make(map[string]api.Dependency, len(checked))
	e := envelope{Msg: "ready"}
	for name, d := range checked {
		if d.Err != nil && !d.Optional {
			e.Code, e.Msg = 50301, "not ready: a dependency is down"
		}
		states[name] = stateOf(d)
		if c.gin.Request.Context().Err() == nil { // after a disconnect, the result says nothing about the dependency
			s.health.changed(ctx, s, name, d.Err)
		}
	}
	e.Data = api.Readiness{Dependencies: states}
	return s.sendReadiness(c, e)
}

// sendReadiness answers 200 with code 0, 503 with any other.
func (s *server) sendReadiness(c *call, e envelope) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if e.Code != 0 {
		status = http.StatusServiceUnavailable
		c.gin.Writer.Header()["Retry-After"] = retryLater
	}
	c.send(status, e.Code, body)
	return nil
}

func stateOf(d Dependency) api.Dependency {
	state := api.Dependency{State: "up", Optional: d.Optional}
	switch {
	case d.Err == nil:
		state.Warning = d.Warning
		return state
	case d.Optional && d.Left > 0:
		state.State, state.SecondsLeft = "degraded", int64(math.Ceil(d.Left.Seconds()))
	default:
		state.State = "down"
	}
	state.Error = cmp.Or(d.Reason, publicCause(d.Err))
	return state
}

// publicCause describes why a dependency is down without addresses or other text of a client
// library, because the probe is public. The log has the details.
func publicCause(err error) string {
	if cause := PublicCause(err); cause != "" {
		return cause
	}
	var outage *feed.Outage
	if errors.As(err, &outage) {
		return outage.Text
	}
	return "the check failed; see the log"
}

// PublicCause returns why there was no connection or no answer, without addresses or other text of a
// client library, or "" for other errors. If calls are refused because earlier ones have failed, it is
// the cause of the last failure.
func PublicCause(err error) string {
	err = LastFailure(err)
	var errno syscall.Errno
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timed out"
	case errors.As(err, &dns):
		return "unknown host name"
	case errors.As(err, &errno):
		return errno.Error()
	}
	fault, _ := certificates.Check(err, "")
	return fault.Cause
}

// LastFailure returns the failure because of which a call was refused, and err if it was not.
func LastFailure(err error) error {
	var refused interface{ LastFailure() error }
	if errors.As(err, &refused) {
		return refused.LastFailure()
	}
	return err
}

var (
	userinfo = regexp.MustCompile(`://[^/\s]*@`)
	secrets  = regexp.MustCompile(`(?i)\b(bearer|basic|apikey)\s+[a-z0-9._~+/=-]+`)
)

// redact removes credentials from a text for the log.
func redact(text string) string {
	return secrets.ReplaceAllString(userinfo.ReplaceAllString(text, "://***@"), "$1 ***")
}

// healthLog logs each change of a dependency's state once.
type healthLog struct {
	mu   sync.Mutex
	down map[string]bool
}

func (h *healthLog) changed(ctx context.Context, s *server, name string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down[name] == (err != nil) {
		return
	}
	if h.down == nil {
		h.down = map[string]bool{}
	}
	h.down[name] = err != nil
	if err != nil {
		s.log.WarnContext(ctx, "dependency is down", "dependency", name, "error", redact(err.Error()))
		return
	}
	s.log.InfoContext(ctx, "dependency is up again", "dependency", name)
}

// Drain signals to the routes that the server is about to stop, so that calls are sent elsewhere
// before it does. [NewDrain] creates one. It is safe for concurrent use.
type Drain struct {
	once  sync.Once
	begun chan struct{} // closed by Begin
	end   time.Time     // when the server stops; may be read once begun is closed
}

// NewDrain returns a Drain that has not begun.
func NewDrain() *Drain { return &Drain{begun: make(chan struct{})} }

// Begin begins to drain; a second call has no effect. From then on the server is not ready, every
// answer asks its client to reconnect, and streams end at random times within over. Calls are
// still answered.
func (d *Drain) Begin(over time.Duration) {
	d.once.Do(func() {
		d.end = time.Now().Add(over)
		close(d.begun)
	})
}

// draining reports whether the server is about to stop. A nil Drain never is.
func (d *Drain) draining() bool {
	select {
	case <-d.begins():
		return true
	default:
		return false
	}
}

// begins returns a channel that is closed when draining begins; nil for a nil Drain.
func (d *Drain) begins() <-chan struct{} {
	if d == nil {
		return nil
	}
	return d.begun
}

// share returns how long a stream may stay open: a random part of the remaining time.
func (d *Drain) share() time.Duration { return rand.N(max(time.Until(d.end), 1)) }
