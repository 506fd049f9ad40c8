package popularity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/freshet/freshet/internal/metrics"
	"github.com/freshet/freshet/signals"
)

// batchActs is how many acts a store is given at once, at most.
const batchActs = 5000

// Buffer hands acts to where they are counted, one batch after the other, each as
// soon as the one before is done: in milliseconds while all is well. While counting
// fails it holds the acts and tries again. A process that is killed loses the acts
// that wait, and nothing else.
type Buffer struct {
	counter Counter
	log     *slog.Logger
	waiting *signals.Buffer[[]Act]
}

// NewBuffer starts a buffer in front of a counter; Close ends it. ctx's cancellation
// is ignored.
func NewBuffer(ctx context.Context, counter Counter, cfg signals.Config) *Buffer {
	cfg = cfg.WithDefaults()
	b := &Buffer{counter: counter, log: cfg.Logger}
	b.waiting = signals.New(ctx, cfg, func(calls [][]Act) {
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
	return b.waiting.Put(acts)
}

// Forget makes an agent's acts forgotten, by the agent's id: those that wait are
// counted before.
func (b *Buffer) Forget(ctx context.Context, agent string) error {
	if err := b.Flush(ctx); err != nil {
		return fmt.Errorf("%w: acts that wait are not counted: %w", ErrUnavailable, err)
	}
	return b.counter.Forget(ctx, Agent(agent))
}

// Flush returns when all that was handed over before is counted.
func (b *Buffer) Flush(ctx context.Context) error { return b.waiting.Flush(ctx) }

// Close counts what is left, trying each batch once more, until ctx ends at the
// latest. Nothing may be handed over any more.
func (b *Buffer) Close(ctx context.Context) { b.waiting.Close(ctx) }

func passes(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// deliver counts a batch, and tries again while the store is unavailable. What the store
// refuses is dropped, and nothing else of the batch.
func (b *Buffer) deliver(ctx context.Context, acts []Act) {
	err := b.waiting.Try(func(ctx context.Context) error { return b.counter.Count(ctx, acts) }, passes, func(err error) {
		b.log.WarnContext(ctx, "live popularity cannot be counted now; clicks and likes are kept and tried again", slog.Any("error", err))
	}, func() { b.log.InfoContext(ctx, "live popularity is counted again") })
	switch {
	case err == nil:
	case passes(err) || b.waiting.Ended():
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
