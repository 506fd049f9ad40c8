package engine_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

func TestConfigValidation(t *testing.T) {
	clock := func() time.Time { return rankedAt }
	good := engine.Config{Clock: clock, Rankings: &feed.Live{Ranking: dayLong()}}
	stores := storesOf(t, clock, source())
	_, err := engine.New(stores, good)
	require.NoError(t, err, "what may be left out has a default")
	for name, spoil := range map[string]func(*engine.Config, *engine.Stores){
		"no clock":          func(c *engine.Config, _ *engine.Stores) { c.Clock = nil },
		"no rankings":       func(c *engine.Config, _ *engine.Stores) { c.Rankings = nil },
		"negative n":        func(c *engine.Config, _ *engine.Stores) { c.N = -1 },
		"large n":           func(c *engine.Config, _ *engine.Stores) { c.N = 10_001 },
		"negative coalesce": func(c *engine.Config, _ *engine.Stores) { c.Coalesce = -1 },
		"negative step":     func(c *engine.Config, _ *engine.Stores) { c.OriginStep = -1 },
		"negative rounds":   func(c *engine.Config, _ *engine.Stores) { c.RoundsFor = -1 },
		"no recall":         func(_ *engine.Config, s *engine.Stores) { s.Recall = nil },
	} {
		t.Run(name, func(t *testing.T) {
			c, s := good, stores
			spoil(&c, &s)
			_, err := engine.New(s, c)
			require.Error(t, err)
		})
	}
}

// Each request gets a context from Begin, and so does each attempt to take back a page.
func TestBeginPerRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int32
		r := newRig(t, 30, func(s *engine.Stores, c *engine.Config) {
			s.Fallback = nil
			c.Begin = func(ctx context.Context) context.Context { begun.Add(1); return ctx }
		})
		r.wants(t, refresh(5), run(0, 5), true)
		require.Equal(t, int32(1), begun.Load())
		r.sessions.set(rule{err: errUnheard, only: []string{"Pop"}})
		_, err := r.Feed(t.Context(), loadMore(5))
		require.ErrorIs(t, err, cache.ErrUncertain)
		synctest.Wait()
		require.Len(t, r.sessions.takenBack(), 1)
		assert.Equal(t, int32(3), begun.Load())
	})
}

// The origin is rounded down, so that recall queries of the same period are equal.
func TestOriginRoundedDown(t *testing.T) {
	for step, want := range map[time.Duration]time.Time{
		0: rankedAt.Add(89 * time.Second), time.Minute: rankedAt.Add(time.Minute),
	} {
		r := newRig(t, 5, func(_ *engine.Stores, c *engine.Config) { c.OriginStep = step })
		r.advance(89 * time.Second)
		r.ask(t, refresh(5))
		assert.Equal(t, want, r.recall.asked.Origin)
		x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 5})
		require.NoError(t, err)
		assert.Equal(t, want, x.Origin)
	}
}

// Each stage is a span within that of its request.
func TestTracingStages(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	r := newRig(t, 30, func(s *engine.Stores, c *engine.Config) {
		s.Fallback = nil
		c.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test")
	})
	r.wants(t, refresh(5), run(0, 5), true)
	var names []string
	for _, s := range spans.Ended() {
		names = append(names, s.Name())
	}
	assert.Equal(t, []string{"turn", "open", "recall", "dedup", "page", "hydrate", "feed refresh"}, names)
	r.sessions.down(errors.New("broken"))
	_, err := r.Feed(t.Context(), loadMore(5))
	require.Error(t, err)
	last := spans.Ended()[len(spans.Ended())-1]
	assert.Equal(t, "feed load_more", last.Name())
	assert.Equal(t, codes.Error, last.Status().Code)
	assert.Len(t, last.Events(), 1, "the error")
}

// The engine logs to its configured logger and to no other.
func TestConfiguredLogger(t *testing.T) {
	var log bytes.Buffer
	std := slog.Default()
	defer slog.SetDefault(std)
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	silentOne := newRig(t, 30, nil)
	silentOne.disk.err = errors.New("no space left")
	silentOne.sessions.down(cache.ErrUnavailable)
	silentOne.ask(t, refresh(5))
	assert.Empty(t, log.String())

	r := newRig(t, 30, func(_ *engine.Stores, c *engine.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	r.disk.err = errors.New("no space left")
	r.sessions.down(cache.ErrUnavailable)
	r.ask(t, refresh(5))
	assert.Contains(t, log.String(), "no space left")
}
