package handler

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// call is one request being answered. Calls are pooled for their buffers:
// nothing of a call may be kept after its route has returned.
type call struct {
	gin    *gin.Context
	start  time.Time
	id     string // of this request, in the log and in X-Request-ID
	agent  string // who called, once known
	code   int    // of the envelope
	cause  error  // for the log only
	unsent bool   // the answer could not be written
	in     []byte // the body, where it is small
	out    []byte // the answer, where it is spliced
}

// handle makes a route of fn: it answers fn's error, recovers its panic, counts
// and logs the request.
func (s *server) handle(route string, fn func(*call) error) gin.HandlerFunc {
	meter := newMeter(route)
	return func(g *gin.Context) {
		c := s.calls.Get().(*call)
		*c = call{gin: g, start: time.Now(), in: c.in[:0], out: c.out[:0]}
		c.id = requestID(g.Request.Header.Get("X-Request-ID"))
		g.Writer.Header()["X-Request-Id"] = []string{c.id}
		defer s.finish(c, route, meter)
		if err := fn(c); err != nil {
			s.fail(c, err)
		}
	}
}

// finish is deferred by every route.
func (s *server) finish(c *call, route string, m meter) {
	panicked := recover()
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
	status := c.gin.Writer.Status()
	if c.unsent {
		status = statusClientGone
	}
	took := time.Since(c.start)
	m.observe(status, took)
	s.logCall(c, route, status, took)
	if aborted {
		panic(panicked)
	}
	c.gin, c.cause = nil, nil
	if cap(c.in) > keepBuffer {
		c.in = nil
	}
	if cap(c.out) > keepBuffer {
		c.out = nil
	}
	s.calls.Put(c)
}

// logCall writes the request's one line. Bodies, tokens and headers are never
// in it; the path is not either, because the route names it and the rest is
// the caller's text.
func (s *server) logCall(c *call, route string, status int, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case c.cause != nil && status == http.StatusServiceUnavailable:
		level = slog.LevelWarn
	case c.cause != nil:
		level = slog.LevelError
	}
	ctx := c.gin.Request.Context()
	if !s.log.Enabled(ctx, level) {
		return
	}
	attrs := [...]slog.Attr{
		slog.String("route", route),
		slog.Int("status", status),
		slog.Int("code", c.code),
		slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("agent", c.agent),
		slog.Int("bytes", max(c.gin.Writer.Size(), 0)),
		slog.String("request_id", c.id),
		{},
	}
	n := len(attrs) - 1
	if c.cause != nil {
		attrs[n] = slog.String("error", redact(c.cause.Error()))
		n++
	}
	s.log.LogAttrs(ctx, level, "request", attrs[:n]...)
}

// caller is the agent that calls, if it is known and does not call too often.
func (s *server) caller(c *call) (string, error) {
	agent, err := s.auth.agent(c.gin.Request)
	if err != nil {
		return "", err
	}
	c.agent = agent
	return agent, s.rates.take(agent)
}

// deadline is the context of the call's work, ended by the configured timeout
// or by the client's leaving.
func (s *server) deadline(c *call) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.gin.Request.Context(), s.cfg.RequestTimeout)
}

// gone reports whether the client has left.
func (c *call) gone() bool { return c.gin.Request.Context().Err() == context.Canceled }

// requestID takes the caller's id for the request if it is harmless in a log,
// else makes one.
func requestID(given string) string {
	if given != "" && len(given) <= 128 && strings.IndexFunc(given, unfitForID) < 0 {
		return given
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
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("_.:/+=@-", r)
}
