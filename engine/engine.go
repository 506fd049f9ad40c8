// Package engine serves the feed: refresh, load_more and silent refresh. A refresh runs its stages
// in this order: recall → dedup → page → hydrate → record. The engine uses the contracts of its
// stores, never a backend. Its own state is in memory: queues of refreshes and profile edits and,
// for outages, recently delivered items and pages.
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

// pageTries is how often a refresh chooses again when other servers hand out everything it has
// chosen, and how often an answer refreshes when all of its items were deleted.
const pageTries = 4

// Seen is the part of a dedup store that the engine uses.
type Seen interface {
	dedup.Checker
	// Forget behaves as in [dedup.Store].
	Forget(ctx context.Context, agent string) error
}

// Recorder records impressions off the request path. [dedup.Recorder] implements it.
type Recorder interface {
	// Deliver submits the groups and ids shown to an agent, and retains the list. It must not
	// block. Impressions without room stay pending, and the agent's next refresh delivers them
	// again; recording an impression twice is harmless.
	Deliver(agent string, groups []string)
	// Confirm is a Deliver that waits: it returns when a filter has the groups. The error wraps
	// [dedup.ErrUnavailable] if they could not be written, or is the context's; then confirming
	// them again is safe.
	Confirm(ctx context.Context, agent string, groups []string) error
}

// Stores holds the stores that the engine depends on; all but Fallback, Recovery, Tally,
// Popularity, Learner, Promotions, Posts, Home and Prefetch are required.
type Stores struct {
	Recall   recall.Source
	Seen     Seen
	Recorder Recorder
	Sessions cache.Sessions
	Catalog  catalog.Catalog
	// Fallback makes the engine fail open: while the dedup or session store is down it returns
	// degraded answers and writes the impressions to Fallback. Without it such requests fail.
	Fallback Fallback
	// Recovery reports when pages must be checked again and marked as degraded because the stores
	// were down. Nil means never.
	Recovery Recovery
	Tally    Tally // counts impressions and acts per variant; nil disables it
	// Popularity counts clicks and likes per item. Nil means they do not affect ranking.
	Popularity Popularity
	// Learner learns an agent's preferences from acts. Nil means nothing is learned.
	Learner Learner
	// Promotions finds the promotion that shows an item. Nil means there are none.
	Promotions Promotions
	// Posts reports which posts an agent may see; acts on other posts do not count. Nil disables
	// this check.
	Posts social.Cards
	Home  Home // the sources of home
	// Prefetch reads the next pages ahead. Nil disables it.
	Prefetch *Prefetcher
	// Groups knows the groups of removed items, for acts on them. Nil means that none is known.
	Groups catalog.Groups
}

// Rankings selects the parameters that agents' refreshes are ranked by. [feed.Live] is a fixed
// implementation.
type Rankings interface {
	// For returns an agent's parameters and the run of their variant, under which results are
	// counted. It is called once per page, so results may change between calls. It must not
	// block.
	For(agent string) (run string, r feed.Ranking)
}

// Config tunes an Engine.
type Config struct {
	Clock    feed.Clock
	Log      *slog.Logger // nil disables logging
	Rankings Rankings
	N        int // candidates of a refresh's first round; 0 means 500
	// RoundsFor is how long a refresh starts further rounds; 0 means one round. It also bounds
	// the time to compute the reasons of items; 0 means the rest of the request's time.
	RoundsFor  time.Duration
	OriginStep time.Duration // the origin is rounded down to a multiple of it to make equal recalls identical; 0 disables rounding
	Coalesce   time.Duration // a refresh that waited for one this recent pages from its session; 0 disables it
	// ShowAgain fills the end of a session with the items shown longest ago once recall has
	// nothing unseen left (dedup.when_exhausted: oldest).
	ShowAgain bool
	// RecordServed records items as they are delivered (impressions.on: served); otherwise only
	// items that the client reports as seen are recorded.
	RecordServed bool
	// Remember retains the items that this process handed out recently and never hands them out
	// again, for stores that a failover can set back. [Stores.Fallback] implies it.
	Remember bool
	// Begin returns the context for the store calls of one request. Nil means the request's own.
	Begin func(context.Context) context.Context
	// Tracer creates a span for each request and each of its stages. Nil disables tracing.
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

// Validate returns an error for the first invalid value.
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

// Engine serves the feed. It is safe for concurrent use.
type Engine struct {
	stores    Stores
	direct    recall.Source // Recall without the front that readers share
	cfg       Config
	turns     turns  // of refreshes
	edits     turns  // of changes to an agent's profile
	stages    stages // for requests of readers
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
		stores.Home.Following.ShowThrough(e)
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
			return e.silentRefresh(ctx, r)
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
	call, some := c.abandonFrom(err)
	if some {
		e.abandoned.add(ctx, c.Agent, call)
	}
	return a, err
}

// Close stops the background work, and waits for store calls in progress.
func (e *Engine) Close() { e.abandoned.close() }

// loadMore returns the next page of the agent's session; without a session it refreshes. It also
// refreshes after a pop whose answer was lost: the page step of the refresh returns the items
// that the pop took, if any.
func (e *Engine) loadMore(ctx context.Context, c *call) (Answer, error) {
	p, err := c.pop(ctx, c.Limit)
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

// query returns the recall query of an agent, and the variant of its ranking.
func (e *Engine) query(agent string, p feed.Profile) (q feed.Query, variant string) {
	variant, ranking := e.cfg.Rankings.For(agent)
	return feed.Query{Agent: agent, Profile: p, Ranking: ranking, Origin: e.cfg.origin(e.cfg.Clock()), N: e.cfg.N}, variant
}

// origin returns the reference time of the decay, rounded down to make equal recalls identical.
func (c *Config) origin(now time.Time) time.Time {
	now = now.UTC()
	if c.OriginStep > 0 {
		now = now.Truncate(c.OriginStep)
	}
	return now
}
