package handler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

func TestErrorStatusAndCode(t *testing.T) {
	t.Parallel()
	const inner = "dial tcp 10.0.0.7:6379: secret detail"
	wrap := func(err error) error { return fmt.Errorf("%s: %w", inner, err) }
	for _, tt := range []struct {
		name         string
		err          error
		status, code int
		hides        bool // the cause must appear only in the log
	}{
		{"bad id", fmt.Errorf("x: %w", feed.ErrBadID), 400, 40004, false},
		{"bad action", feed.ErrBadAction, 400, 40002, false},
		{"bad limit", feed.ErrBadLimit, 400, 40003, false},
		{"bad profile", feed.ErrInvalid, 400, 40001, false},
		{"bad ranking", feed.ErrInvalid, 400, 40001, false},
		{"bad item", feed.ErrInvalid, 400, 40001, false},
		{"an item's bad id", fmt.Errorf("%w: %w", feed.ErrInvalid, feed.ErrBadID), 400, 40004, false},
		{"bad body", feed.ErrInvalid, 400, 40001, false},
		{"not found", wrap(feed.ErrNotFound), 404, 40401, true},
		{"request id used otherwise", wrap(cache.ErrConflict), 409, 40901, true},
		{"another version", feed.ErrChanged, 412, 41201, false},
		{"a post that is not there, or not for this reader", wrap(feed.ErrNotFound), 404, 40401, true},
		{"a post of somebody else", feed.ErrForbidden, 403, 40301, false},
		{"a block", feed.ErrForbidden, 403, 40301, false},
		{"a key used for another post", wrap(feed.ErrConflict), 409, 40901, true},
		{"a bad post", feed.ErrRule, 422, 42201, false},
		{"a bad id in a post", feed.Errorf(feed.ErrRule, "bad post: %w", feed.ErrBadID), 400, 40004, false},
		{"a bad card or circle", feed.ErrInvalid, 400, 40001, false},
		{"too many of something", feed.ErrLimit, 422, 42202, false},
		{"social store down", wrap(social.ErrUnavailable), 503, 50301, true},
		{"a job that is not there", wrap(feed.ErrNotFound), 404, 40401, true},
		{"timelines down", wrap(timeline.ErrUnavailable), 503, 50301, true},
		{"busy", feed.ErrBusy, 503, 50301, false},
		{"too often", rateError{}, 429, 42901, false},
		{"catalog down", wrap(catalog.ErrUnavailable), 503, 50301, true},
		{"recall down", wrap(recall.ErrUnavailable), 503, 50301, true},
		{"dedup down", wrap(dedup.ErrUnavailable), 503, 50301, true},
		{"sessions down", wrap(cache.ErrUnavailable), 503, 50301, true},
		{"too late", wrap(feed.Errorf(feed.ErrUnavailable, "too late")), 503, 50301, true},
		{"deadline", wrap(context.DeadlineExceeded), 503, 50301, true},
		{"cancelled by somebody else", wrap(context.Canceled), 503, 50301, true},
		{"a bad cursor is our own fault", wrap(recall.ErrBadCursor), 500, 50001, true},
		{"anything else", errors.New(inner), 500, 50001, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) { return engine.Answer{}, tt.err }
			got := f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent)
			require.Equal(t, tt.status, got.status)
			require.Equal(t, tt.code, got.Code)
			require.NotEmpty(t, got.Msg)
			require.Equal(t, tt.status == 503 || tt.status == 429, got.header.Get("Retry-After") == "1")
			if tt.hides {
				require.NotContains(t, got.body, "10.0.0.7")
			}
			// Requests that were shed are counted instead of logged.
			require.Equal(t, tt.status >= 500 && !errors.Is(tt.err, feed.ErrBusy), strings.Contains(f.log.String(), `"error":"`), f.log.String())
		})
	}
}

func TestErrorTableRowsReachable(t *testing.T) {
	t.Parallel()
	for _, p := range problems {
		got := problemOf(fmt.Errorf("wrapped: %w", p.is))
		require.Equal(t, p.code, got.code, "%v is shadowed by a row above it", p.is)
		require.NotEmpty(t, got.msg)
		if p.status != statusClientGone {
			require.Equal(t, p.status, p.code/100, "%v", p.is)
		}
	}
}

func TestPanicAnswers500(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) { panic("boom in the engine") }
	got := f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent)
	require.Equal(t, 500, got.status)
	require.Equal(t, 50001, got.Code)
	require.NotContains(t, got.body, "boom")
	require.Contains(t, f.log.String(), "boom in the engine")
	require.Contains(t, f.log.String(), "errors_test.go")
}

func TestPanicAbortPassedOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) { panic(http.ErrAbortHandler) }
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent)
	})
}

func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(c *Config, _ *Deps) { c.RequestTimeout = 2 * time.Second })
		f.feed.answer = func(ctx context.Context, _ engine.Request) (engine.Answer, error) {
			<-ctx.Done()
			return engine.Answer{}, fmt.Errorf("recall: %w", ctx.Err())
		}
		begun := time.Now()
		got := f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent)
		require.Equal(t, 2*time.Second, time.Since(begun))
		require.Equal(t, 503, got.status)
		require.Equal(t, 50301, got.Code)
	})
}

func TestClientDisconnectIsNoServerError(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	ctx, leave := context.WithCancel(context.Background())
	f.feed.answer = func(ctx context.Context, _ engine.Request) (engine.Answer, error) {
		leave()
		<-ctx.Done()
		return engine.Answer{}, fmt.Errorf("recall is broken: %w", ctx.Err())
	}
	r := httptest.NewRequestWithContext(ctx, "POST", "/v1/feed", strings.NewReader(`{"action":"refresh"}`))
	r.Header.Set("X-Agent-ID", "u_1")
	got := f.serve(t, r)
	require.Equal(t, 499, got.status)
	require.Contains(t, f.log.String(), `"level":"INFO"`)
	require.NotContains(t, f.log.String(), "recall is broken")
}

// brokenPipe is a response to a client that has hung up.
type brokenPipe struct{ *httptest.ResponseRecorder }

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestAnswerWriteFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	r := httptest.NewRequest("POST", "/v1/feed", strings.NewReader(`{"action":"refresh"}`))
	r.Header.Set("X-Agent-ID", "u_1")
	f.handler.ServeHTTP(brokenPipe{httptest.NewRecorder()}, r)
	require.Contains(t, f.log.String(), `"status":499`)
}

func TestConcurrencyLimit(t *testing.T) {
	t.Parallel()
	inside, release := make(chan struct{}), make(chan struct{})
	f := newFixture(t, func(c *Config, _ *Deps) { c.MaxInFlight = 1 })
	f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) {
		inside <- struct{}{}
		<-release
		return engine.Answer{}, nil
	}
	first := make(chan reply)
	go func() { first <- f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent) }()
	<-inside
	for range 3 {
		got := f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, asAgent)
		require.Equal(t, 503, got.status)
		require.Equal(t, 50301, got.Code)
		require.Equal(t, "1", got.header.Get("Retry-After"))
		require.Equal(t, 50301, f.do(t, "POST", "/v1/impressions", `{"ids":["a"]}`, asAgent).Code)
	}
	close(release)
	require.Equal(t, 0, (<-first).Code)
	require.Equal(t, 0, f.do(t, "POST", "/v1/impressions", `{"ids":["a"]}`, asAgent).Code)
}
