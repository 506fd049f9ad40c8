package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed/api"
)

func connect(t *testing.T, server string, options ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(server, options...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// inProcess returns an HTTP client that calls a handler without a network, for use in synctest
// bubbles.
func inProcess(h http.HandlerFunc) *http.Client {
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		h(w, r)
		return w.Result(), r.Context().Err()
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func TestNewInvalidURL(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"", "127.0.0.1:8080", "ftp://h", "http://", "http://a b"} {
		_, err := client.New(server)
		assert.ErrorContains(t, err, "http://127.0.0.1:8080", server)
	}
}

func TestFeedRequest(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		assert.Equal(t, "POST /base/v1/feed", r.Method+" "+r.URL.Path)
		assert.Equal(t, "u_1", r.Header.Get("X-Agent-ID"))
		assert.Equal(t, "Bearer tok", r.Header.Get("Authorization"))
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		assert.JSONEq(t, `{"action":"refresh","limit":5,"silent":true,"request_id":"r1"}`, string(body))
		answer(w, 200, `{"code":0,"msg":"success","data":{"items":[]}}`)
	})
	c := connect(t, url+"/base/", client.WithAgent("u_1"), client.WithToken("tok"))
	page, err := c.Feed(context.Background(), client.Ask{Action: "refresh", Limit: 5, Silent: true, RequestID: "r1"})
	require.NoError(t, err)
	assert.JSONEq(t, `{"items":[]}`, string(page.Raw))
}

func TestInFeedOf(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		assert.JSONEq(t, `{"action":"refresh","why":true}`, string(body))
		answer(w, 200, `{"code":0,"msg":"success","data":{"items":[
			{"id":"a","title":"T","update_time":1,"in_feed":{"why":[{"type":"interest","value":"go"},{"type":"later"}]}},
			{"id":"b","title":"T","update_time":1},
			{"id":"post:c","created_at":1,"caption":"T","in_feed":{"source":"discovery","has_liked":true,"can_reply":true,"can_react":true,"is_promoted":false,"shown_before":true,"why":[{"type":"fresh"}]}},
			{"id":"d","title":"T","update_time":1,"in_feed":7}]}}`)
	})
	page, err := connect(t, url).Feed(t.Context(), client.Ask{Action: client.ActionRefresh, Why: true})
	require.NoError(t, err)
	for i, want := range []*client.InFeed{
		{Why: []client.Reason{{Type: api.ReasonInterest, Value: "go"}, {Type: "later"}}},
		nil,
		{Source: "discovery", HasLiked: true, CanReply: true, CanReact: true, ShownBefore: true, Why: []client.Reason{{Type: api.ReasonFresh}}},
	} {
		got, err := client.InFeedOf(page.Items[i])
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err = client.InFeedOf(page.Items[3])
	assert.ErrorContains(t, err, "item d: in_feed: ")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		body   string
		want   string
		code   int
	}{
		"of Freshet":         {400, `{"code":40003,"msg":"limit must be 1 to 100"}`, "the server answered 400 (40003): limit must be 1 to 100", 40003},
		"no token":           {401, `{"code":40101,"msg":"who?"}`, "the server answered 401 (40101): who?", 40101},
		"of a proxy":         {404, `<html>`, "the server answered 404 Not Found", 0},
		"success, code says": {200, `{"code":50001,"msg":"broken"}`, "(50001): broken", 50001},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, tt.status, tt.body) })
			_, err := connect(t, url).Feed(context.Background(), client.Ask{Action: "refresh"})
			var refused *client.Error
			require.ErrorAs(t, err, &refused)
			assert.ErrorContains(t, err, tt.want)
			assert.Equal(t, tt.code, refused.Code)
		})
	}
}

func TestForeignServerAnswer(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, `<html>hello`) })
	_, err := connect(t, url).Feed(context.Background(), client.Ask{Action: "refresh"})
	assert.ErrorContains(t, err, "not from a Freshet server")
}

func TestRetryTemporaryErrors(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 502, 503, 504} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var calls atomic.Int32
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				assert.Contains(t, string(body), "refresh", "a retry must send the body again")
				if calls.Add(1) < 3 {
					answer(w, status, `{"code":50301,"msg":"down"}`)
					return
				}
				answer(w, 200, `{"code":0,"data":{}}`)
			})
			var notified []string
			c := connect(t, url, client.WithRetries(3, time.Microsecond),
				client.WithRetryNotice(func(cause error, _ time.Duration) { notified = append(notified, cause.Error()) }))
			_, err := c.Feed(context.Background(), client.Ask{Action: "refresh"})
			require.NoError(t, err)
			assert.EqualValues(t, 3, calls.Load())
			assert.Len(t, notified, 2)
			assert.Contains(t, notified[0], "down")
		})
	}
}

func TestRetryBrokenConnections(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		switch calls.Add(1) {
		case 1: // closed before the response
			panic(http.ErrAbortHandler)
		case 2: // closed within the response
			w.Header().Set("Content-Length", "100")
			answer(w, 200, `{"code":0`)
			panic(http.ErrAbortHandler)
		}
		answer(w, 200, `{"code":0,"data":{}}`)
	})
	c := connect(t, url, client.WithRetries(3, time.Microsecond))
	_, err := c.Feed(context.Background(), client.Ask{Action: "refresh"})
	require.NoError(t, err)
	assert.EqualValues(t, 3, calls.Load())
}

func TestRetryLimit(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		calls  int32
	}{"after the last try": {503, 4}, "at once where trying again cannot help": {403, 1}}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				answer(w, tt.status, `{"code":1,"msg":"no"}`)
			})
			_, err := connect(t, url, client.WithRetries(4, time.Microsecond)).Feed(context.Background(), client.Ask{})
			var refused *client.Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, tt.calls, calls.Load())
		})
	}
}

func TestRetryAfterHeader(t *testing.T) {
	t.Parallel()
	for header, most := range map[string]time.Duration{
		"30": 30 * time.Second, "Sat, 01 Jan 2000 00:00:40 GMT": 40 * time.Second,
		"": time.Second, "-1": time.Second, "soon": time.Second, "Sat, 01 Jan 2000 00:00:00 GMT": time.Second, "Fri, 31 Dec 1999 23:59:59 GMT": time.Second,
	} {
		t.Run(header, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				var told time.Duration
				c := connect(t, "http://server", client.WithHTTPClient(inProcess(func(w http.ResponseWriter, _ *http.Request) {
					if calls++; calls == 1 {
						w.Header().Set("Retry-After", header)
						answer(w, 429, `{"code":42901,"msg":"busy"}`)
						return
					}
					answer(w, 200, `{"code":0,"data":{}}`)
				})), client.WithRetries(5, time.Second/2), client.WithRetryNotice(func(_ error, wait time.Duration) { told = wait }))
				begin := time.Now()
				_, err := c.Feed(t.Context(), client.Ask{})
				require.NoError(t, err)
				assert.Equal(t, told, time.Since(begin))
				assert.LessOrEqual(t, told, most)
				assert.GreaterOrEqual(t, told, most-time.Second*3/4, "the pause, less its jitter, where nothing is asked for")
				assert.Equal(t, 2, calls)
			})
		})
	}
}

// TestRetryAfterTooLong checks that a call does not wait for the end of a long
// maintenance.
func TestRetryAfterTooLong(t *testing.T) {
	t.Parallel()
	for header, asked := range map[string]time.Duration{
		"61": 61 * time.Second, "86400": 24 * time.Hour, "4294967295": 4294967295 * time.Second,
		"4294967296": 4294967296 * time.Second, "99999999999999999999": math.MaxInt64 / time.Second * time.Second,
		"Sat, 01 Jan 2000 00:10:00 GMT": 10 * time.Minute,
	} {
		t.Run(header, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				c := connect(t, "http://server", client.WithHTTPClient(inProcess(func(w http.ResponseWriter, _ *http.Request) {
					calls++
					w.Header().Set("Retry-After", header)
					answer(w, 503, `maintenance`)
				})), client.WithRetries(5, time.Second/2))
				begin := time.Now()
				_, err := c.Item(t.Context(), "a")
				var refused *client.Error
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, asked, refused.RetryAfter)
				assert.Zero(t, time.Since(begin))
				assert.Equal(t, 1, calls)
			})
		})
	}
}

// TestRetryAfterDateByServerClock: the clock of a phone may be an hour off.
func TestRetryAfterDateByServerClock(t *testing.T) {
	t.Parallel()
	for off, asks := range map[string][2]string{
		"ahead":  {"Fri, 31 Dec 1999 22:59:00 GMT", "Fri, 31 Dec 1999 23:09:00 GMT"},
		"behind": {"Sat, 01 Jan 2000 01:00:00 GMT", "Sat, 01 Jan 2000 01:10:00 GMT"},
	} {
		t.Run(off, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, "http://server", client.WithHTTPClient(inProcess(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Date", asks[0])
					w.Header().Set("Retry-After", asks[1])
					answer(w, 503, `maintenance`)
				})))
				_, err := c.Item(t.Context(), "a")
				var refused *client.Error
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, 10*time.Minute, refused.RetryAfter)
			})
		})
	}
}

// TestTryTimeout checks that a hanging connection costs one try and not the whole call.
func TestTryTimeout(t *testing.T) {
	t.Parallel()
	ask := func(ctx context.Context, c *client.Client) error {
		_, err := c.Feed(ctx, client.Ask{Action: client.ActionRefresh})
		return err
	}
	publish := func(ctx context.Context, c *client.Client) error {
		_, err := c.CreatePost(ctx, client.NewPost{Images: []client.NewImage{{Data: []byte("x")}}})
		return err
	}
	upload := func(ctx context.Context, c *client.Client) error {
		_, err := c.Ingest(ctx, strings.NewReader(item(1)), func(client.Rejection) {})
		return err
	}
	follow := func(ctx context.Context, c *client.Client) error {
		_, err := c.Follow(ctx, "a", "b")
		return err
	}
	for name, tt := range map[string]struct {
		do      func(context.Context, *client.Client) error
		options []client.Option
		limit   time.Duration
	}{
		"a page":      {ask, nil, 15 * time.Second},
		"as it says":  {ask, []client.Option{client.WithTimeout(time.Second)}, time.Second},
		"a change":    {follow, nil, 15 * time.Second},
		"images":      {publish, nil, 2 * time.Minute},
		"an upload":   {upload, nil, 10 * time.Minute},
		"without any": {ask, []client.Option{client.WithTimeout(0)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				hangs := roundTrip(func(r *http.Request) (*http.Response, error) {
					if calls++; calls == 1 {
						<-r.Context().Done()
						return nil, r.Context().Err()
					}
					w := httptest.NewRecorder()
					answer(w, 200, `{"code":0,"data":{"accepted":1}}`)
					return w.Result(), nil
				})
				c := connect(t, "http://server", append(tt.options,
					client.WithRetries(2, time.Nanosecond), client.WithHTTPClient(&http.Client{Transport: hangs}))...)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				begin := time.Now()
				err := tt.do(ctx, c)
				if tt.limit == 0 {
					require.ErrorIs(t, err, context.DeadlineExceeded)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, tt.limit, time.Since(begin).Round(time.Millisecond))
				assert.Equal(t, 2, calls)
			})
		})
	}
}

// TestRetryBackoff checks that pauses double up to ten seconds, and the number of
// tries.
func TestRetryBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin, last, pause := time.Now(), time.Now(), time.Second
		calls := 0
		c := connect(t, "http://server", client.WithRetries(8, pause), client.WithHTTPClient(inProcess(func(w http.ResponseWriter, _ *http.Request) {
			if calls++; calls > 1 {
				assert.InDelta(t, pause, time.Since(last), float64(pause)/2, "before try %d", calls)
				pause = min(2*pause, 10*time.Second)
			}
			last = time.Now()
			answer(w, 503, `{"code":50301,"msg":"down"}`)
		})))
		_, err := c.Item(t.Context(), "a")
		require.ErrorIs(t, err, client.ErrUnavailable)
		assert.Equal(t, 8, calls)
		assert.Equal(t, last, time.Now(), "after the last try it waits for nothing")
		assert.Greater(t, time.Since(begin), 20*time.Second)
	})
}

// A wait that would end after the caller's deadline is not started.
func TestRetryBeyondDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		c := connect(t, "http://server", client.WithRetries(5, time.Millisecond), client.WithHTTPClient(inProcess(func(w http.ResponseWriter, _ *http.Request) {
			calls++
			w.Header().Set("Retry-After", "300")
			answer(w, 503, `{"code":50301,"msg":"the catalog is unavailable"}`)
		})))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute-1)
		defer cancel()
		begin := time.Now()
		_, err := c.Item(ctx, "a")
		require.ErrorIs(t, err, client.ErrUnavailable, "what the server said, not that the time is over")
		assert.Zero(t, time.Since(begin))
		require.Equal(t, 1, calls)
	})
}

func TestServerUnreachable(t *testing.T) {
	t.Parallel()
	c := connect(t, "http://127.0.0.1:1") // nothing listens on tcpmux
	_, err := c.Feed(context.Background(), client.Ask{})
	require.Error(t, err)
	var refused *client.Error
	assert.False(t, errors.As(err, &refused))
	assert.ErrorContains(t, err, "cannot reach the server")
}
