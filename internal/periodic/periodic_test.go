package periodic

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEvery has work that takes some time, and once longer than three pauses.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		var at []time.Duration
		for range Every(ctx, time.Second) {
			at = append(at, time.Since(began))
			switch len(at) {
			case 2:
				time.Sleep(3500 * time.Millisecond)
			case 5:
				cancel()
			}
		}
		var want []time.Duration
		for _, ms := range []int{1000, 2000, 5500, 6000, 7000} {
			want = append(want, time.Duration(ms)*time.Millisecond)
		}
		assert.Equal(t, want, at)
	})
}

func TestEveryEndsDuringPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		for range Every(ctx, time.Hour) {
			t.Error("it is not time yet")
		}
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

// TestNow checks that the work also runs before the first pause.
func TestNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		n := 0
		for range Now(ctx, time.Minute) {
			n++
		}
		assert.Equal(t, 2, n)
	})
}

// TestPause checks that a pause ends after its duration, or with its context.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		require.NoError(t, Pause(ctx, time.Second))
		assert.Equal(t, time.Second, time.Since(began))
		require.ErrorIs(t, Pause(ctx, time.Hour), context.DeadlineExceeded)
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

// TestFailing checks that a failure is logged once, and its end once.
func TestFailing(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	log := slog.New(slog.NewTextHandler(&text, nil))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f := Failing{Fails: "it fails", Again: "it works again"}
	broken := errors.New("broken")
	for i, try := range []struct {
		ctx     context.Context
		err     error
		changed bool
	}{
		{t.Context(), nil, false},
		{ended, broken, false},
		{t.Context(), broken, true},
		{t.Context(), broken, false},
		{ended, nil, false},
		{t.Context(), nil, true},
		{t.Context(), nil, false},
	} {
		assert.Equal(t, try.changed, f.Tell(try.ctx, log, try.err, "n", i), i)
	}
	assert.Equal(t, 2, strings.Count(text.String(), "\n"), text.String())
	assert.Contains(t, text.String(), `level=WARN msg="it fails" n=2 error=broken`)
	assert.Contains(t, text.String(), `level=INFO msg="it works again" n=5`)
}
