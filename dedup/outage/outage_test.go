package outage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/dedup"
)

// markers are the markers of the servers, behind a network that may fail.
type markers struct {
	dedup.OutageMarker
	mu     sync.Mutex
	marked bool
	err    error
}

func (n *markers) Any(context.Context) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.marked, n.err
}

// are sets the result of further queries.
func (n *markers) are(marked bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.marked, n.err = marked, err
}

// hanging are markers behind a network that does not answer.
type hanging struct{ markers }

func (n *hanging) Any(ctx context.Context) (bool, error) {
	<-ctx.Done()
	return false, fmt.Errorf("%w: %w", dedup.ErrUnavailable, ctx.Err())
}

func config(log slog.Handler) Config {
	return Config{After: 10 * time.Second, Every: time.Second, Timeout: 3 * time.Second, Logger: slog.New(log)}
}

// start opens a watch that runs until the test ends.
func start(t *testing.T, n *markers) *Watch {
	w := Open(t.Context(), nil, n, config(slog.DiscardHandler))
	go w.Run(t.Context())
	synctest.Wait()
	return w
}

// lasts returns how long the recovery still takes, in whole seconds.
func lasts(w *Watch) (n int) {
	for ; w.Recovering(); n++ {
		time.Sleep(time.Second)
	}
	return n
}

var errDown = fmt.Errorf("%w: no connection", dedup.ErrUnavailable)

// TestRecoveryDuration checks the duration of the recovery after Redis did not answer, and after a
// note was removed.
func TestRecoveryDuration(t *testing.T) {
	for name, c := range map[string]struct {
		marked bool
		err    error
		lasts  int
	}{
		"all is well":               {false, nil, 0},
		"somebody has left markers": {true, nil, 2},
		"it did not answer":         {false, errDown, 12},
		"it refused to tell":        {false, errors.New("no permission"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &markers{marked: c.marked, err: c.err}
				w := start(t, n)
				assert.Equal(t, c.lasts > 0, w.Recovering(), "it is known when it opens")
				n.are(false, nil)
				assert.Equal(t, c.lasts, lasts(w))
			})
		})
	}
}

// TestRecoveryAfterRestart checks that a server that starts after Redis was started again counts that as an
// outage, in which other servers may have answered, unless Redis was new.
func TestRecoveryAfterRestart(t *testing.T) {
	for name, c := range map[string]struct {
		ago   time.Duration
		used  bool
		err   error
		lasts int
	}{
		"just before": {3 * time.Second, true, nil, 9},
		"long ago":    {10 * time.Second, true, nil, 0},
		"new":         {3 * time.Second, false, nil, 0},
		"unknown":     {0, true, errors.New("no permission"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := config(slog.DiscardHandler)
				cfg.Restarted = func(context.Context) (time.Duration, bool, error) { return c.ago, c.used, c.err }
				assert.Equal(t, c.lasts, lasts(Open(t.Context(), nil, &markers{}, cfg)))
			})
		})
	}
}

// TestRecoveryUntilMarkerRemoved checks that the recovery ends two checks after the last note
// is removed.
func TestRecoveryUntilMarkerRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &markers{marked: true}
		w := start(t, n)
		for range 100 {
			time.Sleep(time.Second)
			synctest.Wait()
			assert.True(t, w.Recovering())
		}
		n.are(false, nil)
		assert.Equal(t, 2, lasts(w))
	})
}

// TestRecoveryNotShortenedByMarker checks that a marker does not shorten the recovery after Redis
// did not answer, because other servers need time to leave markers.
func TestRecoveryNotShortenedByMarker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &markers{err: errDown}
		w := start(t, n)
		n.are(true, nil)
		time.Sleep(time.Second)
		synctest.Wait()
		n.are(false, nil)
		assert.Equal(t, 11, lasts(w))
	})
}

// TestCheckHangs checks that a hanging check ends and counts as an outage.
func TestCheckHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := Open(t.Context(), nil, &hanging{}, config(slog.DiscardHandler))
		assert.Equal(t, 3*time.Second, time.Since(began))
		assert.Equal(t, 12, lasts(w))
	})
}

// TestCheckCanceled checks that a check canceled by the closing of the server does
// not count as an outage.
func TestCheckCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		w := Open(ctx, nil, &hanging{}, config(slog.DiscardHandler))
		assert.False(t, w.Recovering())
	})
}

// TestRefusalLoggedOnce checks that a refusal is logged once, and again after an answer in
// between.
func TestRefusalLoggedOnce(t *testing.T) {
	var text strings.Builder
	n := &markers{err: errors.New("no permission")}
	w := Open(t.Context(), nil, n, config(slog.NewTextHandler(&text, nil)))
	for _, err := range []error{n.err, nil, errDown, n.err, n.err} {
		n.are(false, err)
		w.checkMarkers(t.Context())
	}
	assert.Equal(t, 2, strings.Count(text.String(), "cannot be read"), text.String())
}
