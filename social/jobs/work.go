package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/safego"
)

const (
	// endTimeout bounds the calls that report the outcome of an attempt to the queue.
	endTimeout = 10 * time.Second

	firstDelay = time.Second
	lastDelay  = 10 * time.Minute
	waitDelay  = 5 * time.Second
)

// Delay returns the backoff after the n-th failed attempt, counted from 1: one second, doubled
// each time up to ten minutes, scaled to between half and all of it by jitter in [0, 1). All
// [MaxAttempts] together take about half an hour.
func Delay(n int, jitter float64) time.Duration {
	return jittered(min(firstDelay<<min(max(n-1, 0), 20), lastDelay), jitter)
}

// WaitDelay returns the time until the next attempt while a dependency is down.
func WaitDelay(jitter float64) time.Duration { return jittered(waitDelay, jitter) }

func jittered(d time.Duration, jitter float64) time.Duration {
	return d/2 + time.Duration(jitter*float64(d/2))
}

// work runs jobs and reports their outcome to the queue.
func (r *Runner) work(list []Job) {
	start := time.Now()
	errs := r.run(r.handlers[list[0].Kind], list)
	took := time.Since(start)
	// Outcomes are reported even after Close has given up waiting.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), endTimeout)
	defer cancel()
	var all []finished
	for i, j := range list {
		if errs[i] == nil {
			all = append(all, finished{j, took})
			continue
		}
		result, err := r.end(ctx, j, errs[i])
		r.recordAttempt(ctx, j, took, result, err)
	}
	r.complete(all)
}

// finished is a job that is done, and the time that its run took.
type finished struct {
	Job
	took time.Duration
}

const (
	// gathering is the least time between two calls that lease jobs, or complete them, while the queue is short.
	// Jobs gather meanwhile: both calls for each of them cost PostgreSQL more than storing a post does.
	gathering = 10 * time.Millisecond
	// mostGathered is how many may wait; a run with more completes them itself, so that a slow queue slows
	// the workers down.
	mostGathered = 100
)

// complete has jobs completed: at once, or with others if that has just been done. Until then they keep their
// leases.
func (r *Runner) complete(list []finished) {
	if len(list) == 0 {
		return
	}
	r.mu.Lock()
	first := len(r.gathered) == 0
	r.gathered = append(r.gathered, list...)
	full := len(r.gathered) >= mostGathered
	wait := gathering - time.Since(r.completedAt)
	r.mu.Unlock()
	switch {
	case full, first && wait <= 0:
		r.completeGathered()
	case first:
		r.runs.Go(func() {
			_ = periodic.Pause(r.leasing, wait) // Close does not wait
			safego.Log(r.cfg.Logger, "completing jobs", r.completeGathered)
		})
	}
}

// completeGathered reports the jobs that wait to be completed to the queue.
func (r *Runner) completeGathered() {
	r.mu.Lock()
	list := r.gathered
	r.gathered, r.completedAt = nil, time.Now()
	r.mu.Unlock()
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), endTimeout)
	defer cancel()
	done := convert.Each(list, func(f finished) Job { return f.Job })
	ends, err := r.q.Done(ctx, done...)
	r.inactive(done...)
	for i, f := range list {
		var result string
		if err == nil {
			result = resultOf(ends[i])
		}
		r.recordAttempt(ctx, f.Job, f.took, result, err)
	}
	if slices.Contains(ends, Pending) { // marked meanwhile, when they could not be leased
		select {
		case r.again <- struct{}{}:
		default:
		}
	}
}

// recordAttempt records the metrics of an attempt, or err if its outcome could not be reported to
// the queue.
func (r *Runner) recordAttempt(ctx context.Context, j Job, took time.Duration, result string, err error) {
	if err != nil {
		// The lease is taken back or expires, and the job runs again.
		r.noteFailedCall()
		r.cfg.Logger.ErrorContext(ctx, "cannot store the outcome of a job", "kind", j.Kind, "key", j.Key, "error", err)
		return
	}
	seconds.WithLabelValues(string(j.Kind), result).Observe(took.Seconds())
}

// inactive removes ended leases from r.active, so they are no longer renewed.
func (r *Runner) inactive(list ...Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range list {
		if r.active[j.ID].Lease == j.Lease { // otherwise it has been leased again
			delete(r.active, j.ID)
		}
	}
}

// run calls the handler; a panic is a failure of all its jobs.
func (r *Runner) run(h Handler, list []Job) (errs []error) {
	err := safego.Run(func() error {
		errs = h.Run(r.ctx, list)
		if errs != nil && len(errs) != len(list) {
			return fmt.Errorf("the handler returned %d results for %d jobs", len(errs), len(list))
		}
		return nil
	})
	if err == nil {
		if errs == nil {
			errs = make([]error, len(list))
		}
		return errs
	}
	r.cfg.Logger.ErrorContext(r.ctx, "panic in a job", "kind", list[0].Kind, "error", err)
	return slices.Repeat([]error{errors.New("panic; the log has the stack")}, len(list))
}

// end reports a failed attempt to the queue.
func (r *Runner) end(ctx context.Context, j Job, cause error) (result string, err error) {
	defer r.inactive(j)
	if r.ctx.Err() != nil { // interrupted by Close
		return resultReturned, r.q.Release(ctx, j)
	}
	f := Failure{Reason: cause.Error(), After: Delay(j.Attempts, rand.Float64())}
	f.Wait = errors.Is(cause, ErrWait)
	if f.Wait {
		r.pause(j.Kind)
		f.After = WaitDelay(rand.Float64())
	}
	state, err := r.q.Fail(ctx, j, f)
	if f.Wait && state != Lost {
		return resultWaiting, err
	}
	if !f.Wait {
		level := slog.LevelWarn
		if state == Dead {
			level = slog.LevelError
		}
		r.cfg.Logger.Log(ctx, level, "a job failed", "kind", j.Kind, "key", j.Key, "attempt", j.Attempts, "state", state, "error", cause)
	}
	return resultOf(state), err
}

// pause stops leasing jobs of a kind for the time of the constant pause.
func (r *Runner) pause(kind Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paused[kind] = time.Now().Add(pause)
}
