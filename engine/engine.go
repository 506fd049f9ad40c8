// Package engine answers the feed: refresh, load more and peek. The stages of
// a refresh stand in their order: recall → dedup → page → hydrate → record.
// The engine knows the contracts of its stores, never a backend, and keeps no
// state of its own but whose turn it is to refresh.
package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// pageTries is how often a refresh chooses anew when other servers keep handing
// out everything it has chosen.
const pageTries = 4

// Seen is what the engine needs of a dedup store.
type Seen interface {
	dedup.Checker
	dedup.Claimer
}

// Recorder takes impressions off the request path. [dedup.Recorder] is one.
type Recorder interface {
	Deliver(agent string, groups []string)
	Confirm(ctx context.Context, agent string, groups []string) error
}

// Stores is everything the engine stands on; all but Fallback, Recovery and
// Tally are required.
type Stores struct {
	Sources  []recall.Source // asked together; of equal scores the earlier source's comes first
	Seen     Seen
	Recorder Recorder
	Sessions cache.Sessions
	Catalog  catalog.Catalog
	// Fallback makes the engine fail open: while the dedup or session store is
	// down it answers degraded and keeps the impressions there. Without it such
	// a request is an error.
	Fallback Fallback
	// Recovery tells when a page is to be checked again and said to be degraded,
	// because the stores were down; nil: never.
	Recovery Recovery
	Tally    Tally // counts what is shown and done, per variant; nil: nobody does
}

// Rankings says by which parameters an agent's refreshes are ranked, and the
// name of the variant they belong to. It is asked at every refresh, so it may
// change its mind. [feed.Live] is one that does not.
type Rankings interface {
	For(agent string) (variant string, r feed.Ranking)
}

// Config tunes an Engine.
type Config struct {
	Clock      feed.Clock
	Rankings   Rankings
	N          int           // candidates of a refresh's first round; 500
	RoundsFor  time.Duration // a refresh begins no further round after it; 0: there is one round
	OriginStep time.Duration // the origin is rounded down to it, so that equal recalls are equal; 1s
	Coalesce   time.Duration // a refresh that waited for one this young pages from its session; 0: off
	// RecordServed records what was delivered (impressions.on: served); else
	// only what the client reports as seen is recorded.
	RecordServed bool
	// Remember keeps in this process what it handed out lately, and never
	// hands that out again: for stores that a failover can set back. It is
	// implied by [Stores.Fallback].
	Remember bool
	// Begin, where it is set, returns the context that the stores are asked
	// with on behalf of one request of an agent.
	Begin func(context.Context) context.Context
	// Tracer makes a span for each request and each of its stages; nil: none.
	Tracer trace.Tracer
}

// Validate says which value is unusable.
func (c Config) Validate() error {
	switch {
	case c.Clock == nil:
		return errors.New("engine: the clock is missing")
	case c.Rankings == nil:
		return errors.New("engine: the rankings are missing")
	case c.N < 1 || c.N > 10_000:
		return fmt.Errorf("recall.n must be 1 to 10000, not %d", c.N)
	case c.OriginStep < 0 || c.Coalesce < 0 || c.RoundsFor < 0:
		return errors.New("recall.origin_step, sessions.coalesce and the time for rounds must not be negative")
	}
	return nil
}

// Engine answers the feed. It is safe for concurrent use.
type Engine struct {
	stores    Stores
	cfg       Config
	turns     turns   // of refreshes
	edits     turns   // of changes to an agent's profile
	served    *served // what this process handed out lately; nil: nothing can be lost elsewhere
	loose     loosePages
	abandoned abandoned
}

// New checks the configuration and returns an engine over the stores.
func New(stores Stores, cfg Config) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if len(stores.Sources) == 0 {
		return nil, errors.New("engine: at least one recall source is needed")
	}
	e := &Engine{
		stores: stores, cfg: cfg,
		turns: turns{byAgent: map[string]*turn{}}, edits: turns{byAgent: map[string]*turn{}},
	}
	e.abandoned = newAbandoned(stores.Sessions, e.begin)
	if cfg.Remember || stores.Fallback != nil {
		e.served = newServed()
	}
	return e, nil
}

// Feed answers one request. Errors wrap [feed.ErrBadID], [ErrBadAction],
// [ErrBadLimit], [cache.ErrConflict], or a store's ErrUnavailable.
func (e *Engine) Feed(ctx context.Context, r Request) (Answer, error) {
	if err := r.validate(); err != nil {
		return Answer{}, err
	}
	a, err := e.traced(e.begin(ctx), r, func(ctx context.Context) (Answer, error) {
		if r.Silent {
			return e.peek(ctx, r)
		}
		return e.page(ctx, newCall(r))
	})
	a.RequestID = r.RequestID
	countAnswer(r, a, err)
	return a, err
}

// begin is the context of a request.
func (e *Engine) begin(ctx context.Context) context.Context {
	if e.cfg.Begin == nil {
		return ctx
	}
	return e.cfg.Begin(ctx)
}

// page answers a call that hands out a page.
func (e *Engine) page(ctx context.Context, c *call) (Answer, error) {
	p, again, err := e.loose.get(c, e.cfg.Clock())
	switch {
	case err != nil:
		return Answer{}, err
	case again:
		return e.deliver(ctx, c, p)
	}
	flow := e.loadMore
	if c.Action == ActionRefresh {
		flow = e.refresh
	}
	a, err := flow(ctx, c)
	if call, some := c.unheard(err); some {
		e.abandoned.add(ctx, c.Agent, call)
	}
	return a, err
}

// Close ends what runs beside requests, until ctx ends at the latest.
func (e *Engine) Close(ctx context.Context) { e.abandoned.close(ctx) }

// refresh recalls anew, replaces the agent's session and answers its first
// page. A refresh that had to wait for another one of the same agent pages
// from the session that one built, if it is young enough.
func (e *Engine) refresh(ctx context.Context, c *call) (Answer, error) {
	turn, err := e.turn(ctx, c.Agent)
	if err != nil {
		return Answer{}, err
	}
	defer turn.leave()
	if turn.follows() {
		a, ok, err := e.follow(ctx, c)
		if err != nil || ok {
			return a, err
		}
	}
	turn.begin(e.cfg.Clock())
	p, err := e.freshPage(ctx, c)
	if err != nil {
		return Answer{}, err
	}
	if !p.Replayed && !p.loose {
		turn.keep()
	}
	return e.deliver(ctx, c, p)
}

// turn waits until no other refresh of the agent runs in this process.
func (e *Engine) turn(ctx context.Context, agent string) (*ticket, error) {
	ctx, end := e.enter(ctx, turnStage)
	defer end()
	return e.turns.enter(ctx, agent, e.cfg.Clock(), e.cfg.Coalesce)
}

// follow pages from the session the refresh before has built; ok is false
// where nothing is left of it.
func (e *Engine) follow(ctx context.Context, c *call) (a Answer, ok bool, err error) {
	p, err := e.pop(ctx, c, c.Limit)
	if e.failsOpen(ctx, err) {
		return Answer{}, false, nil
	}
	if err != nil || len(p.Refs) == 0 && !p.Replayed {
		return Answer{}, false, err
	}
	coalescedTotal.Inc()
	a, err = e.deliver(ctx, c, p)
	return a, true, err
}

// loadMore pages on in the agent's session; without one it silently refreshes.
// So it does after a pop that was not answered: the page step of the refresh
// hands out what the pop has taken, if it has.
func (e *Engine) loadMore(ctx context.Context, c *call) (Answer, error) {
	p, err := e.pop(ctx, c, c.Limit)
	countLoadMore(p, err)
	if e.failsOpen(ctx, err) {
		return e.refresh(ctx, c)
	}
	if err != nil {
		return Answer{}, err
	}
	if len(p.Refs) == 0 && !p.Replayed {
		return e.refresh(ctx, c)
	}
	return e.deliver(ctx, c, p)
}

// pop takes a page from the session.
func (e *Engine) pop(ctx context.Context, c *call, limit int) (page, error) {
	ctx, end := e.enter(ctx, pageStage)
	defer end()
	p, err := e.stores.Sessions.Pop(ctx, cache.Pop{Agent: c.Agent, Limit: limit, Now: e.cfg.Clock(), Call: c.next()})
	c.made(ctx, p, err)
	return page{Page: p}, err
}

// peek is the silent refresh: it answers the unseen items dated after the
// agent's last refresh and changes nothing. HasMore tells that there are more
// of them than were asked for.
//
// While recall is down nobody knows what is new, while the session store is
// down, since when: then nothing is, and the answer says what was missing.
func (e *Engine) peek(ctx context.Context, r Request) (Answer, error) {
	since, err := e.stores.Sessions.Refreshed(ctx, r.Agent)
	if e.failsOpen(ctx, err) {
		return Answer{Docs: []feed.Doc{}, Degraded: (lacksDedup | lacksSession).names()}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	profile, err := e.profile(ctx, r.Agent)
	if err != nil {
		return Answer{}, err
	}
	q := e.query(r.Agent, profile)
	q.Since = since
	// One round is enough: recall is bounded to what is new, and N of it is
	// as far as a badge counts.
	found, err := e.choose(ctx, r.Agent, q, 1, 0)
	if down(ctx, err) && errors.Is(err, recall.ErrUnavailable) {
		return Answer{Docs: []feed.Doc{}, Degraded: lacksRecall.names()}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	got, err := e.hydrate(ctx, r.Agent, found.ranked[:min(len(found.ranked), r.Limit)])
	if err != nil {
		return Answer{}, err
	}
	got.unsure = e.recovering()
	count := len(found.ranked) - len(got.gone)
	return Answer{
		Docs: got.docs, NewCount: count, HasMore: count > len(got.docs), Degraded: (found.lacks | got.lacks()).names(),
	}, nil
}

// open reads what a refresh starts from: the agent's profile and, at the same
// time, the page its request id has been answered with before, if any.
func (e *Engine) open(ctx context.Context, c *call) (feed.Profile, cache.Page, error) {
	ctx, end := e.enter(ctx, openStage)
	defer end()
	if c.RequestID == "" || c.step > 0 {
		p, err := e.profile(ctx, c.Agent)
		return p, cache.Page{}, err
	}
	var p feed.Profile
	var before cache.Page
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		p, err = e.profile(gctx, c.Agent)
		return err
	})
	group.Go(func() (err error) {
		before, _, err = e.stores.Sessions.Replay(gctx, c.Agent, c.next())
		if e.failsOpen(gctx, err) {
			return nil
		}
		return err
	})
	err := group.Wait()
	return p, before, err
}

// freshPage is the refresh proper, up to its page. Where everything that passed
// the check was handed out elsewhere before the page step, it goes again,
// deeper: an empty page is to mean that there is nothing.
func (e *Engine) freshPage(ctx context.Context, c *call) (page, error) {
	profile, before, err := e.open(ctx, c)
	if err != nil {
		return e.oldSessionPage(ctx, c, err)
	}
	if before.Replayed {
		c.made(ctx, before, nil)
		return page{Page: before}, nil
	}
	q := e.query(c.Agent, profile)
	for try := 1; ; try++ {
		found, err := e.choose(ctx, c.Agent, q, c.Limit, e.cfg.RoundsFor)
		if err != nil {
			return e.oldSessionPage(ctx, c, err)
		}
		if e.cfg.RecordServed && len(found.stale) > 0 && try == 1 {
			e.stores.Recorder.Deliver(c.Agent, found.stale)
		}
		if found.lacks&lacksDedup != 0 {
			return e.loosePage(c, found) // trying the session too would only cost its timeout
		}
		p, err := e.replace(ctx, c, found)
		if e.failsOpen(ctx, err) {
			return e.loosePage(c, found)
		}
		if err != nil || len(p.Refs) > 0 || len(found.ranked) == 0 || p.Replayed || try == pageTries {
			return page{Page: p, lacks: found.lacks}, err
		}
	}
}

// replace is the page step of a refresh.
func (e *Engine) replace(ctx context.Context, c *call, found chosen) (cache.Page, error) {
	ctx, end := e.enter(ctx, pageStage)
	defer end()
	p, err := e.stores.Sessions.Replace(ctx, cache.Replace{
		Agent: c.Agent, Ranked: found.ranked, Limit: c.Limit,
		Now: e.cfg.Clock(), Call: c.next(), CheckedAt: found.checkedAt,
	})
	c.made(ctx, p, err)
	return p, err
}

func (e *Engine) profile(ctx context.Context, agent string) (feed.Profile, error) {
	p, err := e.stores.Catalog.Profile(ctx, agent)
	if errors.Is(err, catalog.ErrNotFound) {
		return feed.Profile{}, nil
	}
	return p, err
}

func (e *Engine) query(agent string, p feed.Profile) feed.Query {
	_, ranking := e.cfg.Rankings.For(agent)
	return feed.Query{Profile: p, Ranking: ranking, Origin: e.origin(e.cfg.Clock()), N: e.cfg.N}
}

// origin is the now of the decay, rounded down so that equal recalls are equal.
func (e *Engine) origin(now time.Time) time.Time {
	now = now.UTC()
	if e.cfg.OriginStep > 0 {
		now = now.Truncate(e.cfg.OriginStep)
	}
	return now
}
