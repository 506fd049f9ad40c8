package events

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/freshet/freshet/internal/metrics"
	"github.com/freshet/freshet/internal/safego"
)

// writing holds the entries and counts of one write to the store.
type writing struct {
	*Buffer
	pages   []PageOf
	due     []entry
	batches []*Batch
	taken   bool // batches are set
}

// write writes what waits, and retries failures until Close gives up.
func (b *Buffer) write(ctx context.Context) {
	w := &writing{Buffer: b}
	b.mu.Lock()
	w.pages, w.due, b.pages, b.due = b.pages, b.due, nil, nil
	b.mu.Unlock()
	err := b.writes.Try(w.try, passing, func(err error) {
		b.cfg.Logger.WarnContext(ctx, "events cannot be counted; they are queued and retried", slog.Any("error", err))
	}, func() { b.cfg.Logger.InfoContext(ctx, "events are counted again") })
	if err == nil {
		return
	}
	w.settle()
	for i := range w.due {
		dropEntry(&w.due[i])
	}
	for _, lost := range w.batches {
		drop(lost)
	}
	b.cfg.Logger.WarnContext(ctx, "stopped before all events were counted; reports lack the rest", slog.Any("error", err))
}

// try continues the write where the last attempt failed: pages are remembered before anything is
// attributed to them.
func (w *writing) try(ctx context.Context) (err error) {
	if err := w.remember(ctx); err != nil {
		return err
	}
	if len(w.due) > 0 {
		known, err := w.store.PagesOf(ctx, agentsOf(w.due))
		if passing(err) {
			return err
		}
		if err != nil {
			w.cfg.Logger.ErrorContext(ctx, "the pages of agents cannot be read; acts on them are not counted", slog.Any("error", err))
			known = make([][]Page, len(w.due))
		}
		w.attribute(known)
		if err := w.remember(ctx); err != nil {
			return err
		}
	}
	w.settle()
	w.batches, err = w.add(ctx, w.batches)
	return err
}

// settle takes the sums, once.
func (w *writing) settle() {
	if w.taken {
		return
	}
	w.mu.Lock()
	w.batches, w.taken = w.sums.take(), true
	w.mu.Unlock()
}

// remember stores pages.
func (w *writing) remember(ctx context.Context) error {
	if len(w.pages) == 0 {
		return nil
	}
	err := w.store.Remember(ctx, w.pages)
	if passing(err) {
		return err
	}
	if err != nil {
		w.cfg.Logger.ErrorContext(ctx, "pages cannot be remembered; acts on them are not counted", slog.Any("error", err))
	}
	w.pages = nil
	return nil
}

// agentsOf returns the agents of entries, one for each.
func agentsOf(entries []entry) []uint64 {
	agents := make([]uint64, len(entries))
	for i := range entries {
		agents[i] = AgentHash(entries[i].agent())
	}
	return agents
}

// attribute sums what is due, given the pages known of the agent of each entry. Pages come first, in
// order: acts may be on them.
func (w *writing) attribute(known [][]Page) {
	pages := map[uint64][]Page{}
	for i, agent := range agentsOf(w.due) {
		inOrder(known[i])
		pages[agent] = known[i]
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ofPages := range []bool{true, false} {
		for _, e := range w.due {
			if (e.page != nil) == ofPages {
				safego.Log(w.cfg.Logger, "adding up events", func() { w.attributeEntry(e, pages) })
			}
		}
	}
	for i := range w.due {
		w.queued -= w.due[i].size()
	}
	w.due = nil
}

func (w *writing) attributeEntry(e entry, pages map[uint64][]Page) {
	agent := AgentHash(e.agent())
	switch {
	case e.page != nil:
		last := lastOf(pages[agent], e.page.Feed, e.now)
		if last == nil {
			w.sums.addEvents(e.page.Run, e.page.Promoted, e.now)
			return
		}
		offset := last.Offset + len(last.Items)
		if last.Run == e.page.Run {
			w.sums.addPage(last.Run, offset, e.page, e.now)
		}
		if len(e.page.Refs) == 0 {
			return
		}
		next := e.page.record(last.Run, offset, e.now)
		w.pages = append(w.pages, next)
		pages[agent] = append(pages[agent], next.Page)
		inOrder(pages[agent])
	case e.acts != nil:
		w.sums.addTracked(e.acts, pages[agent], e.now)
	default:
		w.sums.addReport(e.seen, pages[agent], e.now)
	}
}

// add writes each batch once and returns those to retry, with the first error. After a failure,
// later batches of the same variant and day wait too: the store would reject a batch that arrives
// after a later one as a duplicate.
func (w *writing) add(ctx context.Context, batches []*Batch) (failed []*Batch, first error) {
	stuck := map[slot]bool{}
	for _, batch := range batches {
		at := slot{batch.Variant, batch.Day}
		if stuck[at] {
			failed = append(failed, batch)
			continue
		}
		err := safego.Run(func() error { return w.store.Add(ctx, batch) })
		switch {
		case err == nil:
		case passing(err):
			stuck[at] = true
			failed, first = append(failed, batch), cmp.Or(first, err)
		default:
			drop(batch)
			w.cfg.Logger.ErrorContext(ctx, "events cannot be counted and were dropped; reports lack them",
				slog.String("variant", batch.Variant), slog.String("day", batch.Day.String()), slog.Any("error", err))
		}
	}
	return failed, first
}

// drop counts a lost batch.
func drop(b *Batch) {
	metrics.DroppedImpressions.Add(float64(b.Impressions))
	metrics.DroppedMembers.Add(float64(len(b.Agents) + len(b.Authors)))
	dropEvents(b.Events)
}
