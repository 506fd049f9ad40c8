package handler

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/engine"
)

// TestInFlight checks that the oldest call stays at the front, whichever call ends first.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f inFlight
		began := time.Now()
		calls := make([]*call, 4)
		for i := range calls {
			calls[i] = &call{start: time.Now()}
			f.begin(calls[i])
			time.Sleep(time.Second)
		}
		for _, step := range []struct {
			ends   int
			n      int
			oldest time.Duration // after began
		}{{1, 3, 0}, {0, 2, 2 * time.Second}, {3, 1, 2 * time.Second}} {
			f.end(calls[step.ends])
			n, since := f.oldest()
			assert.Equal(t, step.n, n)
			assert.Equal(t, step.oldest, since.Sub(began))
		}
		f.end(calls[2])
		n, since := f.oldest()
		assert.Zero(t, n)
		assert.Zero(t, since)
	})
}

// TestInFlightCalls checks that a call counts exactly while it is being answered.
func TestInFlightCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle, _ := callsInFlight.oldest()
		f := newFixture(t, nil)
		f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) {
			began := time.Now()
			time.Sleep(time.Minute)
			n, since := callsInFlight.oldest()
			assert.Equal(t, idle+1, n)
			assert.Equal(t, began, since)
			panic("a panic takes it out, too")
		}
		f.do(t, http.MethodPost, "/v1/feed", `{"action":"refresh"}`, asAgent)
		n, _ := callsInFlight.oldest()
		assert.Equal(t, idle, n)
	})
}
