// Package health checks the state of the services that the system depends on.
package health

import (
	"context"
	"sync"
	"time"

	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/server/breaker"
)

// Check returns the state of a service. Optional services are reported, but do not make the server
// unready: without them it still answers, degraded, and since all servers share them, all would
// leave the rotation at once.
type Check func(context.Context) handler.Dependency

// Checks holds the checks of the services that the system depends on, by name. Components in this
// process need no check.
type Checks map[string]Check

var _ handler.Health = Checks(nil)

// Check runs all checks concurrently.
func (c Checks) Check(ctx context.Context) map[string]handler.Dependency {
	var mu sync.Mutex
	var wg sync.WaitGroup
	states := make(map[string]handler.Dependency, len(c))
	for name, service := range c {
		wg.Go(func() {
			var state handler.Dependency
			if err := safego.Run(func() error { state = service(ctx); return nil }); err != nil {
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

// checkTimeout is the time limit for checking the services for the metrics.
const checkTimeout = 2 * time.Second

// Watch updates the metric of the services' state until ctx ends. Reading the metrics must not wait
// for a service that does not answer.
func (c Checks) Watch(ctx context.Context, pause time.Duration) {
	for range periodic.Now(ctx, pause) {
		c.CheckAll(ctx)
	}
}

// CheckAll runs all checks and updates the metric.
func (c Checks) CheckAll(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for name, state := range c.Check(asking) {
		if ctx.Err() == nil {
			breaker.RecordCheck(name, state.Err == nil)
		}
	}
}
