package server

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server/breaker"
)

// flaky makes stores of a server fail: reads of contents return some or none of them, and steps of
// in-process sessions fail.
type flaky struct {
	unread atomic.Int64 // number of reads to come with missing contents
	broken atomic.Int64 // which of the next steps of sessions fails; 0 means none
}

// makeFlaky replaces a server's engine with one over stores that can fail.
func makeFlaky(t *testing.T, a *App) *flaky {
	t.Helper()
	f := &flaky{}
	sessions := a.stores.sessions
	if !a.cfg.UsesRedis() {
		sessions = flakySessions{sessions, f}
	}
	stores := engine.Stores{
		Recall: a.stores.shared, Seen: a.stores.dedup, Recorder: a.stores.recorder, Sessions: sessions, Catalog: flakyCatalog{a.Catalog, f},
		Posts: a.network.store, Promotions: a.network.promotions, Home: a.home(),
	}
	if a.stores.spool != nil {
		stores.Fallback = a.stores.spool
	}
	if a.stores.recovery != nil {
		stores.Recovery = a.stores.recovery
	}
	e, err := engine.New(stores, engine.Config{
		Clock: a.clock, Log: quiet, Rankings: a.ranking, N: a.cfg.Recall.N, RoundsFor: a.cfg.Server.RequestTimeout / roundsShare, OriginStep: originStep,
		ShowAgain: a.cfg.Dedup.WhenExhausted == configs.ExhaustedOldest, RecordServed: a.cfg.Impressions.On == configs.OnServed,
		Remember: a.cfg.UsesRedis(), Begin: breaker.Begin,
	})
	require.NoError(t, err)
	a.Engine.Close()
	a.Engine = e
	return f
}

type flakyCatalog struct {
	catalog.Catalog
	*flaky
}

// read drops some or all of the contents while reads are to fail.
func (c flakyCatalog) read(docs []feed.Doc, err error) ([]feed.Doc, error) {
	left := c.unread.Add(-1)
	if err != nil || left < 0 {
		return docs, err
	}
	for i, d := range docs {
		if left%2 == 0 || i%2 == 0 {
			docs[i] = feed.Doc{ID: d.ID}
		}
	}
	return docs, catalog.ErrUnavailable
}

func (c flakyCatalog) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	return c.Catalog.Docs(ctx, ids)
}

func (c flakyCatalog) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	docs, profile, err := c.Catalog.Hydrate(ctx, agent, ids)
	docs, err = c.read(docs, err)
	return docs, profile, err
}

type flakySessions struct {
	cache.Sessions
	*flaky
}

// step returns the error of a step, if it is the one to fail.
func (s flakySessions) step() error {
	if s.broken.Add(-1) == 0 {
		return cache.ErrUnavailable
	}
	return nil
}

func (s flakySessions) Replace(ctx context.Context, r cache.Replace) (cache.Page, error) {
	if err := s.step(); err != nil {
		return cache.Page{}, err
	}
	return s.Sessions.Replace(ctx, r)
}

func (s flakySessions) Pop(ctx context.Context, p cache.Pop) (cache.Page, error) {
	if err := s.step(); err != nil {
		return cache.Page{}, err
	}
	return s.Sessions.Pop(ctx, p)
}

func (s flakySessions) Restore(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	if err := s.step(); err != nil {
		return err
	}
	return s.Sessions.Restore(ctx, agent, refs, call)
}

func (s flakySessions) Withdraw(ctx context.Context, agent string, groups []string, at time.Time) error {
	if err := s.step(); err != nil {
		return err
	}
	return s.Sessions.Withdraw(ctx, agent, groups, at)
}
