package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/catalog/posts"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/breaker"
	"github.com/freshet/freshet/internal/connect"
	"github.com/freshet/freshet/internal/lists"
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/recall/promotion"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/fanout"
	"github.com/freshet/freshet/social/graph"
	"github.com/freshet/freshet/social/graph/stream"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/media"
	"github.com/freshet/freshet/social/postgres"
	"github.com/freshet/freshet/social/rediscards"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
	"github.com/freshet/freshet/social/timeline"
)

const (
	// purgeEvery is the pause between two removals of tombstones that are over.
	purgeEvery = 10 * time.Minute
	// migrateEvery is the pause between two tries to begin with PostgreSQL.
	migrateEvery = time.Second
	// purgeRows is how many are removed at once.
	purgeRows = 10_000
)

// SocialStore is a social store with its queue.
type SocialStore interface {
	social.Store
	jobs.Queue
}

// network is the half of posts and timelines.
type network struct {
	store           SocialStore
	lists, outboxes timeline.Lists
	redis           redis.UniversalClient // of lists and kept cards; nil: they are in this process
	cards           social.Cards          // of the store, which keep what they show
	cache           social.CardCache      // of cards; nil: nothing is kept
	kept            social.KeptCards      // of cache, for outages
	fanout          *fanout.Fanout
	timelines       *engine.Timelines
	watcher         *engine.Watcher
	late            *lists.Late
	promotions      *promotion.Source
	files           *media.Files    // nil: posts have no images
	restored        *lists.Restored // nil: the lists are in this process
}

// openSocial opens posts, follows and lists, and puts posts in front of the
// catalog. It does nothing where there are none.
func (a *App) openSocial(ctx context.Context) (err error) {
	if !a.cfg.SocialOn() {
		return nil
	}
	n := &network{}
	options := social.Options{
		Clock: a.clock, CelebrityAt: a.cfg.Timeline.Celebrity.At, CelebrityUntil: a.cfg.Timeline.Celebrity.Until(),
		KeepJobs: a.cfg.UsesPostgres(), // lists are in Redis, see openLists
	}
	if n.store, err = a.openSocialStore(ctx, options); err != nil {
		return err
	}
	if err = a.openLists(ctx, n); err != nil {
		return err
	}
	n.cards = n.store
	a.openCards(ctx, n)
	if n.files, err = a.openMedia(n.store); err != nil {
		return err
	}
	n.fanout, err = fanout.New(fanout.Deps{
		Files: releasing(n.files), Store: n.store, Queue: n.store, Lists: n.lists, Outboxes: n.outboxes, Items: a.stores.catalog, Cards: n.cache,
		Cap: a.cfg.Timeline.Cap, Options: options, Clock: a.clock, Log: a.log, Late: n.late.Note,
	})
	if err != nil {
		return err
	}
	a.checks["social"] = func(ctx context.Context) handler.Dependency {
		return handler.Dependency{Err: n.store.Ping(ctx), Optional: true}
	}
	a.stores.catalog = posts.New(a.stores.catalog, n.cards, n.kept)
	n.promotions = promotion.New(n.store, a.stores.catalog, promotion.Config{Clock: a.clock, Log: a.log, Tells: a.clients.tells()})
	a.network, a.Social = n, n.store
	return nil
}

// mostStreams bounds the streams of a server, each of which holds a connection: half of the
// files that the process may open, and 10,000 at most.
func mostStreams() int {
	const most = 10_000
	if files := openFiles(); files > 0 {
		return int(min(files/2, most))
	}
	return most
}

func (a *App) openSocialStore(ctx context.Context, options social.Options) (SocialStore, error) {
	if a.cfg.UsesPostgres() {
		return a.openPostgres(ctx, options)
	}
	dir, err := a.dataDir("")
	if err != nil {
		return nil, err
	}
	store, err := socialsqlite.Open(ctx, filepath.Join(dir, "social.db"), options)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, func(context.Context) error { return store.Close() })
	return store, nil
}

// openCards keeps cards of public posts where several servers share a store that
// may be out of reach.
func (a *App) openCards(ctx context.Context, n *network) {
	if !a.cfg.UsesPostgres() {
		return
	}
	n.cache = rediscards.New(n.redis, rediscards.Config{KeyPrefix: a.cfg.Redis.KeyPrefix})
	n.kept = lists.KeptCards(n.cache, n.late)
	keeper := social.NewKeeper(n.store, n.cache, a.clock, a.log)
	n.cards = keeper
	a.background(ctx, keeper.Run)
}

// openPostgres brings the tables up to date. While the database is down that
// waits, and the server starts: until then the store is unavailable.
func (a *App) openPostgres(ctx context.Context, options social.Options) (SocialStore, error) {
	cfg := postgres.Config{URL: a.cfg.Postgres.URL}
	cfg.Guard = breaker.NewDatabase("social", a.cfg.Server.RequestTimeout, postgres.Unreachable, a.log).Guard
	store, err := postgres.New(ctx, cfg, options)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, func(context.Context) error { return store.Close() })
	err = store.Migrate(ctx)
	if !errors.Is(err, social.ErrUnavailable) {
		return store, err
	}
	a.log.WarnContext(ctx, "PostgreSQL is down; serving without posts and timelines until it is back", "error", err)
	a.background(ctx, func(ctx context.Context) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		repeat.Every(ctx, migrateEvery, func(ctx context.Context) {
			switch err := store.Migrate(ctx); {
			case err == nil:
				a.log.InfoContext(ctx, "PostgreSQL is in use")
				stop()
			case !errors.Is(err, social.ErrUnavailable) && ctx.Err() == nil:
				a.log.ErrorContext(ctx, "PostgreSQL cannot be used", "error", err)
			}
		})
	})
	return store, nil
}

// openTimelines reads timelines, where there are any.
func (a *App) openTimelines(cfg engine.Config) {
	n := a.network
	if n == nil {
		return
	}
	stores := engine.TimelineStores{
		Posts: shownStore{n.store, n.cards}, Kept: n.kept, Lists: lists.Reader(n.lists, n.late), Late: n.late.Now, Outboxes: timeline.NewCopies(n.outboxes, timeline.OutboxCap, a.clock),
		Builder: n.fanout, Profiles: a.stores.catalog, Showing: showing{a},
	}
	n.timelines = engine.NewTimelines(stores, cfg)
	n.watcher = engine.NewWatcher(engine.WatchStores{
		Posts: n.store, Lists: n.lists, Outboxes: n.outboxes, Builder: n.fanout, Profiles: a.stores.catalog,
	}, a.streams, cfg)
}

// showing is the engine, which is made after the timelines that are a part of it.
type showing struct{ app *App }

func (s showing) Shown(ctx context.Context, agent string, posts []string) (bool, error) {
	return s.app.Engine.Shown(ctx, agent, posts)
}

// home configures the sources that the home feed has in addition to for-you's.
func (a *App) home() engine.Home {
	trends := trending.NewSource(a.trending, a.clients.tells())
	h := engine.Home{Pattern: a.cfg.Home.Positions(), SourceFor: a.cfg.Server.RequestTimeout / sourceShare, Trending: trends, Trends: trends}
	if n := a.network; n != nil {
		h.Following, h.Affinities, h.Promoted = n.timelines, n.store, n.promotions
	}
	return h
}

// startSocial works on the queue unless this server only serves.
func (a *App) startSocial(ctx context.Context) error {
	n := a.network
	if n == nil {
		return nil
	}
	a.background(ctx, n.promotions.Run)
	a.background(ctx, n.watcher.Run)
	a.background(ctx, func(ctx context.Context) { repeat.Every(ctx, purgeEvery, a.purge) })
	a.background(ctx, func(ctx context.Context) { repeat.Every(ctx, lists.LookEvery, n.late.Look) })
	if n.restored != nil {
		n.restored.Begin(ctx)
		a.background(ctx, n.restored.Run)
	}
	if a.cfg.Jobs.Workers == 0 {
		return nil
	}
	runner := jobs.Start(ctx, n.store, n.fanout.Handlers(), jobs.Config{Workers: a.cfg.Jobs.Workers, Logger: a.log})
	a.closers = append(a.closers, func(ctx context.Context) error { runner.Close(ctx); return nil })
	if !a.cfg.UsesPostgres() {
		return nil
	}
	return a.readEvents(ctx)
}

// readEvents takes the events of other systems from their Redis stream, on a
// connection that may wait for them.
func (a *App) readEvents(ctx context.Context) error {
	client, err := connect.Redis(ctx, a.cfg)
	if err != nil {
		return fmt.Errorf("redis.url: %w", err)
	}
	a.closers = append(a.closers, func(context.Context) error { return client.Close() })
	reader := stream.Start(ctx, client, a.cfg.Redis.KeyPrefix, graph.NewApplier(a.network.store, graph.Config{}),
		stream.Config{Clock: a.clock, Logger: a.log})
	a.closers = append(a.closers, func(ctx context.Context) error { reader.Close(ctx); return nil })
	return nil
}

// purge removes what the social store keeps of what is over.
func (a *App) purge(ctx context.Context) {
	for {
		n, err := a.network.store.Purge(ctx, purgeRows)
		if err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "tombstones cannot be removed", "error", err)
		}
		if err != nil || n < purgeRows {
			return
		}
	}
}

// social returns the dependencies of the routes of posts and timelines; nil: they do not exist.
func (a *App) social() *handler.Social {
	n := a.network
	if n == nil {
		return nil
	}
	return &handler.Social{
		Images: a.images(), Store: shownStore{n.fanout.Store(), n.cards}, Kept: n.kept, Timelines: n.timelines, Watcher: n.watcher, Queue: n.store, Graph: graph.NewApplier(n.store, graph.Config{}),
		FollowsByApp: a.cfg.Social.Follows == configs.FollowsApp,
	}
}
