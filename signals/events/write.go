package events

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/internal/metrics"
)

// Waits between two tries to reach the store.
const (
	firstWait = 100 * time.Millisecond
	mostWait  = 5 * time.Second
	// closingWait is how long Close bears with a store that fails: counts are no
	// promise, and what stops the process does not wait forever.
	closingWait = time.Second
)

// write writes one job after the other.
func (b *Buffer) write() {
	defer close(b.done)
	for j := range b.jobs {
		b.deliver(j.batches)
		for _, w := range j.waiting {
			close(w)
		}
		b.idle <- struct{}{}
	}
}

// deliver writes the batches, and tries those again that fail, until Close
// gives up, but for a last time.
func (b *Buffer) deliver(batches []*Batch) {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = firstWait, mostWait
	late := b.late
	for down := false; ; {
		failed, err := b.try(batches)
		if len(failed) == 0 {
			if down {
				b.cfg.Logger.InfoContext(b.ctx, "events are counted again")
			}
			return
		}
		if !down {
			b.cfg.Logger.WarnContext(b.ctx, "events cannot be counted now; they are kept and tried again", slog.Any("error", err))
		}
		batches, down = failed, true
		if late == nil || b.ctx.Err() != nil {
			for _, lost := range batches {
				drop(lost)
			}
			b.cfg.Logger.WarnContext(b.ctx, "stopped before all events were counted; reports miss them", slog.Any("error", err))
			return
		}
		select {
		case <-time.After(waits.NextBackOff()):
		case <-late:
			late = nil // once more
		case <-b.ctx.Done():
		}
	}
}

// try writes each batch once and returns those to try again. After a failure
// the later ones of its variant and day wait too: the store would take a batch
// for one it has had that comes after a later one.
func (b *Buffer) try(batches []*Batch) (failed []*Batch, first error) {
	stuck := map[slot]bool{}
	for _, batch := range batches {
		at := slot{batch.Variant, batch.Day}
		if stuck[at] {
			failed = append(failed, batch)
			continue
		}
		ctx, cancel := context.WithTimeout(b.ctx, b.cfg.Timeout)
		err := guard.Run(func() error { return b.store.Add(ctx, batch) })
		cancel()
		if err == nil {
			continue
		}
		if passing(err) {
			stuck[at] = true
			failed = append(failed, batch)
			if first == nil {
				first = err
			}
			continue
		}
		drop(batch)
		b.cfg.Logger.ErrorContext(b.ctx, "events cannot be counted; reports miss them",
			slog.String("variant", batch.Variant), slog.String("day", batch.Day.String()), slog.Any("error", err))
	}
	return failed, first
}

// passing reports whether trying again may help.
func passing(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func drop(b *Batch) {
	metrics.DroppedImpressions.Add(float64(b.Impressions))
	metrics.DroppedActs.Add(float64(len(b.Acts)))
	metrics.DroppedMembers.Add(float64(len(b.Agents) + len(b.Authors) + len(b.Explored) + len(b.Promoted) + len(b.PromotedActs)))
}
