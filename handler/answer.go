package handler

import (
	"context"
	"strings"
	"time"
)

// admission begins the work of a call, such as [server.work], and returns its context. The work
// ends with [call.done]. The body must be read before it and the answer sent after it, so that a
// slow client does not occupy the gate.
type admission func(c *call) (context.Context, error)

// work is the admission of agents' calls.
func (s *server) work(c *call) (context.Context, error) {
	return c.begin(s.feeds, s.cfg.RequestTimeout)
}

// gated admits a call of an agent through the gate and a call of an admin without it: admin calls
// must succeed on an overloaded server.
func (s *server) gated(c *call) (context.Context, error) {
	if c.agent != "" {
		return s.work(c)
	}
	return c.begin(gate{}, s.cfg.RequestTimeout)
}

// begin begins the work of a call: it enters the gate and sets the time limit.
func (c *call) begin(g gate, limit time.Duration) (ctx context.Context, err error) {
	if err := g.enter(1); err != nil {
		return nil, err
	}
	c.gate = g
	ctx, c.cancel = context.WithTimeout(c.gin.Request.Context(), limit)
	return ctx, nil
}

// done ends the work of a call, if it has begun.
func (c *call) done() {
	if c.cancel != nil {
		c.cancel()
		c.gate.leave(1)
		c.cancel = nil
	}
}

// subject returns the id that a call is about: its caller, or the id in its path. It fails if the
// caller may not make the call.
type subject func(*call) (string, error)

// nobody is the subject of calls without one.
func nobody(*call) (string, error) { return "", nil }

// input reads the parameters of a call.
type input[In any] func(*call) (*In, error)

// body reads JSON of at most limit bytes. Missing fields have the values of defaults; the filled
// ones must not be empty texts.
func body[In any](limit int, defaults In, filled ...string) input[In] {
	return func(c *call) (*In, error) {
		in := defaults
		return checked(&in, c.readJSON(limit, &in, filled...))
	}
}

// query reads the query parameters. Missing ones have the values of defaults.
func query[In any](defaults In) input[In] {
	return func(c *call) (*In, error) {
		in := defaults
		return checked(&in, c.decodeQuery(&in))
	}
}

// checked applies the input's own check, if it has one.
func checked[In any](in *In, err error) (*In, error) {
	if own, ok := any(in).(interface{ check() error }); ok && err == nil {
		err = own.check()
	}
	return in, err
}

// plain reads a body without decoding it.
func plain(limit int) input[[]byte] {
	return func(c *call) (*[]byte, error) {
		data, err := c.readBody(limit)
		return &data, err
	}
}

// serve returns a route that runs do and answers with its result.
func serve(admit admission, who subject, do func(ctx context.Context, c *call, who string) (any, error)) func(*call) error {
	none := func(*call) (*empty, error) { return nil, nil }
	return serveInput(admit, who, none, func(ctx context.Context, c *call, who string, _ *empty) (any, error) { return do(ctx, c, who) })
}

// serveInput is [serve] for calls with parameters.
func serveInput[In any](admit admission, who subject, read input[In], do func(ctx context.Context, c *call, who string, in *In) (any, error)) func(*call) error {
	return func(c *call) error {
		name, err := who(c)
		if err != nil {
			return err
		}
		in, err := read(c)
		if err != nil {
			return err
		}
		if err := c.noQuery(); err != nil {
			return err
		}
		ctx, err := admit(c)
		if err != nil {
			return err
		}
		data, err := do(ctx, c, name, in)
		c.done()
		if err != nil {
			return err
		}
		return c.succeed(data)
	}
}

// of returns a route that acts on its subject and answers without data.
func (s *server) of(who subject, do func(ctx context.Context, who string) error) func(*call) error {
	return serve(s.gated, who, func(ctx context.Context, _ *call, who string) (any, error) { return empty{}, do(ctx, who) })
}

// change returns a route for an idempotent change that answers whether anything changed.
func (s *server) change(who subject, do func(ctx context.Context, c *call, who string) (bool, error)) func(*call) error {
	return serve(s.gated, who, func(ctx context.Context, c *call, who string) (any, error) {
		is, err := do(ctx, c, who)
		return changed{is}, err
	})
}

// changed is the data of an answer to an idempotent change.
type changed struct {
	Changed bool `json:"changed"` // false if it was already so
}

// without records the degraded parts of the answer for the log.
func (c *call) without(degraded []string) { c.lacks = strings.Join(degraded, ",") }

// firstPage cuts a list of up to limit+1 entries to a page, and returns the entry after which the
// next page begins; nil on the last page.
func firstPage[T any](list []T, limit int) (page []T, last *T) {
	if len(list) > limit {
		list = list[:limit]
		last = &list[limit-1]
	}
	return append([]T{}, list...), last
}
