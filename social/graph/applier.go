package graph

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/ndjson"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social"
)

var eventsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
	Name: "freshet_graph_events_total",
	Help: "Events of other systems, by type and outcome: applied, or rejected (invalid, or refused by the social store). The type is unknown for events without a known type.",
}, []string{"type", "result"})

// Config limits how much data an Applier holds in memory.
type Config = ndjson.Config

// writers is the number of concurrent writes.
const writers = 16

// Store receives the events. Every call passes the event's own time, so the order of the calls
// makes no difference.
type Store interface {
	social.Posts
	social.Follows
	social.Circles
	social.Authors
}

// Applier applies many events to a store. It is safe for concurrent use.
type Applier struct {
	store Store
	cfg   Config
	seed  maphash.Seed
}

// NewApplier returns an Applier that writes to a store.
func NewApplier(s Store, cfg Config) *Applier {
	return &Applier{store: s, cfg: cfg, seed: maphash.MakeSeed()}
}

// Apply applies events and returns a result for each, in their order: nil, an error for which
// [feed.Refused] holds, or the error of an unavailable store. After the first error of the store it
// starts no further writes and returns that error for the remaining events. It may be called again
// with the events that failed.
//
// Events of the same post, the same circle or the same two agents are applied in order, and a reply
// after the post that it answers. Others are written concurrently, and long runs of follows with the same time in one bulk write.
func (a *Applier) Apply(ctx context.Context, events []Event) []error {
	r := &round{a: a, events: events, results: make([]error, len(events))}
	r.run(ctx)
	for i, err := range r.results {
		count(events[i].Type, err)
	}
	return r.results
}

// CountRejected counts an event that could not be decoded, for callers that decode events
// outside of [Applier.Read]. Its type may be unknown.
func CountRejected(t Type) { count(t, feed.ErrInvalid) }

// count counts an event that was applied or rejected.
func count(t Type, err error) {
	if bodies[t] == nil {
		t = "unknown"
	}
	switch {
	case err == nil:
		eventsTotal.WithLabelValues(string(t), "applied").Inc()
	case feed.Refused(err):
		eventsTotal.WithLabelValues(string(t), "rejected").Inc()
	}
}

// round is the state of one call of Apply.
type round struct {
	a       *Applier
	events  []Event
	results []error
	down    atomic.Pointer[error] // why the store is unavailable
}

// run applies the events: concurrently, except for long runs of follows, and replies to posts of the
// same round.
func (r *round) run(ctx context.Context) {
	begin := 0                 // index of the first event that is not applied yet
	posts := map[string]bool{} // those since then
	for i := 0; i < len(r.events); {
		if p, ok := r.events[i].body.(*postCreated); ok {
			if posts[p.post.ReplyTo] {
				r.together(ctx, begin, i)
				begin = i
				clear(posts)
			}
			posts[p.ID] = true
		}
		n := r.follows(i)
		if n < writers { // too short to be worth a bulk write, for which all others wait
			i += max(n, 1)
			continue
		}
		r.together(ctx, begin, i)
		r.bulk(ctx, i, i+n)
		i += n
		begin = i
	}
	r.together(ctx, begin, len(r.events))
}

// follows returns the length of the run of follows with one time that begins at i.
func (r *round) follows(i int) (n int) {
	for i+n < len(r.events) && n < social.MaxEdges {
		e := r.events[i+n]
		if e.Type != FollowCreated || !e.At().Equal(r.events[i].At()) {
			break
		}
		n++
	}
	return n
}

// bulk applies the events in [begin, end), which are follows with one time.
func (r *round) bulk(ctx context.Context, begin, end int) {
	var rejected []social.Rejected
	err := r.unlessDown(func() (err error) {
		edges := make([]social.Edge, 0, end-begin)
		for _, e := range r.events[begin:end] {
			f := e.body.(*follow)
			edges = append(edges, social.Edge{Agent: f.Agent, Author: f.Author})
		}
		_, rejected, err = r.a.store.FollowAll(ctx, edges, r.events[begin].At())
		return err
	})
	for i := begin; i < end; i++ {
		r.results[i] = err
	}
	for _, one := range rejected {
		r.results[begin+one.Index] = one.Err
	}
}

// together applies the events in [begin, end) concurrently. One writer applies all events of a key.
func (r *round) together(ctx context.Context, begin, end int) {
	var shares [writers][]int
	for i := begin; i < end; i++ {
		w := maphash.String(r.a.seed, r.events[i].key()) % writers
		shares[w] = append(shares[w], i)
	}
	var all sync.WaitGroup
	for _, share := range shares {
		if len(share) > 0 {
			all.Go(func() {
				for _, i := range share {
					r.results[i] = r.unlessDown(func() error { return r.events[i].Apply(ctx, r.a.store) })
				}
			})
		}
	}
	all.Wait()
}

// unlessDown calls tell, which writes to the store, unless the store is known to be down.
func (r *round) unlessDown(tell func() error) error {
	down := r.down.Load()
	if down != nil {
		return *down
	}
	err := safego.Run(tell)
	if errors.Is(err, social.ErrDamaged) {
		err = feed.Errorf(feed.ErrRule, "the stored data for it is damaged")
	}
	if err != nil && !feed.Refused(err) {
		r.down.CompareAndSwap(nil, &err)
	}
	return err
}
