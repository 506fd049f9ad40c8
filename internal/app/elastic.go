package app

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/connect"
	"github.com/freshet/freshet/internal/itemindex"
	"github.com/freshet/freshet/recall"
)

// openElastic makes the client and tries it once: what is wrong with the index
// is an error, that it does not answer is not.
func (a *App) openElastic(ctx context.Context, c *clients) (err error) {
	if c.elastic, err = connect.Elastic(a.cfg, a.log); err != nil {
		return err
	}
	if a.hooks.Elastic != nil {
		c.elastic = a.hooks.Elastic(c.elastic)
	}
	c.index = itemindex.New(c.elastic, a.cfg, a.log)
	a.checks["elasticsearch"] = c.index.Check(func() time.Duration { return recall.LeftOf(a.stores.fronts) })
	return c.index.Try(ctx)
}

// startElastic begins to use the index, which needs the ranking in force, and watches it.
func (a *App) startElastic(ctx context.Context) {
	index := a.clients.index
	if index == nil {
		return
	}
	use := a.useOfIndex()
	index.Begin(ctx, use)
	a.background(ctx, func(ctx context.Context) { index.LookNowAndThen(ctx, a.pauses.index) })
	a.background(ctx, func(ctx context.Context) { index.Run(ctx, use, a.pauses.index) })
}

func (a *App) useOfIndex() itemindex.Use {
	return itemindex.Use{
		Ready: a.ranking.Sync,
		Query: func() feed.Query {
			return feed.Query{Ranking: a.ranking.InForce().Live.Ranking, Origin: a.clock().UTC(), N: a.cfg.Recall.N}
		},
		Docs:   a.stores.contents.Docs,
		Fronts: a.stores.fronts,
	}
}
