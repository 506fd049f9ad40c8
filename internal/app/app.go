// Package app turns a configuration into a running system. It is the only
// importer of the backends, and the only place that knows which contract is
// filled by what.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/breaker"
	"github.com/freshet/freshet/internal/demo"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/health"
	"github.com/freshet/freshet/internal/telemetry"
	"github.com/freshet/freshet/internal/version"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/learning"
	"github.com/freshet/freshet/signals/popularity"
)

const (
	demoSeed  = 20260306
	demoItems = 5000
	demoEvery = 8 * time.Second
	demoPages = time.Second // between two pages of the simulated readers
)

const (
	// sourceShare is the part of a request's time that home waits for one of its
	// sources: a quarter.
	sourceShare = 4
	// roundsShare is the part of a request's time in which a refresh begins
	// further rounds of recall: a tenth.
	roundsShare = 10
	// coalesce is how young a refresh may be for one that waited for it to page
	// from its session: an app that refreshes twice, as at a double tap or a
	// repeated call, does so within a second.
	coalesce = time.Second
	// originStep is the least step of the decay's origin. Equal recalls share a
	// result only while their origins are equal, so it is no less than sharedFor;
	// a second changes no score that anybody could see.
	originStep = time.Second
)

// Option changes how the system is put together.
type Option func(*App)

// WithClock replaces time.Now, for tests and replays.
func WithClock(clock feed.Clock) Option { return func(a *App) { a.clock = clock } }

// WithLogger sets where the system logs; by default it does not.
func WithLogger(log *slog.Logger) Option { return func(a *App) { a.log = log } }

// WithDemo fills the catalog with made-up items and profiles, keeps adding new
// ones, and opens the admin routes to callers on this machine.
func WithDemo() Option { return func(a *App) { a.demo = true } }

// WithCoalesce replaces [engine.Config]'s Coalesce, for tests.
func WithCoalesce(d time.Duration) Option { return func(a *App) { a.coalesce = d } }

// WithRecallCache replaces how long equal recalls share an answer, and how old one may be
// that stands in while recall is down, for tests and measurements; 0 is off.
func WithRecallCache(shared, stale time.Duration) Option {
	return func(a *App) { a.sharedFor, a.staleFor = shared, stale }
}

// WithRecorder tunes the recorder, for tests and measurements.
func WithRecorder(cfg dedup.RecorderConfig) Option { return func(a *App) { a.recording = cfg } }

// WithHooks puts hooks around the clients before they are used.
func WithHooks(h Hooks) Option { return func(a *App) { a.hooks = h } }

// App is a running system.
type App struct {
	Engine  *engine.Engine
	Catalog catalog.Catalog
	Handler http.Handler
	Social  SocialStore // nil: no posts

	cfg       configs.Config
	clock     feed.Clock
	log       *slog.Logger
	demo      bool
	coalesce  time.Duration
	streams   int           // open at once
	sharedFor time.Duration // equal recalls share an answer
	staleFor  time.Duration // an answer of recall may stand in
	recording dedup.RecorderConfig
	hooks     Hooks
	pauses    pauses
	clients   clients
	stores    stores
	network   *network // nil: no posts
	ranking   *ranking.Live
	recorder  *dedup.Recorder
	counts    events.Store
	tally     *events.Buffer
	learner   *learning.Buffer
	popular   *popularity.Buffer    // nil: live popularity does not count
	publisher *popularity.Publisher // nil: recall reads live popularity where it is counted
	trending  *trending.Live
	checks    health.Checks
	closers   []func(context.Context) error // in the order of opening
	closing   sync.Once
}

// Hooks are put around the clients of the services, for measurements.
type Hooks struct {
	Redis   redis.Hook                          // nil: none
	Elastic func(esindex.Client) esindex.Client // nil: none
}

// Open puts the system together and starts its background work. When it fails
// it has closed again what it had opened.
func Open(ctx context.Context, cfg configs.Config, options ...Option) (*App, error) {
	a := newApp(cfg, options)
	if err := a.open(ctx); err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.Server.ShutdownTimeout)
		defer cancel()
		return nil, errors.Join(err, a.closeAll(closing))
	}
	return a, nil
}

func newApp(cfg configs.Config, options []Option) *App {
	a := &App{cfg: cfg, clock: time.Now, log: slog.New(slog.DiscardHandler), checks: health.Checks{}, coalesce: coalesce, streams: mostStreams(), sharedFor: sharedFor, staleFor: staleFor, pauses: newPauses(cfg)}
	for _, o := range options {
		o(a)
	}
	return a
}

func (a *App) open(ctx context.Context) error {
	tracing, err := telemetry.Start(ctx, version.String())
	if err != nil {
		return err
	}
	a.closers = append(a.closers, tracing.Close)
	if a.stores, err = a.openStores(ctx); err != nil {
		return err
	}
	if err := a.openSocial(ctx); err != nil {
		return fmt.Errorf("social: %w", err)
	}
	a.background(ctx, func(ctx context.Context) { a.checks.Watch(ctx, a.pauses.watch) })
	if err := a.openRanking(ctx); err != nil {
		return err
	}
	a.startElastic(ctx)
	if err := a.openEvents(ctx); err != nil {
		return err
	}
	a.openPopularity(ctx)
	a.openLearning(ctx)
	a.openTrending()
	cfg, err := a.openEngine(ctx, tracing)
	if err != nil {
		return err
	}
	a.Catalog = a.stores.catalog
	if err := a.startSocial(ctx); err != nil {
		return err
	}
	if err := a.openHandler(cfg); err != nil {
		return err
	}
	a.Handler = tracing.Handler(a.Handler)
	if a.demo {
		if err := a.startDemo(ctx); err != nil {
			return err
		}
	}
	a.startTrending(ctx)
	a.startRetention(ctx)
	return nil
}

// openEngine starts the recorder and puts the engine over the stores.
func (a *App) openEngine(ctx context.Context, tracing *telemetry.Tracing) (cfg engine.Config, err error) {
	s := a.stores
	a.recording.Grace, a.recording.Timeout, a.recording.Logger = a.pauses.settle, a.cfg.Server.RequestTimeout, a.log
	a.recorder, err = dedup.NewRecorder(ctx, s.dedup, a.clock, a.recording)
	if err != nil {
		return cfg, err
	}
	a.watchMasters(ctx)
	stores := engine.Stores{
		Sources: s.sources, Seen: s.dedup, Recorder: a.recorder, Sessions: s.sessions, Catalog: s.catalog,
		Tally: a.tally, Learner: a.learner,
	}
	if a.network != nil {
		stores.Posts, stores.Promotions = a.network.store, a.network.promotions
	}
	if a.popular != nil {
		stores.Popularity = a.popular
	}
	if s.spool != nil {
		stores.Fallback = s.spool
	}
	if s.recovery != nil {
		stores.Recovery = s.recovery
	}
	cfg = engine.Config{
		Clock: a.clock, Log: a.log, Rankings: a.ranking, N: a.cfg.Recall.N, RoundsFor: a.cfg.Server.RequestTimeout / roundsShare,
		OriginStep: max(originStep, a.sharedFor), Coalesce: a.coalesce,
		ShowAgain:    a.cfg.Dedup.WhenExhausted == configs.ExhaustedOldest,
		RecordServed: a.cfg.Impressions.On == configs.OnServed, Remember: a.cfg.UsesRedis(), Begin: breaker.Begin, Tracer: tracing.Tracer(),
	}
	a.openTimelines(cfg)
	stores.Home = a.home()
	if stores.Prefetch, err = a.openPrefetch(ctx); err != nil {
		return cfg, err
	}
	if a.Engine, err = engine.New(stores, cfg); err != nil {
		return cfg, err
	}
	a.closers = append(a.closers, func(ctx context.Context) error { a.Engine.Close(ctx); return nil })
	return cfg, nil
}

func (a *App) openHandler(cfg engine.Config) (err error) {
	auth := a.cfg.Auth
	a.Handler, err = handler.New(handler.Config{
		RequestTimeout: a.cfg.Server.RequestTimeout,
		MaxInFlight:    a.cfg.Server.MaxInFlight,
		RateLimit:      a.cfg.Server.RateLimit,
		Clock:          a.clock,
		Version:        version.String(),
		CORS:           handler.CORS{Origins: a.cfg.Server.CORS.Origins, Credentials: a.cfg.Credentials()},
		Auth: handler.Auth{
			Mode: auth.Mode, AdminToken: auth.AdminToken, Demo: a.demo,
			JWT: handler.JWT{Secret: auth.JWT.Secret, JWKS: auth.JWT.JWKS, Issuer: auth.JWT.Issuer, Audience: auth.JWT.Audience},
		},
	}, handler.Deps{
		Feed: a.Engine, Profiles: a.Engine, Explain: a.Engine, Items: a.Catalog, List: a.stores.contents, Rankings: a.ranking, Health: a.checks, Log: a.log,
		Offline: offlineSource{a.Engine, a.Catalog, a.stores.agents},
		Intake:  catalog.NewIngest(a.Catalog, catalog.IngestConfig{GroupByURL: a.cfg.Catalog.GroupBy == configs.GroupByURL}),

		Reactions: a.Engine, Counts: a.counts, Guest: a.guest(cfg), Social: a.social(),
	})
	return err
}

// startDemo stores the made-up catalog and its readers and keeps adding items.
func (a *App) startDemo(ctx context.Context) error {
	put := func(ctx context.Context, items []feed.Item) error {
		errs, err := a.Catalog.Put(ctx, items)
		return errors.Join(append(errs, err)...)
	}
	for batch := range slices.Chunk(demo.Generate(demoSeed, demoItems, a.clock()), 1000) {
		if err := put(ctx, batch); err != nil {
			return fmt.Errorf("demo items: %w", err)
		}
	}
	profiles := demo.Profiles()
	for agent, p := range profiles {
		if err := a.Engine.PutProfile(ctx, agent, p); err != nil {
			return fmt.Errorf("demo profiles: %w", err)
		}
	}
	a.background(ctx, func(ctx context.Context) { demo.Run(ctx, put, demoEvery, a.clock, a.log) })
	a.background(ctx, func(ctx context.Context) { demo.Read(ctx, a.Engine, demoPages, a.log) })
	if a.network != nil {
		n := demo.NewNetwork(demoSeed)
		store := a.network.fanout.Store()
		if err := n.Fill(ctx, store, a.pictures(), a.clock()); err != nil {
			return fmt.Errorf("demo network: %w", err)
		}
		a.background(ctx, func(ctx context.Context) { n.Run(ctx, store, demoEvery, a.clock, a.log) })
	}
	a.log.InfoContext(ctx, "demo catalog loaded", "items", demoItems, "agents", len(profiles), "simulated_readers", len(demo.Tastes()), "new_item_every", demoEvery.String())
	return nil
}

// Totals tells what has become of the impressions so far.
func (a *App) Totals() dedup.Totals { return a.recorder.Totals() }

// Flush returns when what agents were shown and did so far is counted, which
// otherwise happens each second. A replay waits for it: on its clock a second is
// over at once.
func (a *App) Flush(ctx context.Context) error {
	err := a.tally.Flush(ctx)
	if err == nil && a.popular != nil {
		err = a.popular.Flush(ctx)
	}
	if err == nil && a.publisher != nil {
		err = a.publisher.Flush(ctx)
	}
	if err == nil {
		err = a.learner.Flush(ctx)
	}
	return err
}

// Close drains the recorder, until ctx ends at the latest, and closes the
// stores. Nothing may be served any more. It logs recorded + deferred =
// delivered. Closing again does nothing.
func (a *App) Close(ctx context.Context) error {
	var err error
	a.closing.Do(func() { err = a.closeAll(ctx) })
	return err
}

func (a *App) closeAll(ctx context.Context) error {
	var errs []error
	if a.recorder != nil {
		t := a.recorder.Close(ctx)
		a.log.InfoContext(ctx, "stopped", "delivered", t.Delivered, "recorded", t.Recorded, "deferred", t.Deferred)
	}
	for _, c := range slices.Backward(a.closers) {
		errs = append(errs, c(ctx))
	}
	return errors.Join(errs...)
}
