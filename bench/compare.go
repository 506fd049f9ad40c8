package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// side is one of the alternatives that are compared.
type side struct {
	name string
	// prepare sets up a round; it is not measured.
	prepare func(ctx context.Context, round int) error
	run     func(ctx context.Context, round int) (turn, error)
	// settle waits for background work that run has started. It counts towards the CPU time of
	// the processes, but not towards the time of the calls.
	settle func(ctx context.Context) error
}

// turn holds one side's measurements of one round.
type turn struct {
	took    time.Duration
	times   *hdrhistogram.Histogram // of each call, ns
	answers int64                   // bytes
}

// newTimes returns a histogram from 100 ns to a minute, with three digits.
func newTimes() *hdrhistogram.Histogram { return hdrhistogram.New(100, int64(time.Minute), 3) }

// total holds one side's measurements of all rounds.
type total struct {
	name  string
	turn  turn
	used  usage
	rates []float64 // calls per second, by round
}

// compare runs the sides in turns, because a machine's speed drifts: each round begins with a
// different side, and ratios are computed within a round.
func (b *bench) compare(ctx context.Context, rounds int, sides ...side) ([]total, error) {
	totals := make([]total, len(sides))
	for i, s := range sides {
		totals[i] = total{name: s.name, turn: turn{times: newTimes()}}
	}
	for round := range rounds {
		for k := range sides {
			i := (k + round) % len(sides)
			if err := b.turn(ctx, sides[i], round, &totals[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", sides[i].name, err)
			}
		}
	}
	return totals, nil
}

func (b *bench) turn(ctx context.Context, s side, round int, sum *total) error {
	if s.prepare != nil {
		if err := s.prepare(ctx, round); err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
	}
	before, err := b.meter.read(ctx)
	if err != nil {
		return err
	}
	t, err := s.run(ctx, round)
	if err == nil && s.settle != nil {
		err = s.settle(ctx)
	}
	if err != nil {
		return err
	}
	after, err := b.meter.read(ctx)
	if err != nil {
		return err
	}
	sum.used = sum.used.plus(after.minus(before))
	sum.turn.took += t.took
	sum.turn.answers += t.answers
	sum.turn.times.Merge(t.times)
	sum.rates = append(sum.rates, float64(t.times.TotalCount())/t.took.Seconds())
	return nil
}

// eachFor calls do repeatedly until the calls have taken d, at least a few times. do returns the
// duration to be counted.
func eachFor(ctx context.Context, d time.Duration, do func(i int) (time.Duration, error)) (turn, error) {
	const least = 3
	t := turn{times: newTimes()}
	for i := 0; t.took < d || i < least; i++ {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		took, err := do(i)
		if err != nil {
			return t, err
		}
		t.took += took
		if err := t.times.RecordValue(int64(took)); err != nil {
			return t, err
		}
	}
	return t, nil
}

// timed runs f and returns how long it took.
func timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}

// ratio compares two sides by their rates, round by round.
func ratio(of, to total) Ratio {
	r := Ratio{Of: of.name, To: to.name}
	for i := range of.rates {
		r.Rounds = append(r.Rounds, of.rates[i]/to.rates[i])
	}
	r.Median, r.Min, r.Max = median(r.Rounds), slices.Min(r.Rounds), slices.Max(r.Rounds)
	return r
}

// median returns the middle value, or the mean of the two in the middle. values must not be
// empty.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// measured converts the totals of a side for the report.
func (t total) measured() Case {
	calls := float64(t.turn.times.TotalCount())
	us := func(q float64) float64 { return float64(t.turn.times.ValueAtQuantile(q)) / 1e3 }
	c := Case{
		Name: t.name, Calls: t.turn.times.TotalCount(), PerSecond: median(t.rates),
		Latency: Latency{P50: us(50), P95: us(95), P99: us(99), Max: float64(t.turn.times.Max()) / 1e3},
		Allocs:  float64(t.used.mallocs) / calls, AllocBytes: float64(t.used.allocated) / calls,
		AnswerBytes: float64(t.turn.answers) / calls,
		CPU:         map[string]float64{},
	}
	for process, spent := range t.used.cpu {
		c.CPU[process] = float64(spent.Microseconds()) / calls
	}
	return c
}
