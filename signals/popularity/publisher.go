package popularity

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/signals"
)

var waitingItems = promauto.NewGauge(prometheus.GaugeOpts{
	Name: "freshet_popularity_waiting", Help: "Items whose live popularity has not been written to the index yet, on all servers together.",
})

// Bounds of writes: all servers together write atOnce items per publishEvery, 12,000 a minute. If a
// server has taken items and does not write them, because it was killed or the index is down,
// another server takes them after the lease.
const (
	publishEvery  = 5 * time.Second
	publishAtOnce = 1000
	publishLease  = 30 * time.Second
)

// Queue holds the items with changed counts that are to be written to an index; servers share it.
// An item is on it once, however often it changes.
//
// Changed adds items to it. Take returns up to n items that have been on it longest, for the
// duration of a lease; within a turn only one of all servers gets any, unless turn is 0. Done
// removes items that have not changed since they were taken. Drop deletes the counts of deleted
// items and the records of who acted on them.
type Queue interface {
	Changed(ctx context.Context, items []string) error
	Take(ctx context.Context, n int, lease, turn time.Duration) (Taken, error)
	Done(ctx context.Context, until string, items []string) error
	Drop(ctx context.Context, items []string) error
}

// Taken is a set of items that a server has leased from a [Queue].
type Taken struct {
	Items   []string
	Counts  map[string]feed.Counts // of the items that have counts
	Until   string                 // for Done
	Waiting int64                  // number of items in the queue
}

// Index is the index in which a recall source finds live popularity. SetCounts replaces the counts
// of items. unknown lists items that the index does not have, again those to retry; the error gives
// the reason. All other items are done.
type Index interface {
	SetCounts(ctx context.Context, counts map[string]feed.Counts) (unknown, again []string, err error)
}

// Publisher writes changed counts from a queue to an index, a batch every few seconds. Each of any
// number of servers may have one.
type Publisher struct {
	queue   Queue
	index   Index
	cfg     signals.Config
	running chan struct{} // holds a value while a round runs
}

// NewPublisher returns a publisher that does nothing until Run or Flush is called. The timeout is
// that of one round.
func NewPublisher(queue Queue, index Index, cfg signals.Config) *Publisher {
	return &Publisher{queue: queue, index: index, cfg: cfg.WithDefaults(), running: make(chan struct{}, 1)}
}

// Run publishes until ctx ends.
func (p *Publisher) Run(ctx context.Context) {
	failing := periodic.Failing{Fails: "live popularity cannot be written to the index; it is retried", Again: "live popularity is written to the index again"}
	for range periodic.Every(ctx, publishEvery) {
		_, err := p.round(ctx, publishEvery)
		failing.Tell(ctx, p.cfg.Logger, err)
	}
}

// Flush publishes at once all items in the queue that other servers have not taken.
func (p *Publisher) Flush(ctx context.Context) error {
	for {
		n, err := p.round(ctx, 0)
		if n == 0 || err != nil {
			return err
		}
	}
}

// round publishes the items that it can take, and returns their number.
func (p *Publisher) round(ctx context.Context, turn time.Duration) (int, error) {
	select {
	case p.running <- struct{}{}:
		defer func() { <-p.running }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	whole := ctx
	ctx, cancel := context.WithTimeout(whole, p.cfg.Timeout)
	defer cancel()
	taken, err := p.queue.Take(ctx, publishAtOnce, publishLease, turn)
	if err != nil {
		return 0, err
	}
	waitingItems.Set(float64(taken.Waiting))
	if len(taken.Items) == 0 {
		return 0, nil
	}
	unknown, again, err := p.index.SetCounts(ctx, taken.Counts)
	if err != nil {
		// Retry them in the next turn, or, if this fails too, when the lease ends. The index may have
		// used up the time of the round, so this gets a new timeout.
		back, cancel := context.WithTimeout(context.WithoutCancel(whole), p.cfg.Timeout)
		_ = p.queue.Changed(back, again)
		cancel()
	}
	dropped := p.queue.Drop(ctx, unknown)
	done := slices.DeleteFunc(slices.Clone(taken.Items), func(id string) bool {
		return slices.Contains(again, id) || dropped != nil && slices.Contains(unknown, id)
	})
	return len(taken.Items), cmp.Or(err, dropped, p.queue.Done(ctx, taken.Until, done))
}
