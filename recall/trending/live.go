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

const (
	size        = 500              // entries of a set
	every       = 5 * time.Minute  // between two computations
	look        = 5 * time.Second  // between two looks at the store
	everyEmpty  = 15 * time.Second // between two computations while there is nothing to show
	lease       = 15 * time.Second // how long a server reserves a computation in the store; longer than lookTimeout
	lookTimeout = 10 * time.Second // of a look with its computation
)

// Config tunes a [Live].
type Config struct {
	Clock  feed.Clock   // required
	Server string       // tells this server from others; "": a random name
	Logger *slog.Logger // nil: nothing is logged
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
// lists what is scored, items has the content of it. A nil store is for one server: it
// shares its sets with nobody.
func NewLive(store Store, popular recall.Popular, items catalog.Reader, cfg Config) *Live {
	cfg.Server = cmp.Or(cfg.Server, rand.Text())
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Live{store: store, popular: popular, items: items, cfg: cfg}
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
	repeat.Now(ctx, look, func(ctx context.Context) {
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
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if err := l.read(ctx); err != nil || !l.due() {
		return err
	}
	return l.compute(ctx)
}

func (l *Live) read(ctx context.Context) error {
	if l.store == nil {
		return nil
	}
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
	age, after := l.age(s), every
	if len(s.Entries) == 0 {
		after = everyEmpty
	}
	return age >= after || age < 0
}

func (l *Live) compute(ctx context.Context) error {
	if l.store != nil {
		if mine, err := l.store.Lease(ctx, l.cfg.Server, lease); err != nil || !mine {
			return err
		}
	}
	s, err := Compute(ctx, l.popular, l.items, l.cfg.Clock(), size)
	if err != nil {
		return err // tried again with the next look; in a store that several share when the lease has run out
	}
	kept := true
	if l.store != nil {
		kept, err = l.store.Keep(ctx, l.cfg.Server, s)
	}
	if err == nil && kept {
		l.show(s)
	}
	return err
}
