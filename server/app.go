// Package server turns a configuration into a running system: it opens the configured parts and
// connects them. It is the only place that knows which implementation fulfills which contract;
// the parts themselves are in other packages.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/server/livesettings"
	"github.com/freshet/freshet/server/oldtokens"
)

// Option changes how the system is assembled.
type Option func(*settings)

// WithClock replaces time.Now and the clock of the queue, for tests and replays.
func WithClock(clock feed.Clock) Option {
	return func(s *settings) { s.clock, s.queueClock = clock, clock }
}

// WithWrongClock replaces time.Now alone, as on a machine whose clock is wrong: the queue of services
// keeps the clock of its database.
func WithWrongClock(clock feed.Clock) Option { return func(s *settings) { s.clock = clock } }

// WithLogger sets the logger; by default nothing is logged.
func WithLogger(log *slog.Logger) Option { return func(s *settings) { s.log = log } }

// WithDemo fills the catalog with generated items and profiles, keeps adding new
// ones, and opens the admin routes to callers on this machine.
func WithDemo() Option { return func(s *settings) { s.demo = true } }

// WithDemoFeeds makes the entries of web feeds the items of the demo, in place of generated ones. A
// source is the URL of a feed, or a file.
func WithDemoFeeds(sources []string) Option { return func(s *settings) { s.feeds = sources } }

// WithSettings makes the server follow settings that may be reloaded. By default they stay as they are
// at the start.
func WithSettings(live *livesettings.Settings) Option { return func(s *settings) { s.live = live } }

// WithProbesOnly answers no calls but /livez, /readyz and /metrics, for workers.
func WithProbesOnly() Option { return func(s *settings) { s.probesOnly = true } }

// WithSettingsApart disables the comparison of settings with those of other servers that use the
// same stores, for callers that open several systems one after the other and serve no readers.
func WithSettingsApart() Option { return func(s *settings) { s.apart = true } }

// WithRecallCache replaces how long equal recalls share an answer, and the maximum age of an
// answer used while recall is down, for tests and measurements; 0 disables either.
func WithRecallCache(shared, stale time.Duration) Option {
	return func(s *settings) { s.sharedFor, s.staleFor = shared, stale }
}

// WithCoReads counts acts for co-readers although no ranking in force uses them, for measurements that
// rank by others.
func WithCoReads() Option { return func(s *settings) { s.coReads = true } }

// WithRecorder tunes the recorder, for tests and measurements.
func WithRecorder(cfg dedup.RecorderConfig) Option { return func(s *settings) { s.recording = cfg } }

// WithHooks installs hooks around the clients before they are used.
func WithHooks(h Hooks) Option { return func(s *settings) { s.hooks = h } }

// Hooks wrap the clients of the services, for measurements.
type Hooks struct {
	Redis   redis.Hook                          // nil means none
	Elastic func(esindex.Client) esindex.Client // nil means none
}

// App is a running system.
type App struct {
	Engine  *engine.Engine
	Catalog catalog.Catalog
	Handler http.Handler
	Social  SocialStore // nil without posts

	stopping *handler.Drain
	erase    func(ctx context.Context, agent string) error // all data about an agent
	erased   *oldtokens.List                               // nil if tokens do not tell who calls, or without posts
	parts
}

type parts struct {
	*builder
	clients clients
	stores  stores
	signalParts
	network *network // nil without posts
}

// Open assembles the system and starts its background work. If it fails, it closes everything
// that it has opened.
func Open(ctx context.Context, cfg configs.Config, options ...Option) (*App, error) {
	return newBuilder(cfg, options).openOrClose(ctx)
}

func (b *builder) openOrClose(ctx context.Context) (*App, error) {
	a, err := b.open(ctx)
	if err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.cfg.Server.ShutdownTimeout)
		defer cancel()
		return nil, errors.Join(err, b.close(closing))
	}
	return a, nil
}

// OpenDedup opens the configured dedup store and nothing else, for
// measurements. The function it returns closes it.
func OpenDedup(ctx context.Context, cfg configs.Config, options ...Option) (dedup.Store, func(context.Context) error, error) {
	cfg.Elasticsearch.Addresses = nil
	b := newBuilder(cfg, options)
	var store dedup.Store
	c, err := b.openClients(ctx)
	if err == nil {
		store, _, err = b.openDedup(ctx, c)
	}
	if err != nil {
		return nil, nil, errors.Join(err, b.close(context.WithoutCancel(ctx)))
	}
	return store, b.close, nil
}

// Totals returns the number of impressions by outcome so far.
func (a *App) Totals() dedup.Totals { return a.stores.recorder.Totals() }

// Flush returns when everything that agents were shown and did so far is counted, which otherwise
// happens each second, and for the overview each minute. On the clock of a replay a second passes at once.
func (a *App) Flush(ctx context.Context) error {
	err := a.tally.Flush(ctx)
	if err == nil && a.popular != nil {
		err = a.popular.Flush(ctx)
	}
	if err == nil && a.publisher != nil {
		err = a.publisher.Flush(ctx)
	}
	if err == nil {
		err = a.coRead.Flush(ctx)
	}
	if err == nil {
		err = a.learner.Flush(ctx)
	}
	if err == nil {
		err = a.overview.Sample(ctx)
	}
	return err
}

// Close drains the recorder, at most until ctx ends, and closes the stores. Nothing may be served
// any more. It logs recorded + deferred = delivered. Closing again does nothing.
func (a *App) Close(ctx context.Context) error { return a.close(ctx) }
