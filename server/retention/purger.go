// Package retention knows everything that Freshet stores, for how long, and what removes it, and removes what
// has expired.
package retention

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/internal/periodic"
)

const (
	// Every is the pause between two rounds.
	Every = 10 * time.Minute
	// firstAfter is the pause before the first: a server that has just started has readers to answer.
	firstAfter = time.Minute
	// mostSteps bounds the steps of a task in a round, and stepPause leaves the store to other writers
	// between them.
	mostSteps = 100
	stepPause = 100 * time.Millisecond
)

var purged = promauto.NewCounterVec(prometheus.CounterOpts{
	Name: "freshet_purged_total",
	Help: "What was removed because it had expired, by kind: rows of tables, items, records of learned data.",
}, []string{"what"})

// Task removes one kind of data, or several in one store.
type Task struct {
	Name string // for the log
	// Step removes some of what has expired, as of the time of the store, and returns how much of each
	// kind; more reports that the next step may find more at once. After an error it may have removed some.
	Step func(ctx context.Context) (removed map[string]int, more bool, err error)
	// Kinds are names that the metric has from the start, with 0; it has others once something is removed.
	Kinds []string
	// Own means that the data are this server's alone. What servers share, one of them removes.
	Own bool
}

// Purger runs tasks in rounds, one after the other. Work that is left after a round waits for the next.
type Purger struct {
	tasks []task
	turn  func(ctx context.Context) (bool, error)
	log   *slog.Logger
}

type task struct {
	Task
	failing periodic.Failing
}

// New returns a purger. turn reports whether this server does the due round for all of them; nil means
// always. Two servers that do at the same time do no harm.
func New(turn func(ctx context.Context) (bool, error), log *slog.Logger, tasks ...Task) *Purger {
	p := &Purger{turn: turn, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
	for _, t := range tasks {
		for _, what := range t.Kinds {
			purged.WithLabelValues(what)
		}
		p.tasks = append(p.tasks, task{t, periodic.Failing{
			Fails: "not all that has expired can be removed; the next round continues", Again: "what has expired is removed again",
		}})
	}
	return p
}

// Run makes a round a minute after the start and then every ten minutes, until ctx ends.
func (p *Purger) Run(ctx context.Context) {
	if periodic.Pause(ctx, firstAfter) != nil {
		return
	}
	for range periodic.Now(ctx, Every) {
		p.Round(ctx)
	}
}

// Round removes what has expired, as far as the bounds of a round permit, and logs how much.
func (p *Purger) Round(ctx context.Context) {
	shared, err := p.isTurn(ctx)
	removed := map[string]int{}
	for i := range p.tasks {
		t := &p.tasks[i]
		switch {
		case t.Own || shared:
			t.failing.Tell(ctx, p.log, t.run(ctx, removed), "what", t.Name)
		case err != nil:
			t.failing.Tell(ctx, p.log, err, "what", t.Name)
		}
	}
	if len(removed) == 0 {
		return
	}
	args := []any{}
	for _, what := range slices.Sorted(maps.Keys(removed)) {
		args = append(args, what, removed[what])
	}
	p.log.InfoContext(ctx, "what had expired was removed", args...)
}

func (p *Purger) isTurn(ctx context.Context) (bool, error) {
	if p.turn == nil {
		return true, nil
	}
	return p.turn(ctx)
}

// run makes the steps of a round.
func (t *task) run(ctx context.Context, removed map[string]int) error {
	for range mostSteps {
		some, more, err := t.Step(ctx)
		for what, n := range some {
			if n > 0 {
				removed[what] += n
				purged.WithLabelValues(what).Add(float64(n))
			}
		}
		if err != nil || !more {
			return err
		}
		if err := periodic.Pause(ctx, stepPause); err != nil {
			return err
		}
	}
	return nil
}
