package trending

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/recall"
)

var ageSeconds = promauto.NewGauge(prometheus.GaugeOpts{
	Name: "freshet_trending_age_seconds", Help: "Age of what this server shows as trending; it is computed anew every five minutes.",
})

// StaleAfter is the age from which on answers say that what is trending is old.
const StaleAfter = time.Hour

// Config tunes a [Live]. Zero values stand for the defaults.
type Config struct {
	Clock   feed.Clock    // required
	Size    int           // entries of a set; 500
	Every   time.Duration // between two computations; 5m. An empty set is computed again after Lease
	Look    time.Duration // between two looks at the store; 5s
	Lease   time.Duration // how long a computation is reserved, and then tried again; 15s, longer than Timeout
	Timeout time.Duration // of a look with its computation; 10s
	Server  string        // tells this server from others; a random name
	Logger  *slog.Logger  // nil: nothing is logged
}

func (c Config) withDefaults() Config {
	c.Size = cmp.Or(c.Size, 500)
	c.Every = cmp.Or(c.Every, 5*time.Minute)
	c.Look = cmp.Or(c.Look, 5*time.Second)
	c.Lease = cmp.Or(c.Lease, 15*time.Second)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.Server = cmp.Or(c.Server, rand.Text())
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Live is the set that this server shows. It follows the store, and takes its turn in
// computing. While the store cannot be asked the last set that is known stays. It is
// safe for concurrent use; asking it takes no lock and never waits.
type Live struct {
	store   Store
	popular recall.Popular
	items   catalog.Reader
	cfg     Config
	set     atomic.Pointer[Set]
}

// NewLive returns a Live that knows no set until it is told to [Live.Look]. popular
// lists what is scored, items has the content of it.
func NewLive(store Store, popular recall.Popular, items catalog.Reader, cfg Config) *Live {
	return &Live{store: store, popular: popular, items: items, cfg: cfg.withDefaults()}
}

// Set is the set that is known, nil while none is. stale says that it is older than
// [StaleAfter].
func (l *Live) Set() (s *Set, stale bool) {
	s = l.set.Load()
	return s, s != nil && l.age(s) > StaleAfter
}

func (l *Live) age(s *Set) time.Duration { return l.cfg.Clock().Sub(time.Unix(s.At, 0)) }

// Run looks every few seconds until ctx ends.
func (l *Live) Run(ctx context.Context) {
	failing := repeat.Failing{Fails: "what is trending cannot be brought up to date; the last that is known stays", Again: "what is trending is up to date again"}
	repeat.Now(ctx, l.cfg.Look, func(ctx context.Context) {
		failing.Tell(ctx, l.cfg.Logger, l.Look(ctx))
		if s := l.set.Load(); s != nil {
			ageSeconds.Set(max(0, l.age(s).Seconds()))
		}
	})
}

// Look takes over the set that the store has and, where a new one is due and no other
// server has reserved it, computes it. Errors are those of the store and of
// [Compute].
func (l *Live) Look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	defer cancel()
	if err := l.read(ctx); err != nil {
		return err
	}
	if !l.due() {
		return nil
	}
	return l.compute(ctx)
}

func (l *Live) read(ctx context.Context) error {
	known := ""
	if s := l.set.Load(); s != nil {
		known = s.Revision
	}
	s, err := l.store.Read(ctx, known)
	if err != nil {
		return err
	}
	if s != nil {
		l.show(s)
	}
	return nil
}

func (l *Live) show(s *Set) {
	l.set.Store(s)
	ageSeconds.Set(max(0, l.age(s).Seconds()))
}

// due reports whether the next set is to be computed. One from the future is wrong.
func (l *Live) due() bool {
	s := l.set.Load()
	if s == nil {
		return true
	}
	every := l.cfg.Every
	if len(s.Entries) == 0 {
		every = l.cfg.Lease
	}
	age := l.age(s)
	return age >= every || age < 0
}

func (l *Live) compute(ctx context.Context) error {
	if mine, err := l.store.Lease(ctx, l.cfg.Server, l.cfg.Lease); err != nil || !mine {
		return err
	}
	s, err := Compute(ctx, l.popular, l.items, l.cfg.Clock(), l.cfg.Size)
	if err != nil {
		return err // the lease runs out, and somebody tries again
	}
	kept, err := l.store.Keep(ctx, l.cfg.Server, s)
	if err == nil && kept {
		l.show(s)
	}
	return err
}
