package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/version"
	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/server/rlimit"
	"github.com/freshet/freshet/server/telemetry"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postgres"
)

// open opens each part after those that it depends on. The dependencies of a part are parameters
// of the function that opens it.
func (b *builder) open(ctx context.Context) (*App, error) {
	tracing, err := telemetry.Start(ctx, version.String(), b.log)
	if err != nil {
		return nil, err
	}
	b.onClose("tracing", b.sendSpans(tracing))
	if err := b.inspect(ctx); err != nil {
		return nil, err
	}
	c, err := b.openClients(ctx)
	if err != nil {
		return nil, err
	}
	s, err := b.openStores(ctx, c)
	if err != nil {
		return nil, err
	}
	posts, err := b.openPosts(ctx, c, s.catalogs)
	if err != nil {
		return nil, fmt.Errorf("social: %w", err)
	}
	if err := b.agree(ctx, c, posts); err != nil {
		return nil, err
	}
	catalog := posts.before(s.catalogs)
	live, err := b.openRanking(ctx, s.rankings)
	if err != nil {
		return nil, err
	}
	b.startIndex(ctx, c.index, b.indexUse(s, live))
	b.startCopy(ctx, s.copied)
	g, err := b.openSignals(ctx, c, s, catalog, live)
	if err != nil {
		return nil, err
	}
	if err := b.checkFiles(); err != nil {
		return nil, err
	}
	b.background(ctx, "health checks", func(ctx context.Context) { b.checks.Watch(ctx, b.pauses.watch) })
	cfg := b.engineConfig(live, tracing)
	p := parts{builder: b, clients: c, stores: s, signalParts: g, network: b.openNetwork(posts, catalog, g.trending, cfg)}
	e, err := p.openEngine(ctx, catalog, cfg)
	if err != nil {
		return nil, err
	}
	b.watchMasters(ctx, c.masters, posts, s.recorder, e)
	a := &App{Engine: e, Catalog: catalog, stopping: handler.NewDrain(), parts: p}
	if posts != nil {
		a.Social = posts.store
	}
	return a, a.start(ctx, cfg, tracing)
}

// inspect checks that this version can use the existing data, before any of it is changed. A database
// that does not answer is checked later, before it is used.
func (b *builder) inspect(ctx context.Context) error {
	b.waitFor("data_dir", "")
	if err := datadir.Inspect(ctx, b.cfg, b.root()); err != nil {
		return fmt.Errorf("data_dir: %w", err)
	}
	missing, others := datadir.Missing(b.cfg, b.root())
	if len(missing) > 0 { // perhaps its volume is not mounted
		level := slog.LevelInfo
		if others { // perhaps a copy that is not whole
			level = slog.LevelWarn
		}
		b.log.Log(ctx, level, "data_dir lacks databases; they are created empty", "data_dir", datadir.Absolute(b.root()), "databases", missing)
	}
	b.logNetwork(datadir.Network(b.cfg, b.root()))
	b.logSurroundings()
	if !b.cfg.UsesPostgres() {
		return nil
	}
	b.waitFor("social", "")
	store, err := postgres.New(ctx, postgres.Config{URL: b.cfg.Postgres.URL}, social.Options{})
	if err != nil {
		return err
	}
	b.disconnects("social, inspected", store.Close)
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Server.RequestTimeout)
	defer cancel()
	err = store.Inspect(ctx)
	if errors.Is(err, social.ErrUnavailable) || ctx.Err() != nil {
		return nil
	}
	return err
}

// logNetwork warns if databases are on a file system of a network; kind is "" if they are not.
func (b *builder) logNetwork(kind string) {
	if kind != "" {
		b.log.Warn(datadir.NetworkRisk, "data_dir", b.root(), "file_system", kind, "fix", datadir.NetworkAdvice)
	}
}

// logSurroundings warns of what will be missed later: data that ends with the container, and files to open.
func (b *builder) logSurroundings() {
	kind := datadir.Fleeting(b.root())
	if kind != "" && !b.demo {
		b.log.Warn("data_dir "+datadir.FleetingRisk, "data_dir", datadir.Absolute(b.root()), "file_system", kind, "fix", datadir.FleetingAdvice)
	}
	limit := rlimit.Limit()
	if limit > 0 && limit < rlimit.Enough {
		b.log.Warn("few files can be opened: "+rlimit.Risk, "limit", limit, "fix", rlimit.Advice)
	}
}

// start starts the work that needs the whole system, and opens its routes.
func (a *App) start(ctx context.Context, cfg engine.Config, tracing *telemetry.Tracing) error {
	if err := a.startSocial(ctx, a.network, a.personal().Parts()); err != nil {
		return err
	}
	a.startOldTokens(ctx)
	routes, err := a.routes(cfg)
	if err != nil {
		return err
	}
	a.Handler = tracing.Handler(routes)
	if a.probesOnly {
		probes := http.NewServeMux()
		for _, path := range []string{"/livez", "/readyz", "/metrics"} {
			probes.Handle(path, a.Handler)
		}
		a.Handler = probes
	}
	if a.demo {
		if err := a.startDemo(ctx); err != nil {
			return err
		}
	}
	a.startTrending(ctx, a.trending, a.stores.indexed != nil)
	a.startPurger(ctx, a.clients, a.stores, a.network, a.Catalog)
	a.startFolding(ctx, a.stores.folding)
	return nil
}

// openRecorder opens the recorder of impressions, which is drained before anything is closed.
func (b *builder) openRecorder(ctx context.Context, store dedup.Store) (*dedup.Recorder, error) {
	cfg := b.recording
	cfg.Grace, cfg.Timeout, cfg.Logger = b.pauses.settle, b.cfg.Server.RequestTimeout, b.log
	cfg.NoFailover = !b.cfg.UsesRedis()
	recorder, err := dedup.NewRecorder(ctx, store, b.clock, cfg)
	if err != nil {
		return nil, err
	}
	b.drain = func(ctx context.Context) {
		t := recorder.Close(ctx)
		b.log.InfoContext(ctx, "stopped", "delivered", t.Delivered, "recorded", t.Recorded, "deferred", t.Deferred)
	}
	return recorder, nil
}
