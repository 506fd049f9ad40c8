package handler

import (
	"context"
	"strings"
)

// runner runs what a call is for: [server.work] or [server.gated].
type runner func(c *call, do func(ctx context.Context) error) error

// work runs an agent's call inside the gate and within the request timeout. The
// body must be read before and the answer sent after it: a slow client must not
// hold a place.
func (s *server) work(c *call, do func(ctx context.Context) error) error {
	if err := s.feeds.enter(1); err != nil {
		return err
	}
	defer s.feeds.leave(1)
	ctx, cancel := s.deadline(c)
	defer cancel()
	return do(ctx)
}

// gated runs a call of an agent inside the gate, and an admin's beside it: those
// must succeed on an overloaded server.
func (s *server) gated(c *call, do func(ctx context.Context) error) error {
	if c.agent != "" {
		return s.work(c, do)
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	return do(ctx)
}

// subject returns the id that a call is of or about: who makes it, or what its path names.
// It fails where the caller may not make the call.
type subject func(*call) (string, error)

// nobody is the subject of calls that are about no one thing.
func nobody(*call) (string, error) { return "", nil }

// input reads what a call asks for.
type input[In any] func(*call) (*In, error)

// body reads JSON of at most limit bytes. What it leaves out is as in defaults.
func body[In any](limit int, defaults In) input[In] {
	return func(c *call) (*In, error) {
		in := defaults
		return checked(&in, c.readJSON(limit, &in))
	}
}

// query reads the parameters of a query, likewise.
func query[In any](defaults In) input[In] {
	return func(c *call) (*In, error) {
		in := defaults
		return checked(&in, c.decodeQuery(&in))
	}
}

// checked returns an input that was read, where it passes its own check.
func checked[In any](in *In, err error) (*In, error) {
	if own, ok := any(in).(interface{ check() error }); ok && err == nil {
		err = own.check()
	}
	return in, err
}

// plain reads a body as it is.
func plain(limit int) input[[]byte] {
	return func(c *call) (*[]byte, error) {
		data, err := c.readBody(limit)
		return &data, err
	}
}

// serve is a route that runs do and answers its result.
func serve(run runner, who subject, do func(ctx context.Context, c *call, who string) (any, error)) func(*call) error {
	none := func(*call) (*empty, error) { return nil, nil }
	return serveInput(run, who, none, func(ctx context.Context, c *call, who string, _ *empty) (any, error) { return do(ctx, c, who) })
}

// serveInput is [serve] of calls that ask for something.
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
		data, err := result(c, run, func(ctx context.Context) (any, error) { return do(ctx, c, name, in) })
		if err != nil {
			return err
		}
		return c.succeed(data)
	}
}

// of is a route that does something to its subject, and answers that it has succeeded.
func (s *server) of(who subject, do func(ctx context.Context, who string) error) func(*call) error {
	return serve(s.gated, who, func(ctx context.Context, _ *call, who string) (any, error) { return empty{}, do(ctx, who) })
}

// change is a route that makes a change, which may be repeated, and answers whether it was one.
func (s *server) change(who subject, do func(ctx context.Context, c *call, who string) (bool, error)) func(*call) error {
	return serve(s.gated, who, func(ctx context.Context, c *call, who string) (any, error) {
		is, err := do(ctx, c, who)
		return changed{is}, err
	})
}

// changed is the data of an answer to a change that may be repeated.
type changed struct {
	Changed bool `json:"changed"` // false: it was so before
}

// result runs a call and returns its result.
func result[T any](c *call, run runner, do func(ctx context.Context) (T, error)) (out T, err error) {
	err = run(c, func(ctx context.Context) (err error) {
		out, err = do(ctx)
		return err
	})
	return out, err
}

// without notes what the answer lacks.
func (c *call) without(degraded []string) { c.lacks = strings.Join(degraded, ",") }

// firstPage cuts a list that has one more than a page to the page, with the key that the
// next one begins after; nil: this is the last.
func firstPage[T, K any](list []T, limit int, key func(*T) *K) (page []T, next *K) {
	if len(list) > limit {
		list = list[:limit]
		next = key(&list[limit-1])
	}
	return append([]T{}, list...), next
}
