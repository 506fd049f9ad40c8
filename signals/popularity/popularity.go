// Package popularity counts what readers click and like, per item, so that a feed
// follows what is read at the moment: where acts are counted ([Counter]) and the
// [Buffer] that hands acts to it in the background. The counts themselves are
// [feed.Counts]; a recall source ranks by them ([recall.Counter]). In one process
// they are in a [Store] (popularity/sqlite). Several servers share them in Redis
// (popularity/redis), and a [Publisher] writes what has changed to the index that
// recall searches.
package popularity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/metrics"
	"github.com/freshet/freshet/signals"
)

// ErrUnavailable is wrapped by errors that say the store could not be asked at
// all; asking again later may help.
var ErrUnavailable = &feed.Outage{Text: "the store of live popularity is unavailable", Shown: "what the agent has clicked and liked cannot be forgotten now; try again later"}

// RememberDays is how many days a store remembers that an agent has acted on an
// item, the day of the act included. Until then acting on it again does not count.
const RememberDays = 90

// Act is a reader's click or like.
type Act struct {
	Agent uint64 // hash of the agent's id: [Agent]
	Item  string // id
	At    int64  // Unix seconds
}

// Agent stands for an agent in an [Act].
func Agent(id string) uint64 { return xxhash.Sum64String(id) }

// Counter counts acts.
//
// Count counts acts: one of each agent and item in [RememberDays] days, whatever
// comes again. Counting the same acts again, also where it failed, changes nothing.
//
// Forget forgets what an agent, by its [Agent] hash, has acted on. What it added to
// counts stays: they do not say whose acts they are of.
type Counter interface {
	Count(ctx context.Context, acts []Act) error
	Forget(ctx context.Context, agent uint64) error
}

// Store keeps the counts of items.
//
// Add counts acts, all of them or none: one of each agent and item in
// [RememberDays] days, whatever comes again, and none of an item that the catalog
// does not have. It returns the counts that have changed; zero ones are those of
// items whose counts have become negligible and are forgotten. Adding the same acts
// again changes nothing.
//
// Read returns the counts of all items that have some. An item that is deleted
// from the catalog loses its counts and is forgotten by those who acted on it.
// Forget is that of a [Counter].
//
// Errors wrap [ErrUnavailable], or are the context's.
type Store interface {
	Add(ctx context.Context, acts []Act) (map[string]feed.Counts, error)
	Read(ctx context.Context) (map[string]feed.Counts, error)
	Forget(ctx context.Context, agent uint64) error
}

// batchActs is how many acts a store is given at once, at most.
const batchActs = 5000

// Buffer hands acts to where they are counted, one batch after the other, each as
// soon as the one before is done: in milliseconds while all is well. While counting
// fails it holds the acts and tries again. A process that is killed loses the acts
// that wait, and nothing else.
type Buffer struct {
	*signals.Buffer[[]Act]
	counter Counter
	log     *slog.Logger
}

// NewBuffer starts a buffer in front of a counter; Close ends it. ctx's cancellation
// is ignored.
func NewBuffer(ctx context.Context, counter Counter, cfg signals.Config) *Buffer {
	cfg = cfg.WithDefaults()
	b := &Buffer{counter: counter, log: cfg.Logger}
	b.Buffer = signals.New(ctx, cfg, func(calls [][]Act) {
		for acts := range slices.Chunk(slices.Concat(calls...), batchActs) {
			b.deliver(ctx, acts)
		}
	})
	return b
}

// Acted counts an agent's clicks and likes. It never blocks; false says that there
// is no room at the moment and nothing was taken.
func (b *Buffer) Acted(agent string, items []string, now time.Time) bool {
	acts := make([]Act, len(items))
	for i, item := range items {
		acts[i] = Act{Agent: Agent(agent), Item: item, At: now.Unix()}
	}
	return b.Put(acts)
}

// Forget makes an agent's acts forgotten, by the agent's id: those that wait are
// counted before.
func (b *Buffer) Forget(ctx context.Context, agent string) error {
	if err := b.Flush(ctx); err != nil {
		return fmt.Errorf("%w: acts that wait are not counted: %w", ErrUnavailable, err)
	}
	return b.counter.Forget(ctx, Agent(agent))
}

func passes(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// deliver counts a batch, and tries again while the store is unavailable. What the store
// refuses is dropped, and nothing else of the batch.
func (b *Buffer) deliver(ctx context.Context, acts []Act) {
	err := b.Try(func(ctx context.Context) error { return b.counter.Count(ctx, acts) }, passes, func(err error) {
		b.log.WarnContext(ctx, "live popularity cannot be counted now; clicks and likes are kept and tried again", slog.Any("error", err))
	}, func() { b.log.InfoContext(ctx, "live popularity is counted again") })
	switch {
	case err == nil:
	case passes(err) || b.Ended():
		metrics.DroppedPopularity.Add(float64(len(acts)))
		b.log.WarnContext(ctx, "stopped before all clicks and likes were counted; live popularity misses them", slog.Any("error", err))
	case len(acts) > 1:
		b.deliver(ctx, acts[:len(acts)/2])
		b.deliver(ctx, acts[len(acts)/2:])
	default:
		metrics.DroppedPopularity.Inc()
		b.log.ErrorContext(ctx, "a click or like cannot be counted; live popularity misses it", slog.String("item", acts[0].Item), slog.Any("error", err))
	}
}
