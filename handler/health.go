package handler

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"regexp"
	"sync"
	"syscall"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/recall"
)

// readyTimeout bounds a readiness probe: an orchestrator's own timeout is
// seldom longer.
const readyTimeout = 2 * time.Second

// live answers GET /livez: the process answers, whatever it stands on.
func (s *server) live(c *call) error { return c.succeed(empty{}) }

// dependencyState is one entry of the readiness answer.
type dependencyState struct {
	State    string `json:"state"` // up or down
	Optional bool   `json:"optional,omitempty"`
	Error    string `json:"error,omitempty"`
	Warning  string `json:"warning,omitempty"`
}

type readiness struct {
	Dependencies map[string]dependencyState `json:"dependencies"`
}

// ready answers GET /readyz: 503 where something is down that no answer can do
// without.
func (s *server) ready(c *call) error {
	ctx, cancel := context.WithTimeout(c.gin.Request.Context(), min(readyTimeout, s.cfg.RequestTimeout))
	defer cancel()
	checked := s.deps.Health.Check(ctx)
	states := make(map[string]dependencyState, len(checked))
	status, e := http.StatusOK, envelope{Msg: "ready"}
	for name, d := range checked {
		state := dependencyState{State: "up", Optional: d.Optional, Warning: d.Warning}
		if d.Err != nil {
			state.State, state.Error = "down", publicCause(d.Err)
			if !d.Optional {
				status = http.StatusServiceUnavailable
				e.Code, e.Msg = 50301, "not ready: a dependency is down"
			}
		}
		states[name] = state
		s.health.changed(ctx, s, name, d.Err)
	}
	e.Data = readiness{Dependencies: states}
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if status == http.StatusServiceUnavailable {
		c.gin.Writer.Header()["Retry-After"] = retryLater
	}
	c.send(status, e.Code, body)
	return nil
}

// publicCause says why a dependency is down without its address or any other
// text of a client library: the probe is open to everyone. The log has the rest.
func publicCause(err error) string {
	var errno syscall.Errno
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timed out"
	case errors.As(err, &dns):
		return "the host name is not known"
	case errors.As(err, &errno):
		return errno.Error()
	}
	for _, known := range []error{catalog.ErrUnavailable, recall.ErrUnavailable, dedup.ErrUnavailable, cache.ErrUnavailable} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "the check failed; see the log"
}

var (
	userinfo = regexp.MustCompile(`://[^/\s]*@`)
	secrets  = regexp.MustCompile(`(?i)\b(bearer|basic|apikey)\s+[a-z0-9._~+/=-]+`)
)

// redact takes credentials out of a text that is going to be logged.
func redact(text string) string {
	return secrets.ReplaceAllString(userinfo.ReplaceAllString(text, "://***@"), "$1 ***")
}

// healthLog logs a dependency's going down and coming back, once each, however
// often it is probed.
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
