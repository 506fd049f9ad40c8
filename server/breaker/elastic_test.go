package breaker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
)

// hangs is a service that does not answer, except pings if pings is set.
type hangs struct{ pings bool }

func (h hangs) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.pings && r.Method == http.MethodHead && r.URL.Path == "/" {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// TestElasticsearchCallCanceled checks that a call canceled by its caller does not count against
// Elasticsearch, while one that the breaker's own limit ends counts if a ping also gets no answer.
func TestElasticsearchCallCanceled(t *testing.T) {
	for _, c := range []struct {
		name     string
		patience time.Duration
		pings    bool
		want     gobreaker.State
	}{
		{"callers who give up early", time.Second, false, gobreaker.StateClosed},
		{"callers who wait", time.Minute, false, gobreaker.StateOpen},
		{"callers of something slow who wait", time.Minute, true, gobreaker.StateClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := NewElastic(hangs{c.pings}, 3*time.Second, slog.New(slog.DiscardHandler))
				var calls sync.WaitGroup
				for range LeastCalls {
					calls.Go(func() {
						ctx, cancel := context.WithCancelCause(t.Context())
						defer time.AfterFunc(c.patience, func() { cancel(fmt.Errorf("%w: too late", context.Canceled)) }).Stop()
						req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://elastic/items/_search", nil)
						assert.NoError(t, err)
						_, err = b.RoundTrip(req) //nolint:bodyclose // there is none
						assert.Error(t, err)
					})
				}
				calls.Wait()
				time.Sleep(pingTimeout)
				synctest.Wait()
				assert.Equal(t, c.want, b.State())
			})
		})
	}
}

// unreachable is a service to which no new connection can be made; open ones work.
type unreachable struct{}

func (unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	if esindex.ConnectionOf(r.Context()) == esindex.AnyConnection {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// TestElasticsearchNewConnectionsFail checks that requests over new connections, which get none, do not end
// those over the open ones.
func TestElasticsearchNewConnectionsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewElastic(unreachable{}, 3*time.Second, slog.New(slog.DiscardHandler))
		for range 2 * LeastCalls {
			req, err := http.NewRequestWithContext(esindex.Over(t.Context(), esindex.NewConnection), http.MethodGet, "http://elastic/items/_mapping", nil)
			require.NoError(t, err)
			_, err = b.RoundTrip(req) //nolint:bodyclose // there is none
			require.ErrorIs(t, err, context.DeadlineExceeded)
			synctest.Wait()
		}
		assert.Equal(t, gobreaker.StateClosed, b.State())
	})
}

// answers is a service that answers with a status, and records the remaining time of each request.
type answers struct {
	status int
	left   *time.Duration // 0 means without a limit
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	*a.left = 0
	if end, ok := r.Context().Deadline(); ok {
		*a.left = time.Until(end)
	}
	return &http.Response{StatusCode: a.status, Body: body{strings.NewReader("{}"), r.Context()}}, nil
}

// body cannot be read after the end of its request, like that of the standard library.
type body struct {
	io.Reader
	ctx context.Context
}

func (b body) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, b.ctx.Err()
	}
	return b.Reader.Read(p)
}

func (body) Close() error { return nil }

// TestElasticsearchRequestTimeouts checks that uploads have a longer limit than other requests,
// and that an answer can be read until its body is closed.
func TestElasticsearchRequestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left time.Duration
		b := NewElastic(answers{http.StatusOK, &left}, 3*time.Second, slog.New(slog.DiscardHandler))
		for path, want := range map[string]time.Duration{
			"/items/_search": 3 * time.Second, "/items/_mget": 3 * time.Second, "/": 3 * time.Second, "/_bulk": 30 * time.Second,
		} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://elastic"+path, nil)
			require.NoError(t, err)
			res, err := b.RoundTrip(req)
			require.NoError(t, err)
			assert.Equal(t, want, left, path)
			text, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			assert.Equal(t, "{}", string(text))
			require.NoError(t, res.Body.Close())
			_, err = res.Body.Read(make([]byte, 1))
			assert.Equal(t, want > 0, errors.Is(err, context.Canceled), "%s: its context has ended: %v", path, err)
		}
	})
}

// TestElasticsearchProxyStatuses checks that statuses with which a proxy reports a dead
// Elasticsearch open the breaker, and that other error statuses do not.
func TestElasticsearchProxyStatuses(t *testing.T) {
	for status, open := range map[int]bool{
		http.StatusServiceUnavailable: true, http.StatusGatewayTimeout: true,
		http.StatusBadRequest: false, http.StatusTooManyRequests: false, http.StatusInternalServerError: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			var left time.Duration
			b := NewElastic(answers{status, &left}, time.Second, slog.New(slog.DiscardHandler))
			ask := func() error {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://elastic/", nil)
				require.NoError(t, err)
				res, err := b.RoundTrip(req)
				if err != nil {
					return err
				}
				return res.Body.Close()
			}
			for range LeastCalls {
				require.NoError(t, ask(), "what it answers is passed on")
			}
			assert.Equal(t, open, errors.Is(ask(), gobreaker.ErrOpenState), status)
		})
	}
}
