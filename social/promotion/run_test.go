package promotion_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/promotion"
)

// asked is an empty list of promotions that records the times of reads. While hangs is set, a read
// blocks until its context ends.
type asked struct {
	fixed
	begin time.Time

	mu    sync.Mutex
	at    []time.Duration
	err   error
	hangs bool
}

func (a *asked) set(err error, hangs bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err, a.hangs = err, hangs
}

func (a *asked) taken() []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.at
	a.at = nil
	return at
}

func (a *asked) PromotionsUntil(ctx context.Context, _ time.Time) ([]social.Promotion, error) {
	a.mu.Lock()
	a.at = append(a.at, time.Since(a.begin))
	err, hangs := a.err, a.hangs
	a.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, err
}

// syncLog is a log buffer that is safe for concurrent use.
type syncLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *syncLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *syncLog) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// TestRunPolls also checks that a hanging read is abandoned after half a
// minute.
func TestRunPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := &asked{begin: time.Now()}
		var log syncLog
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go promotion.New(list, list, promotion.Config{Clock: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))}).Run(ctx)
		after := func(d time.Duration) []time.Duration {
			time.Sleep(d)
			synctest.Wait()
			return list.taken()
		}
		const s = time.Second
		assert.Equal(t, []time.Duration{0, 5 * s, 10 * s}, after(14*s))
		assert.Zero(t, log.count("level"))
		list.set(social.ErrUnavailable, false)
		assert.Equal(t, []time.Duration{15 * s, 20 * s}, after(10*s))
		assert.Equal(t, 1, log.count("promotions cannot be read"), "it is logged once")
		list.set(nil, false)
		assert.Equal(t, []time.Duration{25 * s}, after(5*s))
		assert.Equal(t, 1, log.count("are read again"))
		list.set(nil, true)
		assert.Equal(t, []time.Duration{30 * s}, after(30*s))
		assert.Equal(t, 1, log.count("promotions cannot be read"))
		list.set(nil, false)
		assert.Equal(t, []time.Duration{60 * s, 65 * s}, slices.Compact(after(10*s)))
		assert.Equal(t, 2, log.count("promotions cannot be read"))
		assert.Equal(t, 2, log.count("are read again"))
	})
}
