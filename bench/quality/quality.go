// Package quality measures rankings on real readers: it replays what a community
// published and read through the engine, in the order of time, and asks just
// before each read where every ranking would have placed the item.
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

// Options say what is measured.
type Options struct {
	Config configs.Config // of Freshet; its ranking is the default one
	Also   []string       // more rankings, each as changes to the default
	// From and Until bound what is measured, Until excluded; zero: no bound. What
	// comes before From is replayed all the same, for what is learned of it.
	From, Until time.Time
	Window      time.Duration   // how old a candidate may be; 0: 7 days
	Count       map[string]bool // readers who count; nil: all. The others are replayed, too
	Half        Half            // of those, who counts; "": all
	Progress    io.Writer       // nil: none
}

// WithDefaults fills in what is not set.
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

// Validate says what is wrong with the options.
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

// counts reports whether what a reader read is measured.
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
	rankings   []feed.Ranking // of those that the engine ranks by
	board      *board
}

// Measure replays the data and reports on each ranking. The same data and options
// give the same report.
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

// begin starts Freshet in a directory of this run.
func begin(ctx context.Context, d *Data, o Options, list []contender) (*replay, error) {
	r := &replay{o: o, data: d, past: newPast(d, o.Window), contenders: list, board: newBoard(d, list)}
	for _, c := range list {
		if c.order == nil {
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

// end removes what the run has made, also when ctx has ended.
func (r *replay) end(ctx context.Context) error {
	return errors.Join(r.community.close(context.WithoutCancel(ctx)), os.RemoveAll(r.dir))
}

// run goes through the events. Those of one second are one moment: all their
// readers are asked before any of them has read.
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

// step replays the events of one moment.
func (r *replay) step(ctx context.Context, now []event, measured bool) error {
	at := now[0].at
	if err := r.community.advance(ctx, at); err != nil {
		return err
	}
	if err := r.community.publish(ctx, r.past.firstAt(at)); err != nil {
		return err
	}
	asked := map[pair]bool{}
	for i := range now {
		e := &now[i]
		if !measured || !e.reads() || !r.o.counts(e.reader) || !r.past.isFirst(e) || asked[r.past.of(e)] {
			continue
		}
		asked[r.past.of(e)] = true
		if err := r.measure(ctx, e); err != nil {
			return err
		}
	}
	// The first readers of an item read it at its own time.
	if err := r.community.publish(ctx, r.past.firstAt(at+1)); err != nil {
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

// measure asks where each ranking places what is about to be read. Who reads an
// item at its own time has mostly brought it, and was not led to it by a list.
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
	lists := make([][]int, len(r.contenders))
	for i, c := range r.contenders {
		if c.order != nil {
			lists[i] = c.order(m)
		} else {
			lists[i], ranked = ranked[0], ranked[1:]
		}
	}
	r.board.add(e, m, lists)
	return nil
}
