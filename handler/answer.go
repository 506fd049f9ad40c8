package handler

import (
	"context"
	"strings"
)

// runner runs the work of a call: [server.work] or [server.gated].
type runner func(c *call, do func(ctx context.Context) error) error

// work runs an agent's call inside the gate and within the request timeout. The body must be read
// before and the answer sent after it, so that a slow client does not occupy the gate.
func (s *server) work(c *call, do func(ctx context.Context) error) error {
	if err := s.feeds.enter(1); err != nil {
		return err
	}
	defer s.feeds.leave(1)
	ctx, cancel := s.deadline(c)
	defer cancel()
	return do(ctx)
}

// gated runs a call of an agent inside the gate and a call of an admin outside it: admin calls
// must succeed on an overloaded server.
func (s *server) gated(c *call, do func(ctx context.Context) error) error {
	if c.agent != "" {
		return s.work(c, do)
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	return do(ctx)
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
func serve(run runner, who subject, do func(ctx context.Context, c *call, who string) (any, error)) func(*call) error {
	none := func(*call) (*empty, error) { return nil, nil }
	return serveInput(run, who, none, func(ctx context.Context, c *call, who string, _ *empty) (any, error) { return do(ctx, c, who) })
}

// serveInput is [serve] for calls with parameters.
func serveInput[In any](run runner, who subject, read input[In], do func(ctx context.Context, c *call, who string, in *In) (any, error)) func(*call) error {
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
		data, err := result(c, run, func(ctx context.Context) (any, error) { return do(ctx, c, name, in) })
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

// result runs a call and returns its result.
func result[T any](c *call, run runner, do func(ctx context.Context) (T, error)) (out T, err error) {
	err = run(c, func(ctx context.Context) (err error) {
		out, err = do(ctx)
		return err
	})
	return out, err
}

// without records the degraded parts of the answer for the log.
func (c *call) without(degraded []string) { c.lacks = strings.Join(degraded, ",") }

// firstPage cuts a list of up to limit+1 entries to a page, and returns the key after which the
// next page begins; nil on the last page.
func firstPage[T, K any](list []T, limit int, key func(*T) *K) (page []T, next *K) {
	if len(list) > limit {
		list = list[:limit]
		next = key(&list[limit-1])
	}
	return append([]T{}, list...), next
}
