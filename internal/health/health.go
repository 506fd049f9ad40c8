// Package health asks the services that the system stands on how they are.
package health

import (
	"context"
	"sync"
	"time"

	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/breaker"
	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/internal/repeat"
)

// Check asks a service how it is. Optional services are reported, but leave the
// server ready: without them it still answers, degraded, and all servers share
// them, so that taking one out of rotation would take out all.
type Check func(context.Context) handler.Dependency

// Checks are the services the system stands on. What runs in this process
// needs no asking.
type Checks map[string]Check

var _ handler.Health = Checks(nil)

// Check asks all of them at once.
func (c Checks) Check(ctx context.Context) map[string]handler.Dependency {
	var mu sync.Mutex
	var wg sync.WaitGroup
	states := make(map[string]handler.Dependency, len(c))
	for name, service := range c {
		wg.Go(func() {
			var state handler.Dependency
			if err := guard.Run(func() error { state = service(ctx); return nil }); err != nil {
				state.Err = err
			}
			mu.Lock()
			defer mu.Unlock()
			states[name] = state
		})
	}
	wg.Wait()
	return states
}

// lookTimeout is the longest a look at the services for the metrics may take.
const lookTimeout = 2 * time.Second

// Watch keeps the metric of what is up until ctx ends. Reading the
// metrics must not wait for a service that does not answer.
func (c Checks) Watch(ctx context.Context, pause time.Duration) {
	c.Look(ctx)
	repeat.Every(ctx, pause, c.Look)
}

// Look asks all of them for the metric.
func (c Checks) Look(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	for name, state := range c.Check(asking) {
		if ctx.Err() == nil {
			breaker.Looked(name, state.Err == nil)
		}
	}
}
