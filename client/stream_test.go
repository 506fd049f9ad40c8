package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

// scripted answers calls with a sequence of handlers and records the requests' headers.
type scripted struct {
	mu      sync.Mutex
	answers []http.HandlerFunc
	asked   []http.Header
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Header.Clone())
	answer := s.answers[min(len(s.asked), len(s.answers))-1]
	s.mu.Unlock()
	answer(w, r)
}

func events(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, text)
	}
}

func refusal(status, code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"code":%d,"msg":"no"}`, code)
	}
}

func TestStreamResumes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{answers: []http.HandlerFunc{
			events("retry: 1\nid: post:a:1\n\n:\n\nid: post:b:2\nevent: new\ndata: {\"count\":3}\n\nid: post:c:3\nevent: new\ndata: {\"cou"),
			refusal(http.StatusServiceUnavailable, 50301),
			events("id: post:b:2\n\nid: post:d:4\nevent: new\ndata: {\"count\":99}\n\nevent: other\ndata: x\n\n"),
			refusal(http.StatusUnauthorized, 40101),
		}}
		var waits []time.Duration
		c, err := client.New("http://server", client.WithAgent("u_1"), client.WithHTTPClient(inProcess(s.ServeHTTP)),
			client.WithRetryNotice(func(_ error, wait time.Duration) { waits = append(waits, wait) }))
		require.NoError(t, err)
		var got []client.News
		var last error
		begin := time.Now()
		for news, err := range c.Stream(t.Context(), "post:z:0") {
			if last = err; err == nil {
				got = append(got, news)
			}
		}
		require.ErrorIs(t, last, client.ErrUnauthenticated)
		require.Equal(t, []client.News{{"post:a:1", 0}, {"post:b:2", 3}, {"post:b:2", 0}, {"post:d:4", 99}}, got)
		require.Len(t, waits, 3)
		assert.Equal(t, waits[0]+waits[1]+waits[2], time.Since(begin))
		for i, pause := range []time.Duration{500 * time.Millisecond, 750 * time.Millisecond, 500 * time.Millisecond} {
			assert.InDelta(t, pause, waits[i], float64(pause)/2, "longer after what was no stream: %d", i)
		}
		require.Len(t, s.asked, 4)
		for i, id := range []string{"post:z:0", "post:b:2", "post:b:2", "post:d:4"} {
			assert.Equal(t, id, s.asked[i].Get("Last-Event-ID"), "%d", i)
			assert.Equal(t, "u_1", s.asked[i].Get("X-Agent-ID"))
			assert.Equal(t, "text/event-stream", s.asked[i].Get("Accept"))
		}
	})
}

// TestStreamRetryTimeBounded checks the limit of the server's retry time.
func TestStreamRetryTimeBounded(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]time.Duration{
		"7000": 7 * time.Second, "99999999999": time.Hour, "9223372036854775807": time.Hour, "soon": time.Second,
	} {
		t.Run(asked, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var waits []time.Duration
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c, err := client.New("http://server", client.WithHTTPClient(inProcess(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = fmt.Fprintf(w, "retry: %s\n\n", asked)
				})), client.WithRetryNotice(func(_ error, wait time.Duration) {
					waits = append(waits, wait)
					cancel()
				}))
				require.NoError(t, err)
				for range c.Stream(ctx, "") {
				}
				require.Equal(t, []time.Duration{want}, waits)
			})
		})
	}
}

// TestStreamSilentReconnects: a server sends something every 15 seconds. A client that received
// nothing for a minute reconnects and resumes where it was.
func TestStreamSilentReconnects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var asked, ended []time.Duration
		var last []string
		silent := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked, last = append(asked, time.Since(begin)), append(last, r.Header.Get("Last-Event-ID"))
			body, server := io.Pipe()
			go func() {
				for i := range 4 {
					_, _ = fmt.Fprintf(server, "id: %d\n\n", 10*len(asked)+i)
					time.Sleep(15 * time.Second)
				}
				<-r.Context().Done()
				_ = server.CloseWithError(r.Context().Err())
			}()
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c, err := client.New("http://server", client.WithHTTPClient(&http.Client{Transport: silent}),
			client.WithRetryNotice(func(err error, wait time.Duration) {
				assert.ErrorIs(t, err, client.ErrUnreachable)
				ended = append(ended, time.Since(begin))
				assert.Equal(t, time.Second, wait)
				if len(ended) == 2 {
					cancel()
				}
			}))
		require.NoError(t, err)
		var news []string
		for n, err := range c.Stream(ctx, "") {
			if err == nil {
				news = append(news, n.ID)
			}
		}
		assert.Equal(t, []time.Duration{0, 106 * time.Second}, asked)
		assert.Equal(t, []time.Duration{105 * time.Second, 211 * time.Second}, ended, "a minute after the last word, which came after 45 seconds")
		assert.Equal(t, []string{"", "13"}, last)
		assert.Equal(t, []string{"10", "20"}, news)
	})
}

func TestStreamEndsWithReader(t *testing.T) {
	t.Parallel()
	open := func(w http.ResponseWriter, r *http.Request) {
		events("id: 0\n\n")(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	server := httptest.NewServer(http.HandlerFunc(open))
	defer server.Close()
	c, err := client.New(server.URL)
	require.NoError(t, err)
	defer c.Close()
	for news, err := range c.Stream(t.Context(), "") {
		require.NoError(t, err)
		require.Equal(t, client.News{ID: "0"}, news)
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range c.Stream(ctx, "") {
		if n++; n == 1 {
			require.NoError(t, err)
			cancel()
		} else {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	require.Equal(t, 2, n)
}

func TestStreamOfForeignServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c, err := client.New(server.URL)
	require.NoError(t, err)
	defer c.Close()
	for _, err := range c.Stream(t.Context(), "") {
		require.ErrorIs(t, err, client.ErrNotFound)
	}
}

// TestStreamNotifications checks that events about notifications are for those who ask for them.
func TestStreamNotifications(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := func() *scripted {
			return &scripted{answers: []http.HandlerFunc{
				events("id: a\nevent: ready\ndata: {}\n\nevent: notification\ndata: {\"unread\":2}\n\nevent: other\ndata: {\"unread\":7}\n\n" +
					"id: b\nevent: new\ndata: {\"count\":3}\n\nevent: notification\ndata: {\"unread\":0}\n\n"),
				refusal(http.StatusUnauthorized, 40101),
			}}
		}
		c, err := client.New("http://server", client.WithAgent("u_1"), client.WithHTTPClient(inProcess(answers().ServeHTTP)))
		require.NoError(t, err)
		var all []client.StreamEvent
		for event, err := range c.StreamEvents(t.Context(), "") {
			if err == nil {
				all = append(all, event)
			}
		}
		require.Equal(t, []client.StreamEvent{
			{News: client.News{ID: "a"}},
			{News: client.News{ID: "a"}, Notified: true, Unread: 2},
			{News: client.News{ID: "b", Count: 3}},
			{News: client.News{ID: "b"}, Notified: true},
		}, all)

		c, err = client.New("http://server", client.WithAgent("u_1"), client.WithHTTPClient(inProcess(answers().ServeHTTP)))
		require.NoError(t, err)
		var news []client.News
		for event, err := range c.Stream(t.Context(), "") {
			if err == nil {
				news = append(news, event)
			}
		}
		require.Equal(t, []client.News{{ID: "a"}, {ID: "b", Count: 3}}, news)
	})
}
