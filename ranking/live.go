package ranking

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/sync/semaphore"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/periodic"
)

var (
	rankingVersion = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_ranking_version", Help: "Version of the ranking in force on this server; 0 is the ranking of the configuration.",
	})
	rankingStale = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_ranking_stale", Help: "1 while the newest ranking cannot be read and the last one stays in force, otherwise 0.",
	})
)

// Config tunes a [Live].
type Config struct {
	Clock      feed.Clock    // dates the changes
	Configured feed.Ranking  // in force while nothing is stored, as version 0
	Timeout    time.Duration // timeout of one read of the newest version; 5s by default
	Logger     *slog.Logger  // nil disables logging
	// HalfLives are those of live popularity that are kept. A change to a ranking that weights others is
	// refused.
	HalfLives feed.HalfLives
	// StartWithout lets a start continue with the configured ranking if the store is unavailable;
	// then [Live.Sync] must have succeeded before anything is ranked.
	StartWithout bool
}

// followEvery is how often the newest version is read. A change on another server is in force
// here after this time plus one read at most: well below the promised two seconds.
const followEvery = time.Second

// Live is the ranking in force on this server, which people change while the servers run. The
// store holds it; every server follows the newest version there, and retains its own while the
// store cannot be read. It is safe for concurrent use, and reading it takes no lock.
type Live struct {
	store Store
	cfg   Config
	now   atomic.Pointer[Version]
	// unread reports that now is only the configured ranking: the store has not been read yet.
	unread atomic.Bool

	// reading is held from reading the store to applying the result, so that no older result
	// replaces a newer one. It is not a mutex because a store may hang: a caller that waits for
	// another's read keeps its own deadline.
	reading *semaphore.Weighted
	// changing is held while a version is made: changes of one server wait for each other instead
	// of making each other start over.
	changing *semaphore.Weighted
}

// Open reads the newest version and returns the ranking with it in force; [Live.Run] keeps it up
// to date. Starting with another ranking than the other servers would be worse than not starting,
// so a failed read is an error, unless [Config.StartWithout] applies.
func Open(ctx context.Context, store Store, cfg Config) (*Live, error) {
	if cfg.Clock == nil {
		return nil, errors.New("ranking: the clock is missing")
	}
	if err := cfg.Configured.Validate(); err != nil {
		return nil, err
	}
	cfg.Timeout, cfg.Logger = cmp.Or(cfg.Timeout, 5*time.Second), cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	l := &Live{store: store, cfg: cfg, reading: semaphore.NewWeighted(1), changing: semaphore.NewWeighted(1)}
	v, err := l.newest(ctx)
	if cfg.StartWithout && errors.Is(err, ErrUnavailable) {
		l.apply(ctx, l.configured())
		l.unread.Store(true)
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	l.apply(ctx, v)
	diff := v.Live.Ranking.Changes(cfg.Configured)
	if v.Version > 0 && diff != "" {
		l.cfg.Logger.WarnContext(ctx, "the stored ranking is in force instead of the configured one; change it with freshet ranking set",
			"version", v.Version, "stored", diff, "configured", cfg.Configured.Changes(v.Live.Ranking))
	}
	return l, nil
}

// For returns the parameters an agent is ranked by, and the run of their variant.
func (l *Live) For(agent string) (run string, r feed.Ranking) {
	return l.now.Load().Live.For(agent)
}

// Experiments reports whether there are variants.
func (l *Live) Experiments() bool { return l.now.Load().Live.Experiments() }

// InForce returns the version in force on this server. The result is shared: never write to it.
func (l *Live) InForce() Version { return *l.now.Load() }

// Current returns the newest version, which it puts in force. While the store cannot be read it
// returns the one in force or, if this server has not read any yet ([Config.StartWithout]), the
// error of [Live.Sync].
func (l *Live) Current(ctx context.Context) (Version, error) {
	if err := l.Sync(ctx); err != nil && l.unread.Load() {
		return Version{}, err
	}
	return l.InForce(), nil
}

// Run follows the newest version until ctx ends.
func (l *Live) Run(ctx context.Context) {
	failing := periodic.Failing{Fails: "the ranking cannot be read; the one in force stays", Again: "the ranking can be read again"}
	for range periodic.Every(ctx, followEvery) {
		reading, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
		err := l.Sync(reading)
		cancel()
		if failing.Tell(ctx, l.cfg.Logger, err, "version", l.InForce().Version) {
			rankingStale.Set(map[bool]float64{true: 1}[err != nil])
		}
	}
}

// Sync puts the newest version in force. After an error of the store, the one in force stays.
func (l *Live) Sync(ctx context.Context) error {
	if err := l.reading.Acquire(ctx, 1); err != nil {
		return err
	}
	defer l.reading.Release(1)
	v, err := l.newest(ctx)
	if err != nil {
		return err
	}
	l.apply(ctx, v)
	return nil
}

// newest returns the newest stored version, or the configuration's.
func (l *Live) newest(ctx context.Context) (Version, error) {
	v, err := l.store.Newest(ctx)
	if errors.Is(err, feed.ErrNotFound) {
		return l.configured(), nil
	}
	return v, err
}

// configured returns version 0.
func (l *Live) configured() Version {
	return Version{By: "configuration", Why: "in force while nothing is stored", Live: feed.Live{Ranking: l.cfg.Configured}}
}

// apply puts a version in force.
func (l *Live) apply(ctx context.Context, v Version) {
	defer l.unread.Store(false)
	was := l.now.Load()
	if was != nil && was.Version == v.Version && was.At.Equal(v.At) {
		return
	}
	l.now.Store(&v)
	rankingVersion.Set(float64(v.Version))
	if was == nil && v.Version == 0 {
		return
	}
	names := convert.Each(v.Live.Variants, func(variant feed.Variant) string { return variant.Name })
	attrs := []any{"version", v.Version, "by", v.By, "why", v.Why, "ranking", cmp.Or(v.Live.Ranking.Changes(l.cfg.Configured), "as configured"), "experiments", names}
	if was != nil && v.Version < was.Version {
		l.cfg.Logger.WarnContext(ctx, "the store has an older ranking than before, which is in force now", append(attrs, "was", was.Version)...)
		return
	}
	l.cfg.Logger.InfoContext(ctx, "ranking in force", attrs...)
}

// Feed returns the stored feed with this name; ok is false if there is none.
func (l *Live) Feed(name feed.Name) (f feed.StoredFeed, ok bool) { return l.now.Load().Live.Feed(name) }

// Base returns the ranking of the agents in no variant.
func (l *Live) Base() feed.Ranking { return l.now.Load().Live.Base() }
