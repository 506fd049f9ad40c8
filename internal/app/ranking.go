package app

import (
	"context"

	"github.com/freshet/freshet/ranking"
)

// openRanking reads the ranking in force and starts what keeps it up to date.
func (a *App) openRanking(ctx context.Context) (err error) {
	a.ranking, err = ranking.Open(ctx, a.stores.rankings, ranking.Config{
		Clock: a.clock, Configured: a.cfg.Ranking, Timeout: a.cfg.Server.RequestTimeout, Logger: a.log,
		StartWithout: a.cfg.UsesElasticsearch(),
	})
	if err != nil {
		return err
	}
	a.background(ctx, a.ranking.Run)
	return nil
}
