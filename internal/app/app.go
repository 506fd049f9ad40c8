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
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/events"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/demo"
	"github.com/freshet/freshet/internal/telemetry"
)

const (
	demoSeed  = 20260306
	demoItems = 5000
	demoEvery = 4 * time.Second
)

// roundsShare is the part of a request's time in which a refresh begins further
// rounds of recall: a tenth.
const roundsShare = 10

// Option changes how the system is put together.
type Option func(*App)

// WithClock replaces time.Now, for tests and replays.
func WithClock(clock feed.Clock) Option { return func(a *App) { a.clock = clock } }

// WithLogger replaces slog.Default.
func WithLogger(log *slog.Logger) Option { return func(a *App) { a.log = log } }

// WithDemo fills the catalog with made-up items and profiles, keeps adding new
// ones, and opens the admin routes to callers on this machine.
func WithDemo() Option { return func(a *App) { a.demo = true } }

// App is a running system.
type App struct {
	Engine  *engine.Engine
	Catalog catalog.Catalog
	Handler http.Handler

	cfg      configs.Config
	clock    feed.Clock
	log      *slog.Logger
	demo     bool
	clients  clients
	stores   stores
	ranking  *engine.LiveRanking
	file     *configFile // nil: not watched
	recorder *dedup.Recorder
	counts   events.Store
	tally    *events.Buffer
	checks   checks
	closers  []func(context.Context) error // in the order of opening
	closing  sync.Once
}

// Open puts the system together and starts its background work. When it fails
// it has closed again what it had opened.
func Open(ctx context.Context, cfg configs.Config, options ...Option) (*App, error) {
	a := &App{cfg: cfg, clock: time.Now, log: slog.Default(), checks: checks{}}
	for _, o := range options {
		o(a)
	}
	if err := a.open(ctx); err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.Server.ShutdownTimeout)
		defer cancel()
		return nil, errors.Join(err, a.closeAll(closing))
	}
	return a, nil
}

func (a *App) open(ctx context.Context) error {
	tracing, err := telemetry.Start(ctx, version())
	if err != nil {
		return err
	}
	a.closers = append(a.closers, tracing.Close)
	if a.stores, err = a.openStores(ctx); err != nil {
		return err
	}
	a.closers = append(a.closers, a.checks.watch(ctx))
	if err := a.openRanking(ctx); err != nil {
		return err
	}
	if err := a.openEvents(ctx); err != nil {
		return err
	}
	s := a.stores
	im := a.cfg.Impressions
	a.recorder, err = dedup.NewRecorder(ctx, s.dedup, a.clock, dedup.RecorderConfig{
		Batch: im.Batch, Linger: im.Linger, Workers: im.Workers,
		Grace: a.cfg.Dedup.PendingGrace, Timeout: a.cfg.Server.RequestTimeout,
	})
	if err != nil {
		return err
	}
	if err := a.watchMasters(ctx); err != nil {
		return err
	}
	stores := engine.Stores{
		Sources: s.sources, Seen: s.dedup, Recorder: a.recorder, Sessions: s.sessions, Catalog: s.catalog,
		Tally: a.tally,
	}
	if s.spool != nil {
		stores.Fallback = s.spool
	}
	if s.recovery != nil {
		stores.Recovery = s.recovery
	}
	a.Engine, err = engine.New(stores, engine.Config{
		Clock: a.clock, Rankings: a.ranking, N: a.cfg.Recall.N, RoundsFor: a.cfg.Server.RequestTimeout / roundsShare,
		OriginStep: a.cfg.Recall.OriginStep, Coalesce: a.cfg.Sessions.Coalesce,
		RecordServed: im.On == configs.OnServed, Remember: usesRedis(a.cfg), Begin: beginRequest, Tracer: tracing.Tracer(),
	})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, func(ctx context.Context) error { a.Engine.Close(ctx); return nil })
	a.Catalog = s.catalog
	if err := a.openHandler(); err != nil {
		return err
	}
	a.Handler = tracing.Handler(a.Handler)
	if a.demo {
		return a.startDemo(ctx)
	}
	return nil
}

// version is that of the running binary, as traces tell it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

func (a *App) openHandler() (err error) {
	auth := a.cfg.Auth
	a.Handler, err = handler.New(handler.Config{
		RequestTimeout: a.cfg.Server.RequestTimeout,
		MaxInFlight:    a.cfg.Server.MaxInFlight,
		RateLimit:      a.cfg.Server.RateLimit,
		RateBurst:      a.cfg.Server.RateBurst,
		Clock:          a.clock,
		Pprof:          a.cfg.Server.Pprof,
		Auth: handler.Auth{
			Mode: auth.Mode, AdminToken: auth.AdminToken, Demo: a.demo,
			JWT: handler.JWT{Secret: auth.JWT.Secret, JWKS: auth.JWT.JWKS, Issuer: auth.JWT.Issuer, Audience: auth.JWT.Audience},
		},
	}, handler.Deps{
		Feed: a.Engine, Profiles: a.Engine, Explain: a.Engine, Items: a.Catalog, Rankings: a.ranking, Health: a.checks, Log: a.log,
		Offline: study{a.Engine, a.Catalog},
		Intake:  catalog.NewIngest(a.Catalog, catalog.IngestConfig{}),

		Reactions: a.Engine, Counts: a.counts,
	})
	return err
}

// startDemo puts the made-up catalogue and its readers in and keeps adding.
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
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		demo.Run(ctx, put, demoEvery, a.clock)
	}()
	a.closers = append(a.closers, func(context.Context) error { stop(); <-ended; return nil })
	a.log.InfoContext(ctx, "demo catalogue is in", "items", demoItems, "agents", len(profiles), "new_item_every", demoEvery.String())
	return nil
}

// Totals tells what has become of the impressions so far.
func (a *App) Totals() dedup.Totals { return a.recorder.Totals() }

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
