package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

var (
	rankingVersion = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_ranking_version", Help: "Version of the ranking in force on this server; 0 is the configuration's.",
	})
	rankingStale = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_ranking_stale", Help: "1 while the newest ranking cannot be read and the last one stays in force.",
	})
)

// LiveConfig tunes a LiveRanking.
type LiveConfig struct {
	Clock      feed.Clock   // dates the changes
	Configured feed.Ranking // in force while nothing is stored: version 0
	// Every is how often the newest version is looked for; 1s. A change on
	// another server is in force here after it, at the latest, plus one read.
	Every   time.Duration
	Timeout time.Duration // longest time of one such read; 5s
	Log     *slog.Logger  // slog.Default()
}

func (c LiveConfig) withDefaults() LiveConfig {
	if c.Every <= 0 {
		c.Every = time.Second
	}
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// LiveRanking is the ranking in force, which people change while the servers
// run. The catalog keeps it; every server follows the newest version there, and
// keeps the one it has while the catalog cannot be read. It is safe for
// concurrent use, and asking it takes no lock.
type LiveRanking struct {
	store catalog.Rankings
	cfg   LiveConfig
	now   atomic.Pointer[catalog.RankingVersion]

	// reading holds a token from reading the store to applying what was read, so
	// that no older answer replaces a newer one. It is a channel because a store
	// may hang: whoever waits for another's read keeps their own deadline.
	reading chan struct{}
	// changing holds a token while a version is made: changes of one server wait
	// for each other instead of each making the others start over.
	changing chan struct{}

	mu      sync.Mutex
	failing bool // the last read failed
	fileAt  int  // newest version that was there when the file was last looked at
}

var _ Rankings = (*LiveRanking)(nil)

// OpenLiveRanking reads the newest version and returns the ranking that starts
// with it; [LiveRanking.Run] keeps it up to date. Starting with another ranking
// than the other servers' would be worse than not starting, so a read that
// fails is an error.
func OpenLiveRanking(ctx context.Context, store catalog.Rankings, cfg LiveConfig) (*LiveRanking, error) {
	if cfg.Clock == nil {
		return nil, errors.New("engine: the clock is missing")
	}
	if err := cfg.Configured.Validate(); err != nil {
		return nil, err
	}
	l := &LiveRanking{store: store, cfg: cfg.withDefaults(), reading: make(chan struct{}, 1), changing: make(chan struct{}, 1)}
	v, err := l.newest(ctx)
	if err != nil {
		return nil, err
	}
	l.apply(ctx, v)
	l.fileAt = v.Version
	if diff := v.Live.Ranking.Changes(cfg.Configured); v.Version > 0 && diff != "" {
		l.cfg.Log.WarnContext(ctx, "the stored ranking is in force, not the configuration's; edit the file while the server runs, or use freshet decay set",
			"version", v.Version, "stored", diff, "configured", cfg.Configured.Changes(v.Live.Ranking))
	}
	return l, nil
}

// For implements [Rankings].
func (l *LiveRanking) For(agent string) (variant string, r feed.Ranking) {
	return l.now.Load().Live.For(agent)
}

// InForce is the version in force on this server. What it returns is shared:
// never write to it.
func (l *LiveRanking) InForce() catalog.RankingVersion { return *l.now.Load() }

// Current is the newest version, which it puts in force. While the catalog
// cannot be read it is the one in force.
func (l *LiveRanking) Current(ctx context.Context) catalog.RankingVersion {
	_ = l.sync(ctx) // Run tells of failures
	return l.InForce()
}

// Run follows the newest version until ctx ends.
func (l *LiveRanking) Run(ctx context.Context) {
	tick := time.NewTicker(l.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.follow(ctx)
		}
	}
}

// follow reads once, and tells of the first failure and of the recovery.
func (l *LiveRanking) follow(ctx context.Context) {
	reading, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	defer cancel()
	err := l.sync(reading)
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	was := l.failing
	l.failing = err != nil
	l.mu.Unlock()
	switch {
	case err != nil && !was:
		rankingStale.Set(1)
		l.cfg.Log.WarnContext(ctx, "the ranking cannot be read; the one in force stays", "version", l.InForce().Version, "error", err)
	case err == nil && was:
		rankingStale.Set(0)
		l.cfg.Log.InfoContext(ctx, "the ranking can be read again", "version", l.InForce().Version)
	}
}

// sync puts the newest version in force.
func (l *LiveRanking) sync(ctx context.Context) error {
	if err := l.read(ctx); err != nil {
		return err
	}
	defer l.done()
	v, err := l.newest(ctx)
	if err != nil {
		return err
	}
	l.apply(ctx, v)
	return nil
}

// read waits until nobody else is reading; done must follow where it does not
// fail.
func (l *LiveRanking) read(ctx context.Context) error {
	select {
	case l.reading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *LiveRanking) done() { <-l.reading }

// newest is the newest stored version, or the configuration's.
func (l *LiveRanking) newest(ctx context.Context) (catalog.RankingVersion, error) {
	v, err := l.store.Ranking(ctx)
	if errors.Is(err, catalog.ErrNotFound) {
		return l.configured(), nil
	}
	return v, err
}

// configured is version 0.
func (l *LiveRanking) configured() catalog.RankingVersion {
	return catalog.RankingVersion{By: "configuration", Why: "in force while nothing is stored", Live: feed.Live{Ranking: l.cfg.Configured}}
}

// apply puts a version in force.
func (l *LiveRanking) apply(ctx context.Context, v catalog.RankingVersion) {
	was := l.now.Load()
	if was != nil && was.Version == v.Version && was.At.Equal(v.At) {
		return
	}
	l.now.Store(&v)
	rankingVersion.Set(float64(v.Version))
	if was == nil && v.Version == 0 {
		return
	}
	names := make([]string, len(v.Live.Variants))
	for i, variant := range v.Live.Variants {
		names[i] = variant.Name
	}
	attrs := []any{"version", v.Version, "by", v.By, "why", v.Why, "ranking", v.Live.Ranking.String(), "experiments", names}
	if was != nil && v.Version < was.Version {
		l.cfg.Log.WarnContext(ctx, "the catalog went back to an older ranking, which is in force now", append(attrs, "was", was.Version)...)
		return
	}
	l.cfg.Log.InfoContext(ctx, "ranking in force", attrs...)
}
