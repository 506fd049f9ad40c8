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
	if err := s.feeds.enter(); err != nil {
		return err
	}
	defer s.feeds.leave()
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

// result runs a call and returns its result.
func result[T any](c *call, run runner, do func(ctx context.Context) (T, error)) (out T, err error) {
	err = run(c, func(ctx context.Context) (err error) {
		out, err = do(ctx)
		return err
	})
	return out, err
}

// answer runs a call and answers with its result.
func (c *call) answer(run runner, do func(ctx context.Context) (any, error)) error {
	data, err := result(c, run, do)
	if err != nil {
		return err
	}
	return c.succeed(data)
}

// done runs a call and answers that it has succeeded.
func (c *call) done(run runner, do func(ctx context.Context) error) error {
	return c.answer(run, func(ctx context.Context) (any, error) { return empty{}, do(ctx) })
}

// of is a route that does something to what is kept of the agent whom it names.
func (s *server) of(agent func(*call) (string, error), do func(ctx context.Context, agent string) error) func(*call) error {
	return func(c *call) error {
		name, err := agent(c)
		if err != nil {
			return err
		}
		return c.done(s.gated, func(ctx context.Context) error { return do(ctx, name) })
	}
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
