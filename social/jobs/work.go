package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/freshet/freshet/internal/guard"
)

const (
	// endTimeout bounds what tells the queue how an attempt has ended.
	endTimeout = 10 * time.Second

	firstDelay = time.Second
	lastDelay  = 10 * time.Minute
	waitDelay  = 5 * time.Second
)

// Delay is how long a job rests after its n-th failed attempt, 1 the first: a
// second, doubled each time up to ten minutes, of which between half and all, as
// jitter in [0, 1) says. All [MaxAttempts] together take about half an hour.
func Delay(n int, jitter float64) time.Duration {
	return jittered(min(firstDelay<<min(max(n-1, 0), 20), lastDelay), jitter)
}

// WaitDelay is how long a job rests when a dependency is down.
func WaitDelay(jitter float64) time.Duration { return jittered(waitDelay, jitter) }

func jittered(d time.Duration, jitter float64) time.Duration {
	return d/2 + time.Duration(jitter*float64(d/2))
}

// work runs jobs and tells the queue their outcome.
func (r *Runner) work(list []Job) {
	kind := list[0].Kind
	start := time.Now()
	errs := r.run(r.handlers[kind], list)
	took := time.Since(start).Seconds()
	// The queue is told although Close has given up waiting.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), endTimeout)
	defer cancel()
	results, told := r.endAll(ctx, list, errs)
	for i, j := range list {
		if told[i] != nil {
			// Its lease is taken back, or runs out, and it is run again.
			r.doubts()
			r.cfg.Logger.ErrorContext(ctx, "the end of a job cannot be written", "kind", j.Kind, "key", j.Key, "error", told[i])
			continue
		}
		seconds.WithLabelValues(string(kind), results[i]).Observe(took)
	}
}

// endAll tells the queue how each attempt has ended; those that are done in one step.
func (r *Runner) endAll(ctx context.Context, list []Job, causes []error) (results []string, errs []error) {
	results, errs = make([]string, len(list)), make([]error, len(list))
	var done []Job
	var at []int
	for i, j := range list {
		if causes[i] == nil {
			done, at = append(done, j), append(at, i)
			continue
		}
		results[i], errs[i] = r.end(ctx, j, causes[i])
	}
	if len(done) == 0 {
		return results, errs
	}
	ends, err := r.q.DoneAll(ctx, done)
	r.inactive(done...)
	for i, place := range at {
		switch {
		case err != nil:
			errs[place] = err
		case ends[i].Lost:
			results[place] = resultLost
		case ends[i].Again:
			results[place] = resultAgain
		default:
			results[place] = string(Completed)
		}
	}
	return results, errs
}

// inactive forgets leases that have ended: they are not renewed any more.
func (r *Runner) inactive(list ...Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range list {
		if r.active[j.ID].Lease == j.Lease { // else it is leased again
			delete(r.active, j.ID)
		}
	}
}

// run calls the handler; a panic is a failure of all its jobs.
func (r *Runner) run(h Handler, list []Job) (errs []error) {
	err := guard.Run(func() error {
		if errs = h.Run(r.ctx, list); errs != nil && len(errs) != len(list) {
			return fmt.Errorf("%d answers for %d jobs", len(errs), len(list))
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

// end tells the queue that one attempt has failed.
func (r *Runner) end(ctx context.Context, j Job, cause error) (result string, err error) {
	defer r.inactive(j)
	switch {
	case r.ctx.Err() != nil: // broken off
		result, err = resultReturned, r.q.GiveBack(ctx, j)
	case errors.Is(cause, ErrWait):
		r.pause(j.Kind)
		result = resultWaiting
		_, err = r.q.Fail(ctx, j, Failure{Reason: cause.Error(), After: WaitDelay(rand.Float64()), Wait: true})
	default:
		var state State
		state, err = r.q.Fail(ctx, j, Failure{Reason: cause.Error(), After: Delay(j.Attempts, rand.Float64())})
		result = string(state)
		level := slog.LevelWarn
		if state == Dead {
			level = slog.LevelError
		}
		r.cfg.Logger.Log(ctx, level, "a job failed", "kind", j.Kind, "key", j.Key, "attempt", j.Attempts, "state", state, "error", cause)
	}
	if errors.Is(err, ErrLost) {
		return resultLost, nil
	}
	return result, err
}

// pause takes no job of a kind for a moment.
func (r *Runner) pause(kind Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paused[kind] = time.Now().Add(pause)
}
