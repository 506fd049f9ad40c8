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
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/demo"
)

// Sizes used in the measurements.
const (
	page         = 20
	sessionItems = 480 // left after a refresh of 500
	agentPages   = sessionItems / page
	demoSeed     = 20260306
	// variety is the number of items that the demo generates before its titles run out.
	variety = 100_000
)

// system is a running Freshet, like that of the serve command.
type system struct {
	*server.App
	addr    string
	indexed bool // its items are in Elasticsearch
	stop    func() error
}

// serve starts a system. stop shuts it down and records lost impressions.
func (b *bench) serve(ctx context.Context, cfg configs.Config, options ...server.Option) (*system, error) {
	cfg.Server.Drain = 0 // no load balancer
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	a, err := server.Open(ctx, cfg, append(options, server.WithLogger(b.log), server.WithSettingsApart(), server.WithRecallCache(0, 0))...) // no recall is cached
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
		t := a.Totals()
		if t.Recorded+t.Deferred != t.Delivered {
			b.impossible("%d impressions were delivered, %d recorded and %d deferred", t.Delivered, t.Recorded, t.Deferred)
		}
		return err
	}
	return &system{App: a, indexed: cfg.UsesElasticsearch(), addr: l.Addr().String(), stop: stop}, nil
}

// recorded waits until all delivered impressions are in the filters.
func (s *system) recorded(ctx context.Context) error {
	for {
		t := s.Totals()
		if t.Recorded+t.Deferred >= t.Delivered {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

// put stores items and makes them visible to recall.
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

// unmark removes the change markers, which prevent caching of an item for some seconds.
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

// filledDir returns a data directory with n items and with impressions in every filter of the
// window. It is filled once per run.
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

// openDedup opens only the dedup store, with the clock at then: the store in process does not
// write to days before the one it was opened on.
func (b *bench) openDedup(ctx context.Context, cfg configs.Config, then time.Time) (dedup.Store, func(context.Context) error, error) {
	return server.OpenDedup(ctx, cfg, server.WithLogger(b.log), server.WithClock(func() time.Time { return then }))
}

// firstDay returns the time of now on the window's first day.
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

// recordAll records impressions in batches of the recorder's size.
func recordAll(ctx context.Context, store dedup.Writer, all []dedup.Impression, now time.Time) error {
	for batch := range slices.Chunk(all, 1000) {
		if _, err := store.Record(ctx, batch, now); err != nil {
			return err
		}
	}
	return nil
}

// makeItems returns n items of the demo, the newest dated now.
func makeItems(n int, now time.Time) []feed.Item {
	return slices.AppendSeq(make([]feed.Item, 0, n), eachItem(n, now))
}

// eachItem yields the items of makeItems. Beyond the demo's variety they repeat with other ids.
func eachItem(n int, now time.Time) iter.Seq[feed.Item] {
	return func(yield func(feed.Item) bool) {
		made := demo.Generate(demoSeed, min(n, variety), now)
		for i := range n {
			it := made[i%len(made)]
			lap := i / len(made)
			if lap > 0 {
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

// readers is the number of readers that take turns in process.
const readers = 1000

func reader(i int) string { return "reader_" + strconv.Itoa(i) }

// profile returns the profile of the i-th reader; no two are equal, so that no recalls are
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
