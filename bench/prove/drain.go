package prove

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// drain has every reader ask to the end, until nothing that is owed to anybody is missing, or
// [Options.Settle] is over. What is missing then is lost.
func (r *run) drain(ctx context.Context) error {
	until := r.now() + r.o.Settle
	var agents []int
	for a := range r.o.Agents {
		agents = append(agents, a)
	}
	err := each(ctx, 8, agents, func(ctx context.Context, a int) error {
		for n := 0; ; n++ {
			if err := r.toTheEnd(ctx, a, n); err != nil {
				return err
			}
			if len(r.model.missing(agent(a), never)) == 0 || r.now() > until {
				return nil
			}
			if err := pause(ctx, time.Second); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("after the load: %w", err)
	}
	for _, a := range agents {
		r.lost(agent(a))
	}
	return nil
}

// mostPages bounds the pages of one reader in a row.
const mostPages = 2000

// toTheEnd asks for pages until one is empty.
func (r *run) toTheEnd(ctx context.Context, a, round int) error {
	for n := range mostPages {
		// Steps of the plan have lower numbers.
		s := step{n: 1_000_000_000 + round*mostPages + n, kind: read, a: agent(a), device: n % 2, more: n > 0}
		got, err := r.ask(ctx, s)
		if err != nil || got == 0 {
			return err
		}
	}
	return nil
}

// ask is next without the judgement of times and empty pages, which are those of the load.
func (r *run) ask(ctx context.Context, s step) (int, error) {
	c := Call{Reader: s.a, Device: s.device, RequestID: fmt.Sprintf("%s-%d", s.a, s.n), More: s.more, Limit: r.o.Limit}
	var p Page
	tries := r.persist(ctx, s, func(ctx context.Context, server int) (err error) {
		p, err = r.sys.Next(ctx, server, c)
		return err
	})
	r.journal.read(c, tries, p)
	last := tries[len(tries)-1]
	if last.err != nil {
		r.gaveUp(s.a)
		return 0, last.err
	}
	for _, v := range r.model.show(c, p, last.span) {
		r.found(c, v, last.span)
	}
	return len(p.Entries), nil
}

// lost counts what a reader was never shown. A page whose call was given up may have had as many
// entries as it asked for, and counts as shown: that many are counted apart.
func (r *run) lost(reader string) {
	missing := r.model.missing(reader, never)
	excused := 0
	if n, ok := r.unsure.Load(reader); ok {
		excused = min(len(missing), *n.(*int)*r.o.Limit)
	}
	r.tally.mu.Lock()
	r.tally.lostUnanswered += excused
	r.tally.lost += len(missing) - excused
	r.tally.mu.Unlock()
	for _, key := range missing[min(excused, len(missing)):] {
		e := r.model.entries[key]
		r.finding(Finding{
			Kind: "lost", Reader: reader, Entry: key, At: cmp.Or(e.published.end, e.published.begin).Seconds(),
			Text: fmt.Sprintf("%s was never shown %s of %s, which was published at %.3f s, and asked to the end", reader, key, e.Author, e.published.end.Seconds()),
		}, e.published)
	}
}
