package popularity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/freshet/freshet/internal/metrics"
)

// batchActs is how many acts a store is given at once, at most.
const batchActs = 5000

// Waits between two tries to reach the store.
const (
	firstWait = 100 * time.Millisecond
	mostWait  = 5 * time.Second
)

// BufferConfig tunes a Buffer. Zero values stand for the defaults.
type BufferConfig struct {
	Queue   int           // calls waiting to be counted; 8192
	Timeout time.Duration // deadline of one write; 5s
	Logger  *slog.Logger  // nil: nothing is logged
}

// Buffer hands acts to where they are counted, one batch after the other, each as
// soon as the one before is done: in milliseconds while all is well. While counting
// fails it holds the acts and tries again. A process that is killed loses the acts
// that wait, and nothing else.
type Buffer struct {
	counter Counter
	cfg     BufferConfig
	ctx     context.Context // ends when Close gives up
	abandon context.CancelFunc
	queue   chan entry
	quit    chan struct{} // closed by Close
	done    chan struct{} // closed when all is counted or given up
}

// entry are the acts of one call, or the wish to know when all before is counted.
type entry struct {
	acts    []Act
	counted chan struct{}
}

// NewBuffer starts a buffer in front of a counter; Close ends it. ctx's cancellation
// is ignored.
func NewBuffer(ctx context.Context, counter Counter, cfg BufferConfig) *Buffer {
	if cfg.Queue == 0 {
		cfg.Queue = 8192
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, abandon := context.WithCancel(context.WithoutCancel(ctx))
	b := &Buffer{
		counter: counter, cfg: cfg, ctx: ctx, abandon: abandon,
		queue: make(chan entry, cfg.Queue), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go b.run()
	return b
}

// Acted counts an agent's clicks and likes. It never blocks; false says that there
// is no room at the moment and nothing was taken.
func (b *Buffer) Acted(agent string, items []string, now time.Time) bool {
	acts := make([]Act, len(items))
	for i, item := range items {
		acts[i] = Act{Agent: Agent(agent), Item: item, At: now.Unix()}
	}
	select {
	case b.queue <- entry{acts: acts}:
		return true
	default:
		return false
	}
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
func (b *Buffer) Flush(ctx context.Context) error {
	counted := make(chan struct{})
	select {
	case b.queue <- entry{counted: counted}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-counted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close counts what is left, trying each batch once more, until ctx ends at the
// latest. Nothing may be handed over any more.
func (b *Buffer) Close(ctx context.Context) {
	close(b.quit)
	defer context.AfterFunc(ctx, b.abandon)()
	<-b.done
	b.abandon()
}

// run counts until Close, and then what is still queued.
func (b *Buffer) run() {
	defer close(b.done)
	for {
		select {
		case e := <-b.queue:
			b.next(e)
		case <-b.quit:
			for {
				select {
				case e := <-b.queue:
					b.next(e)
				default:
					return
				}
			}
		}
	}
}

// next counts an entry together with what waits behind it.
func (b *Buffer) next(e entry) {
	acts := e.acts
	for e.counted == nil && len(acts) < batchActs {
		select {
		case e = <-b.queue:
			acts = append(acts, e.acts...)
			continue
		default:
		}
		break
	}
	if len(acts) > 0 {
		b.deliver(acts)
	}
	if e.counted != nil {
		close(e.counted)
	}
}

// deliver counts a batch, and tries again while the store is unavailable, until the
// buffer is closed, but for a last time. What the store refuses is dropped, and
// nothing else of the batch.
func (b *Buffer) deliver(acts []Act) {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = firstWait, mostWait
	for quit, down := b.quit, false; ; down = true {
		ctx, cancel := context.WithTimeout(b.ctx, b.cfg.Timeout)
		err := b.counter.Count(ctx, acts)
		cancel()
		if err == nil {
			if down {
				b.cfg.Logger.InfoContext(b.ctx, "live popularity is counted again")
			}
			return
		}
		passing := errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
		switch {
		case passing || b.ctx.Err() != nil:
		case len(acts) > 1:
			b.deliver(acts[:len(acts)/2])
			b.deliver(acts[len(acts)/2:])
			return
		default:
			metrics.DroppedPopularity.Inc()
			b.cfg.Logger.ErrorContext(b.ctx, "a click or like cannot be counted; live popularity misses it", slog.String("item", acts[0].Item), slog.Any("error", err))
			return
		}
		if quit == nil || b.ctx.Err() != nil {
			metrics.DroppedPopularity.Add(float64(len(acts)))
			b.cfg.Logger.WarnContext(b.ctx, "stopped before all clicks and likes were counted; live popularity misses them", slog.Any("error", err))
			return
		}
		if !down {
			b.cfg.Logger.WarnContext(b.ctx, "live popularity cannot be counted now; clicks and likes are kept and tried again", slog.Any("error", err))
		}
		select {
		case <-time.After(waits.NextBackOff()):
		case <-quit:
			quit = nil // once more
		case <-b.ctx.Done():
		}
	}
}
