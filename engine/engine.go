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

// pageTries is how often a call recalls at most: again, if other servers hand out everything it has
// chosen or all items of its page were deleted.
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
// Popularity, Learner, CoReaders, Promotions, Posts, Home and Prefetch are required.
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
	// CoReaders knows which items the same people read. Nil means they do not affect ranking.
	CoReaders CoReaders
	// Promotions finds the promotion that shows an item. Nil means there are none.
	Promotions Promotions
	// Posts reports which posts an agent may see; acts on other posts do not count. Nil disables
	// this check.
	Posts social.Cards
	// Late knows the posts that have arrived late, which a badge counts. Nil means none.
	Late LatePosts
	Home Home // the sources of home
	// Prefetch reads the next pages ahead. Nil disables it.
	Prefetch *Prefetcher
	// Groups knows the groups of removed items, for acts on them. Nil means that none is known.
	Groups catalog.Groups
}

// Rankings selects the parameters that agents' refreshes are ranked by. [feed.Live] is a fixed
// implementation. One that has variants should have a method Experiments() bool that reports whether it
// has some now: if so, the engine tracks pages ([PageTally]).
type Rankings interface {
	// For returns an agent's parameters and the run of their variant, under which results are
	// counted. It is called once per page, so results may change between calls. It must not
	// block.
	For(agent string) (run string, r feed.Ranking)
}

// NamedFeeds is implemented by [Rankings] that know stored feeds, and the ranking of agents in no
// variant, which named feeds are ranked by. Without it there are no stored feeds, and named feeds are
// ranked as for-you. [feed.Live] implements it. The methods must not block.
type NamedFeeds interface {
	Feed(name feed.Name) (f feed.StoredFeed, ok bool)
	Base() feed.Ranking
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
	// HalfLives are those of live popularity that are kept. Requests with rankings that weight others are
	// refused.
	HalfLives feed.HalfLives
	// CoReads reports whether acts are counted for co-readers. Nil means if the agent's ranking uses
	// them.
	CoReads func() bool
	// ContentDecides reports whether the content of items is enough to decide what this profile refuses.
	// Nil means that it always is.
	ContentDecides func(p *feed.Profile) bool
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
	cfg       Config
	turns     turns  // of refreshes
	edits     turns  // of changes to an agent's profile
	stages    stages // for requests of readers
	failOpen  failOpen
	noted     *noted
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
	stores.Catalog = catalog.Timed{Catalog: stores.Catalog, Clock: cfg.Clock}
	e := &Engine{
		stores: stores, cfg: cfg,
		turns: turns{of: map[turnOf]*turn{}}, edits: turns{of: map[turnOf]*turn{}},
	}
	if cfg.RecordServed && !cfg.ShowAgain { // a session of any server may have what is shown again
		e.noted = newNoted()
	}
	e.failOpen = failOpen{stores: &e.stores, cfg: &e.cfg, sessionless: newSessionlessPages()}
	e.stages = stages{
		cfg: &e.cfg, stores: &e.stores, failOpen: &e.failOpen, direct: recall.Direct(stores.Recall),
		at: cfg.Clock, recall: stores.Recall, enter: e.cfg.enter, counted: true,
	}
	e.stages.young = newYoungItems(&e.cfg, e.stages.direct)
	if cfg.Remember || stores.Fallback != nil {
		e.failOpen.served = newServed(servedFor, servedBytes)
	}
	if stores.Home.Following != nil {
		stores.Home.Following.ShowThrough(e)
	}
	e.abandoned = newAbandoned(stores.Sessions, &cfg)
	return e, nil
}

// Feed answers one request. Errors wrap [feed.ErrBadID], [feed.ErrBadAction],
// [feed.ErrBadLimit], [feed.ErrConflict], or a store's ErrUnavailable.
func (e *Engine) Feed(ctx context.Context, r Request) (Answer, error) {
	if err := r.Validate(); err != nil {
		return Answer{}, err
	}
	ctx, span := e.begin(ctx, r)
	defer span.End()
	r.Feed = r.Feed.Canonical()
	a, err := e.serve(ctx, r)
	note(span, &a, err)
	a.RequestID = r.RequestID
	countAnswer(r, a, err)
	return a, err
}

func (e *Engine) serve(ctx context.Context, r Request) (Answer, error) {
	if r.Feed.Named() { // first, so that a page of its session is not handed out either
		if _, _, err := e.cfg.namedFeed(r.Feed, &r.Agent); err != nil {
			return Answer{}, err
		}
	}
	if r.Silent {
		return e.silentRefresh(ctx, r)
	}
	c := e.newCall(r)
	if r.Why {
		ctx, c.ahead = e.stages.readsAhead(ctx, r.Agent)
	}
	a, err := e.page(ctx, c)
	lost, some := c.abandonFrom(err)
	if some {
		e.abandoned.add(ctx, c.Agent, lost)
	}
	if err == nil && r.Why {
		e.why(ctx, r, c.ahead, c.profile, &a)
	}
	return a, err
}

// answer records the page, starts reading the next one, and returns the answer.
func (e *Engine) answer(ctx context.Context, c *call, p page, got hydrated) Answer {
	e.record(ctx, c, p, got)
	if p.HasMore && p.from != sessionless {
		e.stores.Prefetch.After(c.Agent, c.Feed, c.Limit, p.Ahead)
	}
	c.profile = got.profile
	missing := p.missing | got.missing
	missing.Count()
	a := Answer{
		Docs: got.docs, Refs: got.refs, HasMore: p.HasMore, Degraded: missing.Names(), NewReader: c.first && missing == 0,
	}
	trends := e.stores.Home.Trends
	if trends != nil && c.Feed == feed.HomeFeed {
		a.Trends = trends.Trends(feed.IDs(got.refs))
	}
	return a
}

// record records the page that is being answered. It records a replayed page again, which changes
// nothing, because the earlier answer may have been lost with its server; it does not count it
// again.
func (e *Engine) record(ctx context.Context, c *call, p page, got hydrated) {
	if p.from == sessionless && p.Replayed {
		return
	}
	given := feed.AppendScopeKeys(feed.GivenKeys(got.refs), got.refs)
	keys := append(feed.Keys(got.refs), given...)
	e.failOpen.delivered(ctx, c, p, got.refs, keys)
	switch {
	case p.from == sessionless:
	case e.cfg.RecordServed:
		e.stores.Recorder.Deliver(c.Agent, keys)
	default:
		e.stores.Recorder.Deliver(c.Agent, given)
	}
	e.tally(c, p, got)
}

// Close stops the background work, and waits for store calls in progress.
func (e *Engine) Close() { e.abandoned.close() }

// origin returns the reference time of the decay, rounded down to make equal recalls identical.
func (c *Config) origin(now time.Time) time.Time {
	now = now.UTC()
	if c.OriginStep > 0 {
		now = now.Truncate(c.OriginStep)
	}
	return now
}
