package coread

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

// batchActs is the maximum number of acts passed to a store at once.
const batchActs = 1000

// Buffer passes acts to a store, one batch after the other, each as soon as the previous one is
// done: normally within milliseconds. While the store is unavailable it holds the acts and retries.
// A process that is killed loses only the acts that wait.
type Buffer struct {
	*signals.Buffer[[]Act]
	store Store
	log   *slog.Logger
}

// NewBuffer starts a buffer in front of a store; Close ends it. It ignores cancellation of ctx.
func NewBuffer(ctx context.Context, store Store, cfg signals.Config) *Buffer {
	cfg = cfg.WithDefaults()
	b := &Buffer{store: store, log: cfg.Logger}
	b.Buffer = signals.New(ctx, cfg, func(calls [][]Act) {
		for acts := range slices.Chunk(slices.Concat(calls...), batchActs) {
			b.deliver(ctx, acts)
		}
	})
	return b
}

// Acted counts what an agent reads now; it sets the agent and the time of the acts. It never blocks.
// It returns false if the queue is full and nothing was added.
func (b *Buffer) Acted(agent string, acts []Act, now time.Time) bool {
	for i := range acts {
		acts[i].Agent, acts[i].At = Agent(agent), now.Unix()
	}
	return b.Put(acts)
}

// Reads is [Store.Reads] by the agent's id.
func (b *Buffer) Reads(ctx context.Context, agent string, into []string) ([]string, error) {
	return b.store.Reads(ctx, Agent(agent), into)
}

// Near is [Store.Near].
func (b *Buffer) Near(ctx context.Context, reads, candidates []string, now time.Time, into []Nearness) ([]Nearness, error) {
	return b.store.Near(ctx, reads, candidates, now.Unix(), into)
}

// Related is [Store.Related].
func (b *Buffer) Related(ctx context.Context, item string, now time.Time) ([]Entry, error) {
	return b.store.Related(ctx, item, now.Unix())
}

// Remote is [Store.Remote].
func (b *Buffer) Remote() bool { return b.store.Remote() }

// Forget deletes an agent's last reads, by the agent's id, after counting waiting acts.
func (b *Buffer) Forget(ctx context.Context, agent string) error {
	if err := b.Flush(ctx); err != nil {
		return fmt.Errorf("%w: queued acts could not be counted: %w", ErrUnavailable, err)
	}
	return b.store.Forget(ctx, Agent(agent))
}

// ReadsOf lists an agent's last reads, by the agent's id, after counting waiting acts.
func (b *Buffer) ReadsOf(ctx context.Context, agent string) ([]string, error) {
	if err := b.Flush(ctx); err != nil {
		return nil, fmt.Errorf("%w: queued acts could not be counted: %w", ErrUnavailable, err)
	}
	return b.store.ReadsOf(ctx, Agent(agent))
}

func passes(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// deliver counts a batch and retries while the store is unavailable.
func (b *Buffer) deliver(ctx context.Context, acts []Act) {
	err := b.Try(func(ctx context.Context) error { return b.store.Add(ctx, acts) }, passes, func(err error) {
		b.log.WarnContext(ctx, "co-readers cannot be counted; clicks and likes are queued and retried", slog.Any("error", err))
	}, func() { b.log.InfoContext(ctx, "co-readers are counted again") })
	switch {
	case err == nil:
	case b.Ended():
		metrics.DroppedCoReaders.Add(float64(len(acts)))
		b.log.WarnContext(ctx, "stopped before all clicks and likes were counted; co-readers lack the rest", slog.Any("error", err))
	default:
		metrics.DroppedCoReaders.Add(float64(len(acts)))
		b.log.ErrorContext(ctx, "clicks or likes cannot be counted; co-readers lack them", slog.Int("acts", len(acts)), slog.Any("error", err))
	}
}
