package app

import (
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhenABreakerOpens counts answers and failures of one dependency.
func TestWhenABreakerOpens(t *testing.T) {
	failure := errors.New("no answer")
	for _, tt := range []struct {
		name string
		// calls are made 10 ms apart: an error or nil, in turn.
		before, after int // answered calls, and failed ones after a pause
		pause         time.Duration
		mixed         bool // an answer after every failure
		open          bool
	}{
		{name: "all is well", before: 200},
		{name: "healthy for long, then nothing", before: 400, pause: time.Second, after: 5, open: true},
		{name: "a few failures", before: 400, pause: time.Second, after: 4},
		{name: "a row of failures between answers, as of one node of a cluster", before: 400, after: 5},
		{name: "failures and answers in turn", before: 400, pause: time.Second, after: 20, mixed: true},
		{name: "failures alone", after: 5, open: true},
		{name: "most of a window has failed", before: 5, after: 8, open: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDependency("test", slog.New(slog.NewTextHandler(io.Discard, nil)), "call")
				ask := func(outcome error) {
					_, call, err := d.enter(t.Context(), "call", "call", 0)
					require.NoError(t, err, "the breaker is open too early")
					time.Sleep(10 * time.Millisecond)
					call.leave(outcome)
				}
				for range tt.before {
					ask(nil)
				}
				time.Sleep(tt.pause)
				for range tt.after {
					ask(failure)
					if tt.mixed {
						ask(nil)
					}
				}
				assert.Equal(t, tt.open, d.breaker.State() == gobreaker.StateOpen)
			})
		})
	}
}
