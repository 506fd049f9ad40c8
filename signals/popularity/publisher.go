package popularity

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/signals"
)

var waitingItems = promauto.NewGauge(prometheus.GaugeOpts{
	Name: "freshet_popularity_waiting", Help: "Items whose live popularity is yet to be written to the index, of all servers together.",
})

// Bounds of what is written: all servers together write atOnce items each
// publishEvery, 12,000 a minute. What a server has taken and not written, because it
// was killed or the index is down, another takes after the lease.
const (
	publishEvery  = 5 * time.Second
	publishAtOnce = 1000
	publishLease  = 30 * time.Second
)

// Queue is the items whose counts have changed and are to be written to an index,
// shared by servers. An item is on it once, however often it changes.
//
// Changed puts items on it. Take takes those that are on it longest, n at most, for
// a lease; within a turn only one of all servers gets any, unless turn is 0. Done
// takes items off that have not changed since they were taken. Drop forgets the
// counts of items and who acted on them: they are deleted.
type Queue interface {
	Changed(ctx context.Context, items []string) error
	Take(ctx context.Context, n int, lease, turn time.Duration) (Taken, error)
	Done(ctx context.Context, until string, items []string) error
	Drop(ctx context.Context, items []string) error
}

// Taken are items that a server has taken off a [Queue] for a while.
type Taken struct {
	Items   []string
	Counts  map[string]feed.Counts // of those that have some
	Until   string                 // for Done
	Waiting int64                  // how many items the queue has
}

// Index is where a recall source finds live popularity. SetCounts replaces the
// counts of items. unknown are those that the index does not have, again those that
// are to be tried once more; the error says why. All others are done.
type Index interface {
	SetCounts(ctx context.Context, counts map[string]feed.Counts) (unknown, again []string, err error)
}

// Publisher writes the counts that have changed from a queue to an index, some every
// few seconds. Any number of servers may have one each.
type Publisher struct {
	queue   Queue
	index   Index
	cfg     signals.Config
	running chan struct{} // has a value while a round runs
}

// NewPublisher returns a publisher that does nothing until it is told to. The timeout is
// that of one round.
func NewPublisher(queue Queue, index Index, cfg signals.Config) *Publisher {
	return &Publisher{queue: queue, index: index, cfg: cfg.WithDefaults(), running: make(chan struct{}, 1)}
}

// Run publishes until ctx ends.
func (p *Publisher) Run(ctx context.Context) {
	failing := repeat.Failing{Fails: "live popularity cannot be written to the index now; it is tried again", Again: "live popularity is written to the index again"}
	repeat.Every(ctx, publishEvery, func(ctx context.Context) {
		_, err := p.round(ctx, publishEvery)
		failing.Tell(ctx, p.cfg.Logger, err)
	})
}

// Flush publishes all that is on the queue and not taken by other servers, at once.
func (p *Publisher) Flush(ctx context.Context) error {
	for {
		n, err := p.round(ctx, 0)
		if n == 0 || err != nil {
			return err
		}
	}
}

// round publishes what it can take, and answers how many items it took.
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
		// For the next turn; where this fails, for when the lease ends. The index may have
		// taken all of the round's time.
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
