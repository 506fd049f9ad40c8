package retention

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// backlog is a task with something left to remove.
type backlog struct {
	left  int
	calls int
	err   error
}

func (b *backlog) step(context.Context) (map[string]int, bool, error) {
	b.calls++
	n := min(10, b.left)
	b.left -= n
	return map[string]int{"rows of the test": n}, n == 10, b.err
}

// TestRounds checks when rounds are, what they log and count, and that each is bounded.
func TestRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		short, long := &backlog{left: 25}, &backlog{left: 1500}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var rounds []time.Duration
		began := time.Now()
		first := func(context.Context) (map[string]int, bool, error) {
			rounds = append(rounds, time.Since(began))
			switch len(rounds) {
			case 2:
				assert.Equal(t, 3, short.calls)
				assert.Equal(t, 100, long.calls)
				assert.Equal(t, 500, long.left, "the rest waits")
				assert.Contains(t, text.String(), `msg="what had expired was removed" "rows of the test"=1025`)
			case 4:
				stop()
			}
			return nil, false, nil
		}
		before := testutil.ToFloat64(purged.WithLabelValues("rows of the test"))
		New(nil, slog.New(slog.NewTextHandler(&text, nil)), Task{Name: "first", Step: first}, Task{Name: "short", Step: short.step}, Task{Name: "long", Step: long.step}).Run(ctx)
		require.Len(t, rounds, 4)
		assert.Equal(t, time.Minute, rounds[0])
		assert.Equal(t, 10*time.Minute, rounds[3]-rounds[2])
		assert.Zero(t, long.left)
		assert.Equal(t, 2, strings.Count(text.String(), "was removed"), "a round without work is silent")
		assert.InDelta(t, 1525, testutil.ToFloat64(purged.WithLabelValues("rows of the test"))-before, 0.1)
	})
}

// TestTurns checks that what servers share is removed by the one whose turn it is, and that a failure is
// logged once and stops no other task.
func TestTurns(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	var mine bool
	var unknown error
	own, shared, broken := &backlog{}, &backlog{}, &backlog{err: errors.New("no connection")}
	p := New(func(context.Context) (bool, error) { return mine, unknown }, slog.New(slog.NewTextHandler(&text, nil)),
		Task{Name: "broken", Step: broken.step, Own: true}, Task{Name: "own", Step: own.step, Own: true}, Task{Name: "shared", Step: shared.step})
	calls := func() [2]int { return [2]int{own.calls, shared.calls} }
	p.Round(t.Context())
	require.Equal(t, [2]int{1, 0}, calls())
	mine = true
	p.Round(t.Context())
	require.Equal(t, [2]int{2, 1}, calls())
	assert.Equal(t, 1, strings.Count(text.String(), "level=WARN"))
	assert.Contains(t, text.String(), `what=broken error="no connection"`)
	mine, unknown = false, errors.New("redis is down")
	p.Round(t.Context())
	require.Equal(t, [2]int{3, 1}, calls())
	assert.Contains(t, text.String(), `what=shared error="redis is down"`)
	unknown = nil
	p.Round(t.Context())
	assert.NotContains(t, text.String(), "again", "another server's turn tells nothing")
	broken.err = nil
	p.Round(t.Context())
	assert.Contains(t, text.String(), `msg="what has expired is removed again" what=broken`)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	text.Reset()
	broken.err = context.Canceled
	p.Round(ended)
	assert.Empty(t, text.String(), "the server is stopping")
}
