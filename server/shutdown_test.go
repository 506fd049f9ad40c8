package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// TestShutdownWithHangingPart closes a system with hanging parts. The other parts must have time to
// close, the close must end in time, and the log or the error must name what hung.
func TestShutdownWithHangingPart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		hangs func(b *builder, forever <-chan struct{})
		fails string // part of the error of close; "" means none
	}{
		{"work in the background", func(b *builder, forever <-chan struct{}) {
			b.background(context.Background(), "the part", func(context.Context) { <-forever })
		}, ""},
		{"a client", func(b *builder, forever <-chan struct{}) {
			b.disconnects("the part", func() error { <-forever; return nil })
		}, ""},
		{"a journal", func(b *builder, forever <-chan struct{}) {
			b.onClose("the part", func(context.Context) error { <-forever; return nil })
		}, "the part did not stop in time"},
		{"recording", func(b *builder, forever <-chan struct{}) {
			b.drain = func(context.Context) { <-forever }
		}, "recording of impressions did not stop in time"},
		{"all of them", func(b *builder, forever <-chan struct{}) {
			b.drain = func(context.Context) { <-forever }
			for range 5 {
				b.background(context.Background(), "the part", func(context.Context) { <-forever })
				b.disconnects("the part", func() error { <-forever; return nil })
			}
		}, "recording of impressions did not stop in time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				b := newBuilder(configs.Default(), []Option{WithLogger(slog.New(slog.NewTextHandler(&log, nil)))})
				forever := make(chan struct{})
				defer close(forever)
				var left time.Duration // for the part closed last
				b.onClose("last", func(ctx context.Context) error {
					end, ok := ctx.Deadline()
					assert.True(t, ok)
					left = time.Until(end)
					return ctx.Err()
				})
				tt.hangs(b, forever)
				const most = 15 * time.Second
				ctx, cancel := context.WithTimeout(t.Context(), most)
				defer cancel()
				began := time.Now()
				err := b.close(ctx)
				assert.LessOrEqual(t, time.Since(began), most)
				assert.Positive(t, left, "what comes after it has no time")
				if tt.fails == "" {
					require.NoError(t, err)
					assert.Contains(t, log.String(), `part="the part"`)
					return
				}
				require.ErrorIs(t, err, errHangs)
				assert.ErrorContains(t, err, tt.fails)
			})
		})
	}
}

// TestShutdownDrainsFirst checks that a stopping server is not ready, but still answers for
// server.drain. A server that must stop at once does not drain.
func TestShutdownDrainsFirst(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Server.Drain = 3 * time.Second
	s := served{App: open(t, cfg), t: t}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	status := func(method, path, body string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("X-Agent-ID", "u_1")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	require.Equal(t, http.StatusOK, status("GET", "/readyz", ""))
	told := time.Now()
	cancel()
	testenv.WaitFor(t, func() bool { return status("GET", "/readyz", "") == http.StatusServiceUnavailable }, "a server that is not ready")
	require.Equal(t, http.StatusOK, status("POST", "/v1/feed", `{"action":"refresh"}`))
	require.NoError(t, <-done)
	assert.GreaterOrEqual(t, time.Since(told), cfg.Server.Drain)
}

// TestShutdownAtOnceSkipsDrain stops a server with ErrAtOnce: it does not wait for server.drain.
func TestShutdownAtOnceSkipsDrain(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Server.Drain = time.Minute
	a := open(t, cfg)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Serve(ctx, l) }()
	cancel(ErrAtOnce)
	require.NoError(t, <-done)
	assert.ErrorIs(t, ErrAtOnce, context.Canceled, "commands tell by that that they were interrupted")
}

// TestBackgroundWorkRestartsAfterPanic checks that background work restarts after a panic, and ends
// with the system.
func TestBackgroundWorkRestartsAfterPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBuilder(configs.Default(), nil)
		runs := 0
		b.background(t.Context(), "work", func(ctx context.Context) {
			if runs++; runs < 3 {
				panic("a defect")
			}
			<-ctx.Done()
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, 3, runs)
		require.NoError(t, b.close(t.Context()))
	})
}

// TestShutdownClosesInReverseOrder checks that a close drains first, then closes the parts once and
// in reverse order. Background work ends before the parts that were opened before it are closed.
func TestShutdownClosesInReverseOrder(t *testing.T) {
	t.Parallel()
	b := newBuilder(configs.Default(), nil)
	var order []string
	failed := errors.New("it cannot be closed")
	b.onClose("store", func(context.Context) error { order = append(order, "store"); return failed })
	b.background(t.Context(), "work", func(ctx context.Context) {
		<-ctx.Done()
		order = append(order, "work")
	})
	b.onClose("cache", func(context.Context) error { order = append(order, "cache"); return nil })
	b.drain = func(context.Context) { order = append(order, "drained") }
	require.ErrorIs(t, b.close(t.Context()), failed, "the others are closed all the same")
	require.NoError(t, b.close(t.Context()))
	assert.Equal(t, []string{"drained", "cache", "work", "store"}, order)
}

// TestBackgroundWorkOutlivesStart cancels the context of the start: background work that was
// started with it continues.
func TestBackgroundWorkOutlivesStart(t *testing.T) {
	t.Parallel()
	b := newBuilder(configs.Default(), nil)
	starting, started := context.WithCancel(t.Context())
	working := make(chan error)
	b.background(starting, "work", func(ctx context.Context) { working <- ctx.Err() })
	started()
	require.NoError(t, <-working)
	require.NoError(t, b.close(t.Context()))
}
