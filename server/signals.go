package server

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/recall/trending"
	trendingredis "github.com/freshet/freshet/recall/trending/redis"
	"github.com/freshet/freshet/server/overview"
	"github.com/freshet/freshet/signals"
	"github.com/freshet/freshet/signals/coread"
	coreadredis "github.com/freshet/freshet/signals/coread/redis"
	coreadsqlite "github.com/freshet/freshet/signals/coread/sqlite"
	"github.com/freshet/freshet/signals/events"
	eventsredis "github.com/freshet/freshet/signals/events/redis"
	eventssqlite "github.com/freshet/freshet/signals/events/sqlite"
	"github.com/freshet/freshet/signals/learning"
	"github.com/freshet/freshet/signals/popularity"
)

type signalParts struct {
	ranking   *ranking.Live
	counts    events.Store
	tally     *events.Buffer
	learner   *learning.Buffer
	popular   *popularity.Buffer    // nil if live popularity is off
	publisher *popularity.Publisher // nil if recall reads live popularity where it is counted
	coRead    *coread.Buffer
	trending  *trending.Live
	overview  *overview.Keeper
}

// openRanking reads the ranking in force and starts to update it in the background.
func (b *builder) openRanking(ctx context.Context, store ranking.Store) (*ranking.Live, error) {
	b.waitForService(b.cfg.UsesElasticsearch(), "elasticsearch")
	live, err := ranking.Open(ctx, store, ranking.Config{
		Clock: b.clock, Configured: b.cfg.Ranking, Timeout: b.cfg.Server.RequestTimeout, Logger: b.log,
		HalfLives: b.cfg.HalfLives(), StartWithout: b.cfg.UsesElasticsearch(),
	})
	if err != nil {
		return nil, err
	}
	b.background(ctx, "ranking", live.Run)
	return live, nil
}

func (b *builder) openSignals(ctx context.Context, c clients, s stores, agents catalog.Profiles, live *ranking.Live) (signalParts, error) {
	counts, err := b.openCounts(ctx, c)
	if err != nil {
		return signalParts{}, err
	}
	g := signalParts{ranking: live, counts: counts}
	g.tally = events.NewBuffer(ctx, counts, events.BufferConfig{Config: signals.Config{Timeout: b.cfg.Server.RequestTimeout, Logger: b.log}})
	b.onClose("counts for reports", func(ctx context.Context) error { g.tally.Close(ctx); return nil })
	guard := &guardrails{live: live, counts: counts, clock: b.clock, log: b.log}
	b.background(ctx, "guardrails of experiments", guard.run)
	g.popular, g.publisher = b.openPopularity(ctx, s)
	g.learner = learning.NewBuffer(ctx, agents, learning.Config{Config: signals.Config{Timeout: b.cfg.Server.RequestTimeout, Logger: b.log}, Clock: b.clock})
	b.onClose("learning", func(ctx context.Context) error { g.learner.Close(ctx); return nil })
	g.trending = b.openTrending(c, s)
	g.coRead, err = b.openCoRead(ctx, c, s.coRead)
	if err != nil {
		return g, err
	}
	g.overview, err = b.openOverview(ctx, c)
	return g, err
}

// openOverview starts to keep what the server counts: in Redis if several servers share one, else in a
// file. A worker answers no calls, and counts nothing for the overview.
func (b *builder) openOverview(ctx context.Context, c clients) (*overview.Keeper, error) {
	var store overview.Store
	if c.redis != nil {
		store = overview.NewRedis(c.redis, b.cfg.Redis.KeyPrefix)
	} else {
		dir, err := b.dataDir("")
		if err != nil {
			return nil, err
		}
		file, err := overview.OpenFile(filepath.Join(dir, overview.FileName))
		if err != nil {
			b.log.WarnContext(ctx, "the figures for the overview begin anew", "error", err)
		}
		store = file
	}
	keeper, err := overview.NewKeeper(store, prometheus.DefaultGatherer, b.clock, b.log)
	if err == nil && !b.probesOnly {
		b.background(ctx, "overview", keeper.Run)
	}
	return keeper, err
}

// openCoRead opens the store of co-readers: in Redis if several servers share one, else in this
// process and a file.
func (b *builder) openCoRead(ctx context.Context, c clients, opened *coreadredis.Store) (*coread.Buffer, error) {
	store, err := b.coReadStore(ctx, c, opened)
	if err != nil {
		return nil, err
	}
	buffer := coread.NewBuffer(ctx, store, signals.Config{Timeout: b.cfg.Server.RequestTimeout, Logger: b.log})
	b.onClose("co-readers", func(ctx context.Context) error { buffer.Close(ctx); return nil })
	return buffer, nil
}

func (b *builder) coReadStore(ctx context.Context, c clients, store *coreadredis.Store) (coread.Store, error) {
	if c.redis != nil {
		if store == nil { // the items are in a file
			store = coreadredis.New(c.redis, b.cfg.Redis.KeyPrefix)
		}
		b.background(ctx, "upkeep of co-readers", func(ctx context.Context) { store.Upkeep(ctx, b.clock, b.cfg.Server.RequestTimeout, b.log) })
		return store, nil
	}
	dir, err := b.dataDir("")
	if err != nil {
		return nil, err
	}
	file, err := coreadsqlite.Open(ctx, b.database(dir, coreadsqlite.FileName))
	if err != nil {
		return nil, err
	}
	b.onClose("file of co-readers", file.Close)
	b.purgeFile("co_readers", file.Purge)
	return file, nil
}

// countsCoReads returns whether acts are counted for co-readers: if a ranking in force uses them.
func (b *builder) countsCoReads(live *ranking.Live) func() bool {
	return func() bool {
		now := live.InForce().Live
		return b.coReads || now.Ranking.CoRead.On() || slices.ContainsFunc(now.Variants, func(v feed.Variant) bool { return v.Ranking.CoRead.On() })
	}
}

// openCounts opens the counts of impressions and acts: in Redis if several servers share one,
// else in a file.
func (b *builder) openCounts(ctx context.Context, c clients) (events.Store, error) {
	if c.redis != nil {
		return eventsredis.New(c.redis, b.cfg.Redis.KeyPrefix), nil
	}
	dir, err := b.dataDir("")
	if err != nil {
		return nil, err
	}
	file, err := eventssqlite.Open(ctx, b.database(dir, eventssqlite.FileName))
	if err != nil {
		return nil, err
	}
	b.onClose("file of counts", func(context.Context) error { return file.Close() })
	b.purgeFile("counts", file.Purge)
	return file, nil
}

// openPopularity opens the counter of clicks and likes: in the recall index of this process, or
// in Redis, from where any server writes the counts to Elasticsearch. The buffer is nil if they
// do not count, the publisher if there is nothing to write.
func (b *builder) openPopularity(ctx context.Context, s stores) (*popularity.Buffer, *popularity.Publisher) {
	var counter popularity.Counter
	var publisher *popularity.Publisher
	switch {
	case s.indexed != nil:
		counter = s.indexed
	case s.live != nil:
		counter = s.live
		publisher = popularity.NewPublisher(s.live, s.counted, signals.Config{Timeout: b.cfg.Server.RequestTimeout, Logger: b.log})
		b.background(ctx, "publisher of popularity", publisher.Run)
	default:
		return nil, nil
	}
	buffer := popularity.NewBuffer(ctx, counter, signals.Config{Timeout: b.cfg.Server.RequestTimeout, Logger: b.log})
	b.onClose("popularity", func(ctx context.Context) error { buffer.Close(ctx); return nil })
	return buffer, publisher
}

// openTrending opens the set of trending items: in Redis, where the servers share the
// computation, or in this process.
func (b *builder) openTrending(c clients, s stores) *trending.Live {
	var store trending.Store // nil means this process alone
	if s.indexed == nil && c.redis != nil {
		store = trendingredis.New(c.redis, b.cfg.Redis.KeyPrefix)
	}
	return trending.NewLive(store, s.popular, s.contents, trending.Config{Clock: b.clock, Logger: b.log})
}

// startTrending keeps the set up to date. With atOnce it tries to read or compute the first set
// before it returns; a failure is only logged, and tried again in the background.
func (b *builder) startTrending(ctx context.Context, live *trending.Live, atOnce bool) {
	if atOnce {
		if err := live.Update(ctx); err != nil {
			b.log.WarnContext(ctx, "trending items are not available yet", slog.Any("error", err))
		}
	}
	b.background(ctx, "trending", live.Run)
}
