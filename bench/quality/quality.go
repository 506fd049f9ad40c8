// Package quality measures rankings on real readers: it replays the published items and the reads
// of a community through the engine, in chronological order, and determines just before each read
// where every ranking would have placed the item.
package quality

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
)

// Options configures a measurement.
type Options struct {
	Config configs.Config // Freshet's configuration; its ranking is the default one
	Also   []string       // further rankings, each as changes to the default
	// From and Until bound the measured reads, Until excluded; zero means no bound. Earlier
	// events are still replayed, for learning.
	From, Until time.Time
	Window      time.Duration   // maximum age of a candidate; 0 means 7 days
	Count       map[string]bool // readers who count; nil means all. The others are still replayed
	Half        Half            // half of these readers that counts; "" means all
	Progress    io.Writer       // nil for none
}

// WithDefaults returns the options with defaults for unset fields.
func (o Options) WithDefaults() Options {
	if o.Window == 0 {
		o.Window = 7 * day
	}
	if o.Half == "" {
		o.Half = All
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o
}

// Validate checks the options.
func (o Options) Validate() error {
	switch {
	case o.Window < time.Second || daysOf(o.Window) > mostDays:
		return fmt.Errorf("--window must be 1s to %dd, not %s", mostDays-1, o.Window)
	case !o.From.IsZero() && !o.Until.IsZero() && !o.From.Before(o.Until):
		return errors.New("--from must be before --until")
	}
	_, err := contenders(o.Config.Ranking, o.Also)
	return err
}

// counts reports whether the reads of a reader are measured.
func (o *Options) counts(reader string) bool {
	return (o.Count == nil || o.Count[reader]) && o.Half.has(reader)
}

// replay is one run.
type replay struct {
	o          Options
	data       *Data
	past       *past
	dir        string
	community  *community
	contenders []contender
	rankings   []feed.Ranking // rankings of the contenders ranked by the engine
	placebos   []feed.Ranking // those of contenders that are placebos
	board      *board
}

// Measure replays the data and reports on each ranking. The result is deterministic.
func Measure(ctx context.Context, d *Data, o Options) (_ *Report, err error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	list, err := contenders(o.Config.Ranking, o.Also)
	if err != nil {
		return nil, err
	}
	r, err := begin(ctx, d, o, list)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.end(ctx)) }()
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.report()
}

// begin starts Freshet in a temporary directory.
func begin(ctx context.Context, d *Data, o Options, list []contender) (*replay, error) {
	r := &replay{o: o, data: d, past: newPast(d, o.Window), contenders: list, board: newBoard(d, list)}
	for _, c := range list {
		switch {
		case c.placebo:
			r.placebos = append(r.placebos, c.ranking)
		case c.order == nil:
			r.rankings = append(r.rankings, c.ranking)
		}
	}
	var err error
	if r.dir, err = os.MkdirTemp("", "freshet-bench-"); err != nil {
		return nil, err
	}
	if r.community, err = open(ctx, o.Config, r.dir, d, o.Window); err != nil {
		return nil, errors.Join(err, os.RemoveAll(r.dir))
	}
	return r, nil
}

// end removes everything that the run created, also after ctx has ended.
func (r *replay) end(ctx context.Context) error {
	return errors.Join(r.community.close(context.WithoutCancel(ctx)), os.RemoveAll(r.dir))
}

// run replays the events. Those of the same second form one moment: all their reads are measured
// before any of them is applied.
func (r *replay) run(ctx context.Context) error {
	all := r.data.events
	for from, to := 0, 0; from < len(all); from = to {
		for to = from; to < len(all) && all[to].at == all[from].at; to++ {
			if to%5000 == 4999 {
				fmt.Fprintf(r.o.Progress, "replayed %d of %d events\n", to+1, len(all))
			}
		}
		at := time.Unix(all[from].at, 0)
		if !r.o.Until.IsZero() && !at.Before(r.o.Until) {
			return nil
		}
		if err := r.step(ctx, all[from:to], !at.Before(r.o.From)); err != nil {
			return fmt.Errorf("at %s: %w", at.UTC().Format(time.RFC3339), err)
		}
	}
	return nil
}

// counts reports whether an event is the first reading of an item by a reader who counts.
func (r *replay) counts(e *event) bool {
	return e.reads() && r.o.counts(e.reader) && r.past.isFirst(e)
}

// step replays the events of one moment.
func (r *replay) step(ctx context.Context, now []event, measured bool) error {
	at := now[0].at
	if err := r.community.advance(ctx, at); err != nil {
		return err
	}
	if err := r.community.publish(ctx, r.past.FirstAt(at)); err != nil {
		return err
	}
	asked := map[pair]bool{}
	for i := range now {
		e := &now[i]
		if !measured || !r.counts(e) {
			continue
		}
		of := r.past.of(e)
		if asked[of] {
			continue
		}
		asked[of] = true
		if err := r.measure(ctx, e); err != nil {
			return err
		}
	}
	// Items can be read at their own time.
	if err := r.community.publish(ctx, r.past.FirstAt(at+1)); err != nil {
		return err
	}
	for i := range now {
		if err := r.community.act(ctx, &now[i]); err != nil {
			return err
		}
		r.past.add(&now[i])
	}
	return nil
}

// measure determines where each ranking places the item about to be read. It skips a read at the
// item's own time: that reader probably posted the item and was not led to it by a list.
func (r *replay) measure(ctx context.Context, e *event) error {
	if r.data.items[e.item].UpdateTime >= e.at {
		r.board.leftOut++
		return nil
	}
	m := r.past.moment(e.reader, e.at)
	ranked, err := r.community.rank(ctx, m, r.o.Window, r.rankings)
	if err != nil {
		return err
	}
	placebos, err := r.community.rank(withReads(ctx, r.past.readsOfAnother(m)), m, r.o.Window, r.placebos)
	if err != nil {
		return err
	}
	lists := make([][]int, len(r.contenders))
	for i, c := range r.contenders {
		switch {
		case c.placebo:
			lists[i], placebos = placebos[0], placebos[1:]
		case c.order != nil:
			lists[i] = c.order(m)
		default:
			lists[i], ranked = ranked[0], ranked[1:]
		}
	}
	r.board.add(e, m, lists)
	return nil
}
