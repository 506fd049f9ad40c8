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
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/recall"
)

var ageSeconds = promauto.NewGauge(prometheus.GaugeOpts{
	Name: "freshet_trending_age_seconds", Help: "Age in seconds of the trending set on this server; a new set is computed every five minutes.",
})

// StaleAfter is the age above which answers mark the set as stale.
const StaleAfter = time.Hour

const (
	size         = 500              // entries of a set
	every        = 5 * time.Minute  // between two computations
	checkEvery   = 5 * time.Second  // between two checks of the store
	everyEmpty   = 15 * time.Second // between two computations while the set is empty
	lease        = 15 * time.Second // how long a server reserves a computation in the store; longer than checkTimeout
	checkTimeout = 10 * time.Second // of a check, including its computation
)

// Config tunes a [Live].
type Config struct {
	Clock  feed.Clock   // required
	Logger *slog.Logger // nil disables logging
}

// Live holds the set that this server shows. It polls the store and takes part in computing the
// set. While the store is unavailable, the last known set stays. It is safe for concurrent use;
// reading the set takes no lock and never blocks.
type Live struct {
	store   Store
	popular recall.Popular
	items   catalog.Reader
	cfg     Config
	server  string // a random name
	set     atomic.Pointer[Set]
}

// NewLive returns a Live without a set; [Live.Update] loads the first. popular lists the items to
// score, items reads their content. A nil store means a single server, which does not share its
// sets.
func NewLive(store Store, popular recall.Popular, items catalog.Reader, cfg Config) *Live {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Live{store: store, popular: popular, items: items, cfg: cfg, server: rand.Text()}
}

// Set returns the current set, nil if there is none yet. stale reports that it is older than
// [StaleAfter].
func (l *Live) Set() (s *Set, stale bool) {
	s = l.set.Load()
	return s, s != nil && l.age(s) > StaleAfter
}

func (l *Live) age(s *Set) time.Duration { return l.cfg.Clock().Sub(time.Unix(s.At, 0)) }

// Run calls [Live.Update] every few seconds until ctx ends.
func (l *Live) Run(ctx context.Context) {
	failing := periodic.Failing{Fails: "the trending set cannot be updated; the last one stays in use", Again: "the trending set is updated again"}
	for range periodic.Now(ctx, checkEvery) {
		failing.Tell(ctx, l.cfg.Logger, l.Update(ctx))
		s := l.set.Load()
		if s != nil {
			ageSeconds.Set(max(0, l.age(s).Seconds()))
		}
	}
}

// Update loads the set from the store. If a new one is due and no other server has reserved it,
// Update computes it. Errors are those of the store and of [Compute].
func (l *Live) Update(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
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

// due reports whether the next set should be computed. A set dated in the future is recomputed.
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
		if mine, err := l.store.Lease(ctx, l.server, lease); err != nil || !mine {
			return err
		}
	}
	s, err := Compute(ctx, l.popular, l.items, l.cfg.Clock(), size)
	if err != nil {
		return err // retried with the next Update; in a shared store once the lease has expired
	}
	kept := true
	if l.store != nil {
		kept, err = l.store.Keep(ctx, l.server, s)
	}
	if err == nil && kept {
		l.show(s)
	}
	return err
}
