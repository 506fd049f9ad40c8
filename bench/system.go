package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/app"
	"github.com/freshet/freshet/internal/demo"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/rediskeys"
)

// Sizes of what is measured.
const (
	page         = 20
	sessionItems = 480 // what a refresh of 500 leaves
	agentPages   = sessionItems / page
	demoSeed     = 20260306
	// variety is how many items the demo makes before its titles grow scarce.
	variety = 100_000
)

// system is a Freshet that serves, as the serve command does.
type system struct {
	*app.App
	addr    string
	indexed bool // its items are in Elasticsearch
	stop    func() error
}

// serve starts a system. stop finishes it and tells if it has lost count of
// what it delivered.
func (b *bench) serve(ctx context.Context, cfg configs.Config, options ...app.Option) (*system, error) {
	cfg.Server.Drain = 0 // nothing balances
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	a, err := app.Open(ctx, cfg, append(options, app.WithLogger(b.log), app.WithSettingsApart(), app.WithRecallCache(0, 0))...) // every recall is a recall
	if err != nil {
		return nil, err
	}
	var listener net.ListenConfig
	l, err := listener.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(serving, l) }()
	stop := func() error {
		end()
		err := <-ended
		if t := a.Totals(); t.Recorded+t.Deferred != t.Delivered {
			b.impossible("%d impressions were delivered, %d recorded and %d deferred", t.Delivered, t.Recorded, t.Deferred)
		}
		return err
	}
	return &system{App: a, indexed: cfg.UsesElasticsearch(), addr: l.Addr().String(), stop: stop}, nil
}

// recorded waits until what was delivered is in the filters.
func (s *system) recorded(ctx context.Context) error {
	for {
		if t := s.Totals(); t.Recorded+t.Deferred >= t.Delivered {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

// put stores items and makes them recallable.
func (b *bench) put(ctx context.Context, s *system, items []feed.Item) error {
	for batch := range slices.Chunk(items, 1000) {
		errs, err := s.Catalog.Put(ctx, batch)
		if err := errors.Join(append(errs, err)...); err != nil {
			return fmt.Errorf("put items: %w", err)
		}
	}
	if !s.indexed {
		return nil
	}
	return errors.Join(b.unmark(ctx, items), esindex.Do(ctx, b.services.elastic, http.MethodPost, "/"+b.name+"/_refresh", "", nil, nil))
}

// unmark removes the marks of a change, which keep an item from being cached
// for some seconds.
func (b *bench) unmark(ctx context.Context, items []feed.Item) error {
	keys := rediskeys.For(b.services.redis, b.prefix())
	for batch := range slices.Chunk(items, 1000) {
		_, err := b.services.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, it := range batch {
				pipe.Unlink(ctx, keys.Item(it.ID))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// filledDir is a data directory with n items in it and impressions in every
// filter of the window. It is filled once a run.
func (b *bench) filledDir(ctx context.Context, n int) (string, error) {
	if dir, ok := b.filled[n]; ok {
		return dir, nil
	}
	b.progress("  putting in %d items", n)
	dir := filepath.Join(b.dir, strconv.Itoa(n))
	cfg, now := b.embeddedConfig(dir), time.Now()
	if err := b.fillWindow(ctx, cfg, now); err != nil {
		return "", err
	}
	s, err := b.serve(ctx, cfg)
	if err != nil {
		return "", err
	}
	err = b.put(ctx, s, makeItems(n, now))
	if err := errors.Join(err, s.stop()); err != nil {
		return "", err
	}
	b.filled[n] = dir
	return dir, nil
}

// openDedup opens the dedup store alone, as if it were then: the store in
// process writes to no day before the one it was opened on.
func (b *bench) openDedup(ctx context.Context, cfg configs.Config, then time.Time) (dedup.Store, func(context.Context) error, error) {
	return app.OpenDedup(ctx, cfg, app.WithLogger(b.log), app.WithClock(func() time.Time { return then }))
}

// firstDay is the same time of the window's first day.
func firstDay(cfg configs.Config, now time.Time) time.Time {
	return now.AddDate(0, 0, 1-cfg.Dedup.WindowDays)
}

// fillWindow puts impressions of many readers into each filter of the window.
func (b *bench) fillWindow(ctx context.Context, cfg configs.Config, now time.Time) (err error) {
	store, stop, err := b.openDedup(ctx, cfg, firstDay(cfg, now))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop(context.WithoutCancel(ctx))) }()
	days, each := b.o.Config.Dedup.WindowDays, 100_000
	if b.o.Short {
		each = 1000
	}
	for ago := days - 1; ago >= 0; ago-- {
		batch := make([]dedup.Impression, each)
		for i := range batch {
			batch[i] = dedup.Impression{Agent: reader(i % readers), Group: fmt.Sprintf("old_%d", ago*each+i)}
		}
		if err := recordAll(ctx, store, batch, now.AddDate(0, 0, -ago)); err != nil {
			return err
		}
	}
	return nil
}

// recordAll records in the batches of the recorder.
func recordAll(ctx context.Context, store dedup.Writer, all []dedup.Impression, now time.Time) error {
	for batch := range slices.Chunk(all, 1000) {
		if _, err := store.Record(ctx, batch, now); err != nil {
			return err
		}
	}
	return nil
}

// makeItems makes n items of the demo, the newest of now.
func makeItems(n int, now time.Time) []feed.Item {
	return slices.AppendSeq(make([]feed.Item, 0, n), eachItem(n, now))
}

// eachItem goes through the items of makeItems. Beyond the demo's variety they
// repeat under other ids.
func eachItem(n int, now time.Time) iter.Seq[feed.Item] {
	return func(yield func(feed.Item) bool) {
		made := demo.Generate(demoSeed, min(n, variety), now)
		for i := range n {
			it := made[i%len(made)]
			if lap := i / len(made); lap > 0 {
				it.ID = fmt.Sprintf("%s-%d", it.ID, lap)
				it.Title = fmt.Sprintf("%s (%d)", it.Title, lap)
				it.UpdateTime -= int64(lap)
				if it.GroupID != "" {
					it.GroupID = fmt.Sprintf("%s-%d", it.GroupID, lap)
				}
			}
			if !yield(it) {
				return
			}
		}
	}
}

// readers is how many readers take turns in process.
const readers = 1000

func reader(i int) string { return "reader_" + strconv.Itoa(i) }

// profile is that of the i-th reader; no two are equal, so no two recalls are
// shared.
func profile(i int) feed.Profile {
	topics := []string{"go", "open-source", "science", "music", "football", "travel", "cooking", "cycling"}
	p := feed.Profile{Interests: map[string]float64{}}
	for k := range 4 {
		p.Interests[topics[(i+3*k)%len(topics)]] = 1 + float64(k) + float64(i)/1e6
	}
	if i%3 == 0 {
		p.Keywords = feed.Keywords("database", "report")
	}
	return p
}

func refresh(agent string) engine.Request {
	return engine.Request{Agent: agent, Action: engine.ActionRefresh, Limit: page}
}

func loadMore(agent string) engine.Request {
	return engine.Request{Agent: agent, Action: engine.ActionLoadMore, Limit: page}
}
