package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

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

// work runs jobs and reports their outcome to the queue; one call completes all that are done.
func (r *Runner) work(list []Job) {
	start := time.Now()
	errs := r.run(r.handlers[list[0].Kind], list)
	took := time.Since(start)
	// Outcomes are reported even after Close has given up waiting.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), endTimeout)
	defer cancel()
	var done []Job
	for i, j := range list {
		if errs[i] == nil {
			done = append(done, j)
			continue
		}
		result, err := r.end(ctx, j, errs[i])
		r.recordAttempt(ctx, j, took, result, err)
	}
	if len(done) == 0 {
		return
	}
	ends, err := r.q.Done(ctx, done...)
	r.inactive(done...)
	for i, j := range done {
		var result string
		if err == nil {
			result = resultOf(ends[i])
		}
		r.recordAttempt(ctx, j, took, result, err)
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
