// Package engine answers the feed: refresh, load more and peek. The stages of
// a refresh stand in their order: recall → dedup → page → hydrate → record.
// The engine knows the contracts of its stores, never a backend, and keeps no
// state of its own but whose turn it is to refresh.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/social"
)

// pageTries is how often a refresh chooses anew while other servers hand out all that it has
// chosen, and how often an answer refreshes where all of that is gone.
const pageTries = 4

// Seen is the part of a dedup store that the engine uses.
type Seen interface {
	dedup.Checker
	// Forget is that of [dedup.Store].
	Forget(ctx context.Context, agent string) error
}

// Recorder takes impressions off the request path. [dedup.Recorder] is one.
type Recorder interface {
	// Deliver hands over what an agent was answered, groups and ids, and keeps the list. It
	// must not block. What it has no room for stays pending, and the agent's next
	// refresh delivers it again; recording anything twice is harmless.
	Deliver(agent string, groups []string)
	// Confirm is Deliver for callers that wait: it returns when a filter has the
	// groups. The error wraps [dedup.ErrUnavailable] where they could not be
	// written, or is the context's; then confirming them again is safe.
	Confirm(ctx context.Context, agent string, groups []string) error
}

// Stores is everything the engine stands on; all but Fallback, Recovery, Tally,
// Popularity, Learner, Promotions, Posts and Prefetch are required.
type Stores struct {
	Recall   recall.Source
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
	Tally    Tally // counts what is shown and done, per variant; nil: nothing is counted
	// Popularity counts clicks and likes per item; nil: they change no ranking.
	Popularity Popularity
	// Learner learns of an agent by what they do; nil: nothing is learned.
	Learner Learner
	// Promotions tells by which promotion an item is shown; nil: there are none.
	Promotions Promotions
	// Posts tells which posts an agent may see: acts on others do not count; nil: none.
	Posts social.Cards
	Home  Home // the sources of home
	// Prefetch reads next pages ahead; nil: nothing does.
	Prefetch *Prefetcher
}

// Rankings says by which parameters agents' refreshes are ranked. [feed.Live] is
// one that stays as it is.
type Rankings interface {
	// For tells the parameters of an agent, and the run of the variant they belong to,
	// by which is counted. A page is ranked by what it told once, so it may change its mind;
	// it must not block.
	For(agent string) (run string, r feed.Ranking)
}

// Config tunes an Engine.
type Config struct {
	Clock    feed.Clock
	Log      *slog.Logger // nil: nothing is logged
	Rankings Rankings
	N        int // candidates of a refresh's first round; 0: 500
	// RoundsFor is how long a refresh begins further rounds; 0: there is one. No
	// longer are the sources waited for to tell why items are there; 0: as long as the
	// request has.
	RoundsFor  time.Duration
	OriginStep time.Duration // the origin is rounded down to it, so that equal recalls are equal; 0: it is not
	Coalesce   time.Duration // a refresh that waited for one this young pages from its session; 0: off
	// ShowAgain fills the end of a session with what was shown longest ago, where
	// recall has nothing unseen left (dedup.when_exhausted: oldest).
	ShowAgain bool
	// RecordServed records what was delivered (impressions.on: served); else
	// only what the client reports as seen is recorded.
	RecordServed bool
	// Remember keeps in this process what it handed out lately, and never
	// hands that out again: for stores that a failover can set back. It is
	// implied by [Stores.Fallback].
	Remember bool
	// Begin returns the context with which stores are asked for one request; nil: as it is.
	Begin func(context.Context) context.Context
	// Tracer makes a span for each request and each of its stages; nil: none.
	Tracer trace.Tracer
}

func (c Config) withDefaults() Config {
	c.N = cmp.Or(c.N, 500)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Begin == nil {
		c.Begin = func(ctx context.Context) context.Context { return ctx }
	}
	return c
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
		return errors.New("engine: OriginStep, Coalesce and RoundsFor must not be negative")
	}
	return nil
}

// Engine answers the feed. It is safe for concurrent use.
type Engine struct {
	stores    Stores
	direct    recall.Source // without the front that readers share
	cfg       Config
	turns     turns  // of refreshes
	edits     turns  // of changes to an agent's profile
	stages    stages // of what readers ask
	failOpen  failOpen
	abandoned *abandoned
}

// New checks the configuration and returns an engine over the stores.
func New(stores Stores, cfg Config) (*Engine, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if stores.Recall == nil {
		return nil, errors.New("engine: the recall source is missing")
	}
	e := &Engine{
		stores: stores, direct: recall.Direct(stores.Recall), cfg: cfg,
		turns: turns{of: map[turnOf]*turn{}}, edits: turns{of: map[turnOf]*turn{}},
	}
	e.stages = stages{e: e, at: cfg.Clock, recall: stores.Recall, enter: e.enter, counted: true}
	e.failOpen = failOpen{e: e, sessionless: newSessionlessPages()}
	if cfg.Remember || stores.Fallback != nil {
		e.failOpen.served = newServed()
	}
	if stores.Home.Following != nil {
		stores.Home.Following.showing = e
	}
	e.abandoned = newAbandoned(stores.Sessions, cfg.Begin, cfg.Log)
	return e, nil
}

// Feed answers one request. Errors wrap [feed.ErrBadID], [feed.ErrBadAction],
// [feed.ErrBadLimit], [feed.ErrConflict], or a store's ErrUnavailable.
func (e *Engine) Feed(ctx context.Context, r Request) (Answer, error) {
	if err := r.Validate(); err != nil {
		return Answer{}, err
	}
	a, err := e.traced(e.cfg.Begin(ctx), r, func(ctx context.Context) (Answer, error) {
		if r.Silent {
			return e.peek(ctx, r)
		}
		c := e.newCall(r)
		a, err := e.page(ctx, c)
		if err == nil && r.Why {
			e.why(ctx, r.Agent, c.profile, &a)
		}
		return a, err
	})
	a.RequestID = r.RequestID
	countAnswer(r, a, err)
	return a, err
}

// page answers a call that hands out a page.
func (e *Engine) page(ctx context.Context, c *call) (Answer, error) {
	p, err := e.failOpen.retried(c)
	switch {
	case err != nil:
		return Answer{}, err
	case p.Replayed:
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

// Close ends what runs in the background, and waits for calls of stores that are under way.
func (e *Engine) Close() { e.abandoned.close() }

// loadMore pages on in the agent's session; without one it silently refreshes.
// So it does after a pop that was not answered: the page step of the refresh
// hands out what the pop has taken, if it has.
func (e *Engine) loadMore(ctx context.Context, c *call) (Answer, error) {
	p, err := c.take(ctx, c.Limit)
	countLoadMore(p, err)
	if e.failOpen.allows(ctx, err) {
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

func (e *Engine) profile(ctx context.Context, agent string) (feed.Profile, error) {
	p, err := e.stores.Catalog.Profile(ctx, agent)
	if errors.Is(err, feed.ErrNotFound) {
		return feed.Profile{}, nil
	}
	return p, err
}

// query recalls an agent's candidates; variant is that of its ranking.
func (e *Engine) query(agent string, p feed.Profile) (q feed.Query, variant string) {
	variant, ranking := e.cfg.Rankings.For(agent)
	return feed.Query{Agent: agent, Profile: p, Ranking: ranking, Origin: e.cfg.origin(e.cfg.Clock()), N: e.cfg.N}, variant
}

// origin is the now of the decay, rounded down so that equal recalls are equal.
func (c *Config) origin(now time.Time) time.Time {
	now = now.UTC()
	if c.OriginStep > 0 {
		now = now.Truncate(c.OriginStep)
	}
	return now
}
