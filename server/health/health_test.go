package health

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/handler"
)

func up(t *testing.T, name string) float64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "freshet_dependency_up" && m.GetLabel()[0].GetValue() == name {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("nothing is told of %s", name)
	return 0
}

// slow is a service that answers after d, unless the caller's context ends before.
func slow(d time.Duration) Check {
	return func(ctx context.Context) handler.Dependency {
		select {
		case <-time.After(d):
			return handler.Dependency{Optional: true}
		case <-ctx.Done():
			return handler.Dependency{Err: ctx.Err()}
		}
	}
}

// TestCheckQueriesInParallel checks that the services are queried in parallel: the check takes
// as long as the slowest one.
func TestCheckQueriesInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		states := Checks{"a": slow(time.Second), "b": slow(2 * time.Second), "c": slow(2 * time.Second)}.Check(t.Context())
		assert.Equal(t, 2*time.Second, time.Since(began))
		assert.Equal(t, map[string]handler.Dependency{"a": {Optional: true}, "b": {Optional: true}, "c": {Optional: true}}, states)
	})
}

// TestCheckSetsMetrics checks that a check sets the metric of each service, and that a service
// that times out counts as down.
func TestCheckSetsMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failure error
		c := Checks{
			"health-test":      func(context.Context) handler.Dependency { return handler.Dependency{Err: failure} },
			"health-test-slow": slow(time.Hour),
		}
		began := time.Now()
		c.CheckAll(t.Context())
		assert.Equal(t, checkTimeout, time.Since(began))
		assert.EqualValues(t, 1, up(t, "health-test"))
		assert.Zero(t, up(t, "health-test-slow"))
		failure = errors.New("no answer")
		c.CheckAll(t.Context())
		assert.Zero(t, up(t, "health-test"))
	})
}

// TestWatchPolls checks that the watch runs at once and repeatedly until its context
// ends, and that this end does not set everything to down.
func TestWatchPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "health-test-watched"
		asked := 0
		c := Checks{name: func(ctx context.Context) handler.Dependency {
			asked++
			if asked == 3 {
				<-ctx.Done()
			}
			return handler.Dependency{Err: ctx.Err()}
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 21*time.Second)
		defer cancel()
		c.Watch(ctx, 10*time.Second)
		assert.Equal(t, 3, asked)
		assert.EqualValues(t, 1, up(t, name))
	})
}
