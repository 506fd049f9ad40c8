package server

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	timelines "github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed/personal"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/server/breaker"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/export"
	"github.com/freshet/freshet/social/fanout"
	"github.com/freshet/freshet/social/fanout/repair"
	"github.com/freshet/freshet/social/graph"
	"github.com/freshet/freshet/social/graph/stream"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/media"
	"github.com/freshet/freshet/social/postgres"
	"github.com/freshet/freshet/social/postitems"
	"github.com/freshet/freshet/social/promotion"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
	"github.com/freshet/freshet/social/timeline"
)

// measureEvery is the pause between two measurements of the queue.
const measureEvery = 10 * time.Second

// SocialStore is a social store with its queue.
type SocialStore interface {
	social.Store
	jobs.Queue
}

type posts struct {
	store SocialStore
	listStores
	shown        social.Store       // what answers use; cards that are shown are cached
	kept         social.CachedCards // cached cards for outages; nil if there are none
	catalog      catalog.Catalog    // with posts in front
	fanout       *fanout.Fanout
	completeness *repair.Completeness
	promotions   *promotion.Source
	files        *media.Files // nil if posts have no images
	exports      *export.Exporter
	dataCheck    *repair.DataCheck // nil if the lists are in this process
}

// network holds the parts for posts and timelines.
type network struct {
	*posts
	timelines *timelines.Timelines
	suggester *engine.Suggester
	watcher   *timelines.Watcher
}

// openPosts opens posts, follows and lists over the items; nil if they are off.
func (b *builder) openPosts(ctx context.Context, c clients, s catalogs) (*posts, error) {
	if !b.cfg.SocialOn() {
		return nil, nil
	}
	b.waitForService(b.cfg.UsesPostgres(), "social")
	options := social.Options{
		Clock: b.clock, QueueClock: b.queueClock, CelebrityAt: b.cfg.Timeline.CelebrityAt, CelebrityUntil: b.cfg.Timeline.CelebrityUntil(),
		KeepJobs:    b.cfg.UsesPostgres(), // lists are in Redis, see openLists
		KeepReports: b.cfg.Reports.Retention, KeepChanges: b.cfg.Changes.Retention, KeepNotifications: b.cfg.Notifications.Retention, MostNotifications: b.cfg.Notifications.Most,
	}
	var l listStores // opened below, before anything is written
	options.Notified = func(agents []string) { l.wakes.Send(timeline.Wake{Agents: agents}) }
	options.Undone = func(agents []string) { l.wakes.Send(timeline.Wake{Inboxes: agents}) }
	store, err := b.openSocialStore(ctx, options)
	if err != nil {
		return nil, err
	}
	completeness := repair.NewCompleteness(store, b.clock)
	l, err = b.openLists(ctx, c)
	if err != nil {
		return nil, err
	}
	cards, ahead, cache, kept := b.openCards(ctx, store, l, completeness)
	files, blobs, err := b.openMedia(store)
	if err != nil {
		return nil, err
	}
	exports, err := b.openExports(store, blobs, files)
	if err != nil {
		return nil, err
	}
	deliver, err := fanout.New(fanout.Deps{
		Files: imageRemover(files), Store: store, Queue: store, Lists: l.lists, Outboxes: l.outboxes, Items: s.items, Profiles: s.items, Cards: cache,
		Cap: b.cfg.Timeline.Cap, Options: options, Clock: b.clock, Log: b.log, ListsUnreachable: completeness.Unreachable,
		Wake: l.wakes.Send,
	})
	if err != nil {
		return nil, err
	}
	b.checkSocial(store)
	p := &posts{
		store: store, listStores: l, shown: shownStore{deliver.Store(), cards}, kept: kept, fanout: deliver, completeness: completeness, files: files, exports: exports,
		catalog: postitems.New(s.items, cards, kept, ahead),
	}
	p.promotions = promotion.New(store, p.catalog, promotion.Config{Clock: b.clock, Log: b.log, ContentDecides: c.contentDecides()})
	if l.stamps != nil {
		p.dataCheck = repair.NewDataCheck(l.stamps, deliver.Redeliver, completeness, b.clock, b.log)
	}
	return p, nil
}

// checkSocial adds the check of the database of posts.
func (b *builder) checkSocial(store SocialStore) {
	slow := slowDisk{disk: postgres.Disk, log: b.log}
	b.checks["social"] = func(ctx context.Context) handler.Dependency {
		state := handler.Dependency{Err: store.Ping(ctx), Optional: true}
		if db, ok := store.(*postgres.Store); ok {
			state.Warning = slow.warning(ctx, db.SlowCommit())
		}
		switch {
		case errors.Is(state.Err, postgres.ErrWaits):
			state.Reason = postgres.ErrWaits.Error()
		case errors.Is(state.Err, social.ErrTakesNoWrites):
			state.Reason = withAdvice(social.ErrTakesNoWrites.Error(), postgres.Advice(state.Err))
		}
		if errors.Is(state.Err, postgres.ErrUnusable) {
			state.Reason = postgres.ErrUnusable.Error() + "; see the log or freshet doctor"
		}
		if state.Reason == "" {
			state.Reason = whyPostgresDown(state.Err)
		}
		return state
	}
}

// whyPostgresDown returns what to do about a failed check of PostgreSQL, or about the failure because of
// which the breaker refused it, "" if that is not known or [handler.PublicCause] says it.
func whyPostgresDown(err error) string {
	if err == nil || handler.PublicCause(err) != "" {
		return ""
	}
	return postgres.Advice(handler.LastFailure(err))
}

// before returns the catalog with posts in front of the items.
func (p *posts) before(s catalogs) catalog.Catalog {
	if p == nil {
		return s.items
	}
	return p.catalog
}

func (b *builder) openSocialStore(ctx context.Context, options social.Options) (SocialStore, error) {
	if b.cfg.UsesPostgres() {
		return b.openPostgres(ctx, options)
	}
	dir, err := b.dataDir("")
	if err != nil {
		return nil, err
	}
	store, err := socialsqlite.Open(ctx, b.database(dir, socialsqlite.FileName), options)
	if err != nil {
		return nil, err
	}
	b.onClose("posts", func(context.Context) error { return store.Close() })
	return store, store.EndLeases(ctx)
}

// openPostgres migrates the tables. While the database is down the migration waits, and the
// server starts: until then the store is unavailable.
func (b *builder) openPostgres(ctx context.Context, options social.Options) (SocialStore, error) {
	cfg := postgres.Config{URL: b.cfg.Postgres.URL, Log: b.log, Waits: func(why error) { b.waitFor("social", why.Error()) }}
	if b.cfg.FromFiles() {
		fresh := b.cfg.Fresh()
		cfg.Current = func() string { return fresh().Postgres.URL }
	}
	ping, err := cfg.Pinger()
	if err != nil {
		return nil, err
	}
	cfg.Guard = breaker.NewDatabase("social", b.cfg.Server.RequestTimeout, ping, postgres.Unreachable, b.log).Guard
	store, err := postgres.New(ctx, cfg, options)
	if err != nil {
		return nil, err
	}
	b.disconnects("social", store.Close)
	later, err := connect.Migrate(ctx, store, b.log)
	if later != nil {
		b.background(ctx, "migration of PostgreSQL", later)
	}
	return store, err
}

// openNetwork opens the timelines over the posts; nil if there are none.
func (b *builder) openNetwork(p *posts, profiles catalog.Profiles, trends trending.Sets, cfg engine.Config) *network {
	if p == nil {
		return nil
	}
	reads := timelines.Config{Clock: cfg.Clock, Log: cfg.Log, Begin: cfg.Begin, Every: b.pauses.streams}
	return &network{
		posts: p,
		timelines: timelines.New(timelines.Stores{
			Posts: p.shown, CachedCards: p.kept, Lists: repair.Reader(p.lists, p.completeness), Incomplete: p.completeness.Incomplete, QueueBehind: p.completeness.QueueBehind,
			Outboxes: timeline.NewCopies(p.outboxes, timeline.OutboxCap, b.clock), Builder: p.fanout, Profiles: profiles,
			Notifications: p.store,
		}, reads),
		suggester: engine.NewSuggester(engine.SuggestStores{
			Posts: p.store, Queue: p.store, Trending: trends, Profiles: profiles,
		}, cfg),
		watcher: timelines.NewWatcher(timelines.WatchStores{
			Posts: p.store, Lists: p.lists, Outboxes: p.outboxes, Builder: p.fanout, Profiles: profiles, Wakes: p.wakes, Notifications: p.store,
		}, b.streams, reads),
	}
}

// startSocial starts the background work for posts, and the queue's workers if this server has
// any. personal are the parts of exports.
func (b *builder) startSocial(ctx context.Context, n *network, personal []personal.Part) error {
	if n == nil {
		return nil
	}
	b.background(ctx, "promotions", n.promotions.Run)
	b.background(ctx, "streams", n.watcher.Run)
	n.firstCheck(ctx)
	b.background(ctx, "watch of lists", func(ctx context.Context) {
		for range periodic.Every(ctx, repair.CheckEvery) {
			n.completeness.Check(ctx)
		}
	})
	b.background(ctx, "measure of the queue", func(ctx context.Context) { jobs.Watch(ctx, n.store, measureEvery, b.log) })
	if n.dataCheck != nil {
		n.dataCheck.Begin(ctx)
		b.background(ctx, "lists after a failover", n.dataCheck.Run)
	}
	if b.cfg.Jobs.Workers == 0 {
		return nil
	}
	handlers := maps.Clone(n.fanout.Handlers())
	handlers[jobs.Export] = n.exports.Handler(personal)
	runner := jobs.Start(ctx, n.store, handlers, jobs.Config{
		Workers: b.cfg.Jobs.Workers, Logger: b.log, ListsUnreachable: n.completeness.Unreachable,
	})
	b.onClose("jobs", func(ctx context.Context) error { runner.Close(ctx); return nil })
	if !b.cfg.UsesPostgres() {
		return nil
	}
	return b.readEvents(ctx, n.store)
}

func (n *network) firstCheck(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	n.completeness.Check(ctx)
}

// readEvents reads the events of other systems from their Redis stream, on a separate connection,
// which may block.
func (b *builder) readEvents(ctx context.Context, store SocialStore) error {
	client, err := connect.Redis(ctx, b.cfg)
	if err != nil {
		return err
	}
	connect.Follow(b.cfg, client)
	b.disconnects("redis of events", client.Close)
	reader := stream.Start(ctx, client, b.cfg.Redis.KeyPrefix, graph.NewApplier(store, graph.Config{}),
		stream.Config{Clock: b.clock, Logger: b.log})
	b.onClose("events of other systems", func(ctx context.Context) error { reader.Close(ctx); return nil })
	return nil
}
