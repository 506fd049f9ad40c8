package client

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scripted answers one call after the other, and keeps what was asked.
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

func TestStreamGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	s := &scripted{answers: []http.HandlerFunc{
		events("retry: 1\nid: post:a:1\n\n:\n\nid: post:b:2\nevent: new\ndata: {\"count\":3}\n\nid: post:c:3\nevent: new\ndata: {\"cou"),
		refusal(http.StatusServiceUnavailable, 50301),
		events("id: post:b:2\n\nid: post:d:4\nevent: new\ndata: {\"count\":99}\n\nevent: other\ndata: x\n\n"),
		refusal(http.StatusUnauthorized, 40101),
	}}
	server := httptest.NewServer(s)
	defer server.Close()
	var waits []time.Duration
	c, err := New(server.URL, WithAgent("u_1"), WithRetryNotice(func(_ error, wait time.Duration) { waits = append(waits, wait) }))
	require.NoError(t, err)
	defer c.Close()
	var got []News
	var last error
	for news, err := range c.Stream(t.Context(), "post:z:0") {
		if last = err; err == nil {
			got = append(got, news)
		}
	}
	require.ErrorIs(t, last, ErrUnauthenticated)
	require.Equal(t, []News{{"post:a:1", 0}, {"post:b:2", 3}, {"post:b:2", 0}, {"post:d:4", 99}}, got)
	require.Len(t, waits, 3)
	require.Len(t, s.asked, 4)
	for i, id := range []string{"post:z:0", "post:b:2", "post:b:2", "post:d:4"} {
		assert.Equal(t, id, s.asked[i].Get("Last-Event-ID"), "%d", i)
		assert.Equal(t, "u_1", s.asked[i].Get("X-Agent-ID"))
		assert.Equal(t, "text/event-stream", s.asked[i].Get("Accept"))
	}
}

func TestStreamEndsWithItsReader(t *testing.T) {
	t.Parallel()
	open := func(w http.ResponseWriter, r *http.Request) {
		events("id: 0\n\n")(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	server := httptest.NewServer(http.HandlerFunc(open))
	defer server.Close()
	c, err := New(server.URL)
	require.NoError(t, err)
	defer c.Close()
	for news, err := range c.Stream(t.Context(), "") {
		require.NoError(t, err)
		require.Equal(t, News{ID: "0"}, news)
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

func TestStreamOfWhatIsNoFreshet(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c, err := New(server.URL)
	require.NoError(t, err)
	defer c.Close()
	for _, err := range c.Stream(t.Context(), "") {
		require.ErrorIs(t, err, ErrNotFound)
	}
}
