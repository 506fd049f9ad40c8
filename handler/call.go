package handler

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// maxMethod is the longest part of a method written to the log.
const maxMethod = 16

// call is one request. Calls are pooled for their buffers, so nothing of a call may be used after
// its route has returned.
type call struct {
	gin      *gin.Context
	start    time.Time
	id       string           // request id, in the log and in X-Request-ID
	agent    string           // the calling agent, once known
	code     int              // code in the envelope
	cause    error            // for the log only
	lacks    string           // degraded parts of the answer, for the log
	unsent   bool             // the answer could not be written
	personal bool             // the answer depends on the caller
	asked    bool             // the query parameters were read
	shared   bool             // the answer is the same for all callers, and caches may store it
	sent     io.LimitedReader // limited reader of the body
	in       bytes.Buffer     // the body, unless it is streamed
	out      []byte           // buffer for an answer assembled from stored JSON
	gate     gate             // that the work of the call has entered
	cancel   func()           // ends the context of the work; nil if none is in progress
}

// handle returns a route that runs fn, answers its errors, recovers panics, and counts and logs
// the request.
func (s *server) handle(name string, fn func(*call) error) gin.HandlerFunc {
	meter, route := newMeter(name), newRoute(name)
	return func(g *gin.Context) {
		c := s.calls.Get().(*call)
		*c = call{gin: g, start: time.Now(), in: c.in, out: c.out[:0]}
		c.id = requestID(g.Request.Header["X-Request-Id"])
		g.Writer.Header()["X-Request-Id"] = []string{c.id}
		if s.deps.Drain.draining() { // makes proxies with persistent connections open the next one to another server
			g.Writer.Header()["Connection"] = closing
		}
		if !route.lasts {
			callsInFlight.begin(c)
		}
		defer s.finish(c, route, meter)
		if s.allowOrigin(g.Writer, g.Request) {
			return
		}
		err := s.admit(g.Request, route)
		if err == nil {
			err = fn(c)
		}
		if err != nil {
			s.fail(c, err)
		}
	}
}

// admit rejects a call before its route runs. Unknown routes are answered first.
func (s *server) admit(r *http.Request, route route) error {
	if route.name == unmatched {
		return nil
	}
	if err := s.auth.checkOrigin(r); err != nil {
		return err
	}
	return conditions(r, route)
}

var closing = []string{"close"}

// route names a route in logs, metrics and traces.
type route struct {
	name string // method and path, for metrics and traces
	path string
	// probe: called by machines every few seconds, so logged at debug level.
	probe bool
	lasts bool // its calls may be long, and callsInFlight excludes them
}

func newRoute(name string) route {
	r := route{name: name, path: name, lasts: slices.Contains(longRoutes, name) || strings.Contains(name, "/debug/pprof")}
	_, path, ok := strings.Cut(name, " ")
	if ok {
		r.path = path
	}
	switch r.path {
	case "/livez", "/readyz", "/metrics":
		r.probe = true
	}
	return r
}

// finish is deferred by every route.
func (s *server) finish(c *call, route route, m meter) {
	panicked := recover()
	c.done()
	cause, _ := panicked.(error)
	aborted := errors.Is(cause, http.ErrAbortHandler)
	if panicked != nil && !aborted {
		err := fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		if c.gin.Writer.Written() {
			c.cause, c.code = err, 50001
		} else {
			s.fail(c, err)
		}
		c.cause = err
	}
	if !route.lasts {
		callsInFlight.end(c)
	}
	status := c.gin.Writer.Status()
	if c.unsent {
		status = statusClientGone
	}
	took := time.Since(c.start)
	m.observe(status, took)
	s.logCall(c, route, status, took)
	c.trace(route, status)
	if aborted {
		panic(panicked)
	}
	c.gin, c.cause, c.sent.R = nil, nil, nil
	if c.in.Cap() > keepBuffer {
		c.in = bytes.Buffer{}
	}
	if cap(c.out) > keepBuffer {
		c.out = nil
	}
	s.calls.Put(c)
}

// logCall writes one line for the request. It never logs bodies, tokens, headers or the path, all
// of which callers control; the route is sufficient.
func (s *server) logCall(c *call, route route, status int, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case c.cause != nil && status == http.StatusServiceUnavailable:
		level = slog.LevelWarn
	case c.cause != nil:
		level = slog.LevelError
	case route.probe: // changes of health are logged separately
		level = slog.LevelDebug
	}
	r := c.gin.Request
	ctx := r.Context()
	if !s.log.Enabled(ctx, level) {
		return
	}
	attrs := append(make([]slog.Attr, 0, 11),
		slog.String("method", r.Method[:min(len(r.Method), maxMethod)]),
		slog.String("route", route.path),
		slog.Int("status", status),
		slog.Int("code", c.code),
		slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("agent", c.agent),
		slog.Int("bytes", max(c.gin.Writer.Size(), 0)),
		slog.String("request_id", c.id))
	if c.lacks != "" {
		attrs = append(attrs, slog.String("degraded", c.lacks))
	}
	span := trace.SpanContextFromContext(ctx)
	if span.IsSampled() {
		attrs = append(attrs, slog.String("trace_id", span.TraceID().String()))
	}
	if c.cause != nil {
		attrs = append(attrs, slog.String("error", redact(c.cause.Error())))
	}
	s.log.LogAttrs(ctx, level, "request", attrs...)
}

// deadline returns the request's context with the configured timeout. It is also cancelled when
// the client disconnects.
func (s *server) deadline(c *call) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.gin.Request.Context(), s.cfg.RequestTimeout)
}

// trace adds the route's attributes to the request's span, if there is one.
func (c *call) trace(route route, status int) {
	span := trace.SpanFromContext(c.gin.Request.Context())
	if !span.IsRecording() {
		return
	}
	span.SetName(route.name)
	span.SetAttributes(
		attribute.String("http.request.method", c.gin.Request.Method), attribute.String("http.route", route.path), attribute.Int("http.response.status_code", status),
		attribute.Int("freshet.code", c.code), attribute.String("freshet.request_id", c.id))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
}

// gone reports whether the client has disconnected.
func (c *call) gone() bool { return c.gin.Request.Context().Err() == context.Canceled }

// requestID returns the first of the caller's request ids if it is safe to log, else a new one.
func requestID(given []string) string {
	if len(given) > 0 && given[0] != "" && len(given[0]) <= 128 && strings.IndexFunc(given[0], unfitForID) < 0 {
		return given[0]
	}
	var raw [8]byte
	for i, bits := 0, rand.Uint64(); i < len(raw); i, bits = i+1, bits>>8 {
		raw[i] = byte(bits)
	}
	var text [16]byte
	hex.Encode(text[:], raw[:])
	return string(text[:])
}

func unfitForID(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z',
		'A' <= r && r <= 'Z',
		'0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("_.:/+=@-", r)
}
