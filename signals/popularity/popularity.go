// Package popularity counts readers' clicks and likes per item, so that a feed follows current
// interest. A [Counter] counts acts; the [Buffer] passes acts to it in the background. The counts
// themselves are [feed.Counts]; a recall source ranks by them ([recall.Counter]). In a single
// process they are in a [Store] (popularity/sqlite). Several servers share them in Redis
// (popularity/redis), and a [Publisher] writes changed counts to the index that recall searches.
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

// ErrUnavailable is wrapped by errors that mean the store could not be reached; a retry may
// succeed.
var ErrUnavailable = &feed.Outage{Text: "the live popularity store is unavailable", Shown: "the record of the agent's clicks and likes cannot be deleted now; try again later"}

// RememberDays is the number of days that a store remembers that an agent has acted on an item,
// including the day of the act. During that time further acts of the agent on the item do not
// count.
const RememberDays = 90

// Kind is the kind of an [Act].
type Kind uint8

// The kinds of acts.
const (
	Click Kind = iota
	Like
	Unlike // takes a like back
)

// Act is what a reader does with an item.
type Act struct {
	Agent uint64 // hash of the agent's id: [Agent]
	Item  string // id
	At    int64  // Unix seconds
	Kind  Kind
}

// Agent returns the hash of an agent's id for an [Act].
func Agent(id string) uint64 { return xxhash.Sum64String(id) }

// Counter counts acts.
//
// Count counts one act of each agent and item in [RememberDays] days and ignores repetitions.
// Counting the same acts again, even after a failure, changes nothing. An [Unlike] subtracts what
// is left of the act that was counted, unless the agent has also clicked on the item; of earlier
// likes that come in later, it prevents the count.
//
// Forget deletes the record of the items that an agent, by its [Agent] hash, has acted on. The
// agent's contributions to counts remain: counts do not identify agents.
type Counter interface {
	Count(ctx context.Context, acts []Act) error
	Forget(ctx context.Context, agent uint64) error
}

// Store stores the counts of items.
//
// Add counts acts as [Counter] does, all of them or none, and none of items that the catalog does
// not have. It returns the counts that have
// changed; zero counts are those of items with negligible counts that were deleted. Adding the same
// acts again changes nothing.
//
// Read returns the counts of all items that have some. When an item is deleted from the catalog,
// its counts and the records of who acted on it are deleted. Forget is as for [Counter].
//
// Errors wrap [ErrUnavailable], or are the context's.
type Store interface {
	Add(ctx context.Context, acts []Act) (map[string]feed.Counts, error)
	Read(ctx context.Context) (map[string]feed.Counts, error)
	Forget(ctx context.Context, agent uint64) error
}

// Readers tells how many distinct agents have clicked or liked an item within [RememberDays], those
// who have taken a like back included; 0 for an item that is not counted. Errors are those of [Store].
type Readers interface {
	Readers(ctx context.Context, item string) (int64, error)
}

// ActList tells which items an agent, by its [Agent] hash, has acted on within [RememberDays], and the day of the
// last act on each. Errors are those of [Store].
type ActList interface {
	ActsOf(ctx context.Context, agent uint64) (map[string]feed.Day, error)
}

// batchActs is the maximum number of acts passed to a store at once.
const batchActs = 5000

// Buffer passes acts to a counter, one batch after the other, each as soon as the previous one is
// done: normally within milliseconds. While counting fails it holds the acts and retries. A process
// that is killed loses only the acts that wait.
type Buffer struct {
	*signals.Buffer[[]Act]
	counter Counter
	log     *slog.Logger
}

// NewBuffer starts a buffer in front of a counter; Close ends it. It ignores cancellation of ctx.
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

// Acted counts what an agent does now; it sets the agent and the time of the acts. It never blocks.
// It returns false if the queue is full and nothing was added.
func (b *Buffer) Acted(agent string, acts []Act, now time.Time) bool {
	for i := range acts {
		acts[i].Agent, acts[i].At = Agent(agent), now.Unix()
	}
	return b.Put(acts)
}

// Forget deletes the record of an agent's acts, by the agent's id, after counting waiting acts.
func (b *Buffer) Forget(ctx context.Context, agent string) error {
	if err := b.Flush(ctx); err != nil {
		return fmt.Errorf("%w: queued acts could not be counted: %w", ErrUnavailable, err)
	}
	return b.counter.Forget(ctx, Agent(agent))
}

// ActsOf tells which items an agent has acted on, by the agent's id, after counting waiting acts.
func (b *Buffer) ActsOf(ctx context.Context, agent string) (map[string]feed.Day, error) {
	if err := b.Flush(ctx); err != nil {
		return nil, fmt.Errorf("%w: queued acts could not be counted: %w", ErrUnavailable, err)
	}
	list, ok := b.counter.(ActList)
	if !ok {
		return nil, nil
	}
	return list.ActsOf(ctx, Agent(agent))
}

func passes(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// deliver counts a batch and retries while the store is unavailable. Acts that the store rejects
// are dropped, without the rest of the batch.
func (b *Buffer) deliver(ctx context.Context, acts []Act) {
	err := b.Try(func(ctx context.Context) error { return b.counter.Count(ctx, acts) }, passes, func(err error) {
		b.log.WarnContext(ctx, "live popularity cannot be counted; clicks and likes are queued and retried", slog.Any("error", err))
	}, func() { b.log.InfoContext(ctx, "live popularity is counted again") })
	switch {
	case err == nil:
	case passes(err) || b.Ended():
		metrics.DroppedPopularity.Add(float64(len(acts)))
		b.log.WarnContext(ctx, "stopped before all clicks and likes were counted; live popularity lacks the rest", slog.Any("error", err))
	case len(acts) > 1:
		b.deliver(ctx, acts[:len(acts)/2])
		b.deliver(ctx, acts[len(acts)/2:])
	default:
		metrics.DroppedPopularity.Inc()
		b.log.ErrorContext(ctx, "a click or like cannot be counted; live popularity lacks it", slog.String("item", acts[0].Item), slog.Any("error", err))
	}
}
