package fanout

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

// errBuilding says that a list is not ready yet: it is being built elsewhere, or its content
// changed during each attempt to build it.
var errBuilding = errors.New("the list is being built")

const (
	buildTries = 3
	// patience is how long a build waits for one elsewhere.
	patience = 2 * time.Second
	// buildPoll is the poll interval of that wait.
	buildPoll = 20 * time.Millisecond
	// outboxBuilds limits the concurrent builds of outboxes for one reader.
	outboxBuilds = 8
)

// Build builds an agent's timeline unless it exists. The timeline is ready when Build returns
// nil. Concurrent calls for one agent share one build. An error is [errBuilding], wraps
// [timeline.ErrUnavailable] or [social.ErrUnavailable], or is the context's. Build is idempotent.
func (f *Fanout) Build(ctx context.Context, agent string) error { return f.timelines.build(ctx, agent) }

// Outbox builds authors' outboxes as [Fanout.Build] builds timelines. After an error some of
// them may be ready.
func (f *Fanout) Outbox(ctx context.Context, authors []string) error {
	var g errgroup.Group
	g.SetLimit(outboxBuilds)
	for _, author := range authors {
		g.Go(safego.Func(func() error { return f.outboxes.build(ctx, author) }))
	}
	return g.Wait()
}

// builder builds lists of one kind.
type builder struct {
	kind     string
	lists    timeline.Lists
	cap      int
	clock    feed.Clock
	read     func(ctx context.Context, name string, n int) ([]social.Entry, error)
	flights  singleflight.Group
	patience time.Duration
}

// build joins the build of the list that runs in this process, or starts one.
func (b *builder) build(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	flight := b.flights.DoChan(name, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeline.TakeOver)
		defer cancel()
		return nil, safego.Run(func() error { return b.run(ctx, name) })
	})
	select {
	case r := <-flight:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run attempts builds until one is committed, here or elsewhere.
func (b *builder) run(ctx context.Context, name string) error {
	waited := time.Duration(0)
	for tries := 0; tries < buildTries; {
		token, state, err := b.lists.Begin(ctx, name)
		switch {
		case err != nil:
			return err
		case state == timeline.Ready:
			return nil
		case token == "" && waited >= b.patience:
			return errBuilding
		case token == "":
			waited += buildPoll
			if err := periodic.Pause(ctx, buildPoll); err != nil {
				return err
			}
			continue
		}
		tries++
		if ready, err := b.once(ctx, name, token); err != nil || ready {
			return err
		}
	}
	return errBuilding
}

// once builds a list under a token. ready is false if the list's content changed meanwhile.
func (b *builder) once(ctx context.Context, name, token string) (ready bool, err error) {
	start := b.clock()
	list, err := b.read(ctx, name, b.cap+1)
	if err == nil {
		var c timeline.Content
		c.Entries, c.Floor = content(list, b.cap)
		ready, err = b.lists.Commit(ctx, name, token, c)
	}
	result := "ready"
	switch {
	case err != nil:
		result = "failed"
	case !ready:
		result = "overtaken"
	}
	buildSeconds.WithLabelValues(b.kind, result).Observe(b.clock().Sub(start).Seconds())
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), beforeAnswerLimit)
		defer cancel()
		// Otherwise the next reader waits until the build may be taken over.
		return false, errors.Join(err, b.lists.Abandon(ctx, name, token))
	}
	return ready, nil
}
