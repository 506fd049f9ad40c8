package app

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache/redislist"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/rediskeys"
)

// watchMasters begins to look after the masters.
func (a *App) watchMasters(ctx context.Context) {
	m := a.clients.masters
	if m == nil {
		return
	}
	withdraw := a.withdrawAgain(m.Client())
	reclaim := func(ctx context.Context, since time.Time) error {
		if since.IsZero() && a.network != nil && a.network.restored != nil { // the first time after a change
			a.network.restored.Look(ctx)
		}
		return a.recorder.Reclaim(ctx, withdraw, since)
	}
	a.background(ctx, func(ctx context.Context) { m.Run(ctx, a.clock, reclaim) })
}

// withdrawAgain takes what a new master lacks of the last pages out of the sessions
// it has, which may be those of before. The new master is enough for that: it may have
// no replica for a while.
func (a *App) withdrawAgain(client redis.UniversalClient) dedup.Withdraw {
	return redislist.New(client, a.sessionsConfig(client, rediskeys.Replicas{})).Withdraw
}
