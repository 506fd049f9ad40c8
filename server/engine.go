package server

import (
	"context"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/server/breaker"
	"github.com/freshet/freshet/server/telemetry"
)

const (
	sourceShare = 4  // a quarter of a request's time: timeout of a source of home
	roundsShare = 10 // a tenth: time to start further rounds of recall
	// originStep is the minimum step of the decay's origin. Equal recalls share a result only
	// while their origins are equal, so the step is at least sharedFor. A second changes no
	// score.
	originStep = time.Second
)

func (b *builder) engineConfig(live *ranking.Live, tracing *telemetry.Tracing) engine.Config {
	var begin func(context.Context) context.Context
	if b.cfg.UsesRedis() || b.cfg.UsesPostgres() { // the services that a request gives up at the first call without an answer
		begin = breaker.Begin
	}
	return engine.Config{
		Clock: b.clock, Log: b.log, Rankings: live, CoReads: b.countsCoReads(live), HalfLives: b.cfg.HalfLives(), N: b.cfg.Recall.N, RoundsFor: b.cfg.Server.RequestTimeout / roundsShare,
		OriginStep: max(originStep, b.sharedFor), Coalesce: b.coalesce,
		ShowAgain:    b.cfg.Dedup.WhenExhausted == configs.ExhaustedOldest,
		RecordServed: b.cfg.Impressions.On == configs.OnServed, Remember: b.cfg.UsesRedis(), Begin: begin, Tracer: tracing.Tracer(),
	}
}

func (p *parts) openEngine(ctx context.Context, items catalog.Catalog, cfg engine.Config) (*engine.Engine, error) {
	s := p.stores
	cfg.ContentDecides = p.clients.contentDecides()
	stores := engine.Stores{
		Recall: s.shared, Seen: s.dedup, Recorder: s.recorder, Sessions: s.sessions, Catalog: items,
		Tally: p.tally, Learner: p.learner, CoReaders: p.coRead, Home: p.home(), Groups: s.groups,
	}
	if p.network != nil {
		stores.Posts, stores.Late, stores.Promotions = p.network.store, p.network.store, p.network.promotions
	}
	if p.popular != nil {
		stores.Popularity = p.popular
	}
	if s.spool != nil {
		stores.Fallback = s.spool
	}
	if s.recovery != nil {
		stores.Recovery = s.recovery
	}
	stores.Prefetch = p.openPrefetch(ctx, items)
	e, err := engine.New(stores, cfg)
	if err != nil {
		return nil, err
	}
	p.disconnects("engine", func() error { e.Close(); return nil })
	return e, nil
}

// home configures the sources that the home feed has in addition to for-you's.
func (p *parts) home() engine.Home {
	trends := trending.NewSource(p.trending, p.clients.contentDecides())
	h := engine.Home{Pattern: p.cfg.Home.Positions(), SourceFor: p.cfg.Server.RequestTimeout / sourceShare, Trending: trends, Trends: trends}
	n := p.network
	if n != nil {
		h.Following, h.Affinities, h.Promoted = n.timelines, n.store, n.promotions
	}
	return h
}

// openPrefetch starts to read pages ahead if content comes from a service and is cached in
// another one; otherwise it returns nil.
func (p *parts) openPrefetch(ctx context.Context, items catalog.Catalog) *engine.Prefetcher {
	cached := p.cfg.UsesElasticsearch() && p.cfg.UsesRedis()
	if !cached && !p.cfg.UsesPostgres() {
		return nil
	}
	ahead := engine.NewPrefetcher(ctx, p.stores.sessions, items, p.cfg.Server.RequestTimeout, p.log)
	p.disconnects("reading ahead", func() error { ahead.Close(); return nil })
	return ahead
}

// guest returns the feed of readers who are not signed in. Its promoted items are drawn again for
// each set of trending items.
func (p *parts) guest(items catalog.Catalog, cfg engine.Config) *engine.Guest {
	diversity := func() feed.Diversity { return p.ranking.InForce().Live.Ranking.Diversity }
	stores := engine.GuestStores{Trending: p.trending, Items: items, Newest: p.stores.shared}
	if p.network != nil {
		stores.Promoted = p.network.promotions.Guests(func() time.Time {
			set, _ := p.trending.Set()
			if set != nil {
				return time.Unix(set.At, 0)
			}
			return time.Time{}
		})
	}
	return engine.NewGuest(stores, diversity, cfg)
}
