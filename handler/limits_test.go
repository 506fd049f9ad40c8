package handler

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// handClock is a clock that tests advance.
type handClock struct{ now atomic.Int64 }

func (c *handClock) Now() time.Time          { return testNow.Add(time.Duration(c.now.Load())) }
func (c *handClock) Advance(d time.Duration) { c.now.Add(int64(d)) }

func newRatedFixture(t testing.TB, rate float64) (*fixture, *handClock) {
	clock := &handClock{}
	return newFixture(t, func(c *Config, _ *Deps) { c.RateLimit, c.Clock = rate, clock.Now }), clock
}

const refresh = `{"action":"refresh"}`

func TestRateLimit(t *testing.T) {
	f, clock := newRatedFixture(t, 0.5)
	counter := requestsTotal.WithLabelValues("POST /v1/feed", "429")
	limited := testutil.ToFloat64(counter)
	call := func(agent string) reply { return f.do(t, "POST", "/v1/feed", refresh, "X-Agent-ID: "+agent) }
	require.Equal(t, 0, call("u_1").Code)
	got := call("u_1")
	require.Equal(t, 429, got.status)
	require.Equal(t, 42901, got.Code)
	require.Equal(t, "2", got.header.Get("Retry-After"), "half a token a second")
	require.Equal(t, 0, call("u_2").Code, "another agent has a bucket of its own")

	clock.Advance(1500 * time.Millisecond)
	got = call("u_1")
	require.Equal(t, 42901, got.Code)
	require.Equal(t, "1", got.header.Get("Retry-After"))
	clock.Advance(500 * time.Millisecond)
	require.Equal(t, 0, call("u_1").Code, "a call after Retry-After is answered")
	require.Equal(t, 42901, call("u_1").Code)
	require.InDelta(t, limited+3, testutil.ToFloat64(counter), 0)
}

func TestRateLimitEveryRoute(t *testing.T) {
	t.Parallel()
	own, others := "/v1/agents/u_1/profile", "/v1/agents/u_2/profile"
	for _, call := range [][3]string{
		{"POST", "/v1/feed", refresh},
		{"POST", "/v1/feed", "not JSON"},
		{"POST", "/v1/impressions", `{"ids":["a"]}`},
		{"GET", own, ""},
		{"PUT", own, "{}"},
		{"DELETE", own, ""},
		{"GET", others, ""},
	} {
		t.Run(call[0]+call[1], func(t *testing.T) {
			f, _ := newRatedFixture(t, 1)
			require.NotEqual(t, 42901, f.do(t, call[0], call[1], call[2], asAgent).Code)
			require.Equal(t, 42901, f.do(t, call[0], call[1], call[2], asAgent).Code)
			require.Equal(t, 42901, f.do(t, "POST", "/v1/feed", refresh, asAgent).Code)
		})
	}
}

// So does every social route, whether it requires an agent or not.
func TestRateLimitEverySocialRoute(t *testing.T) {
	t.Parallel()
	for _, call := range [][2]string{
		{"POST", "/v1/posts"},
		{"GET", "/v1/posts/post:p"},
		{"PATCH", "/v1/posts/post:p"},
		{"DELETE", "/v1/posts/post:p"},
		{"GET", "/v1/posts/post:p/replies"},
		{"PUT", "/v1/posts/post:p/like"},
		{"DELETE", "/v1/posts/post:p/like"},
		{"GET", "/v1/timeline"},
		{"POST", "/v1/timeline/warm"},
		{"GET", "/v1/authors/u_2"},
		{"PUT", "/v1/authors/u_2"},
		{"DELETE", "/v1/authors/u_2"},
		{"GET", "/v1/authors/u_2/posts"},
		{"DELETE", "/v1/agents/u_2"},
		{"GET", "/v1/agents/u_2/following"},
		{"GET", "/v1/agents/u_1/followers"},
		{"GET", "/v1/agents/u_1/suggestions"},
		{"POST", "/v1/agents/u_1/following"},
		{"PUT", "/v1/agents/u_1/following/u_2"},
		{"DELETE", "/v1/agents/u_1/following/u_2"},
		{"PUT", "/v1/agents/u_1/blocked/u_2"},
		{"DELETE", "/v1/agents/u_1/blocked/u_2"},
		{"GET", "/v1/circles"},
		{"GET", "/v1/circles/c1"},
		{"PUT", "/v1/circles/c1"},
		{"DELETE", "/v1/circles/c1"},
		{"GET", "/v1/circles/c1/members"},
		{"PUT", "/v1/circles/c1/members/u_2"},
		{"DELETE", "/v1/circles/c1/members/u_2"},
		{"PUT", "/v1/circles/c1/invitations/u_2"},
		{"DELETE", "/v1/circles/c1/invitations/u_2"},
	} {
		t.Run(call[0]+call[1], func(t *testing.T) {
			t.Parallel()
			f, _ := socialFixture(t, func(c *Config, _ *Deps) { c.RateLimit = 0.001 })
			require.NotEqual(t, 42901, f.do(t, call[0], call[1], "", asAgent).Code)
			require.Equal(t, 42901, f.do(t, call[0], call[1], "", asAgent).Code)
			require.NotEqual(t, 42901, f.do(t, call[0], call[1], "").Code)
			require.NotEqual(t, 42901, f.do(t, call[0], call[1], "", asAdmin).Code)
		})
	}
}

func TestRateLimitAgentsOnly(t *testing.T) {
	t.Parallel()
	f, _ := newRatedFixture(t, 1)
	f.items["a"] = `{"id":"a"}`
	require.Equal(t, 0, f.do(t, "POST", "/v1/feed", refresh, asAgent).Code)
	for range 20 {
		require.Equal(t, 0, f.do(t, "GET", "/v1/items/a", "", asAgent, asAdmin).Code)
		require.Equal(t, 0, f.do(t, "PUT", "/v1/agents/u_1/profile", "{}", asAdmin).Code)
		require.Equal(t, 0, f.do(t, "GET", "/livez", "", asAgent).Code)
		require.Equal(t, 40101, f.do(t, "POST", "/v1/feed", refresh).Code)
	}
}

func TestRateLimitOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for range 1000 {
		require.Equal(t, 0, f.do(t, "POST", "/v1/feed", refresh, asAgent).Code)
	}
}

func TestRateLimitBurst(t *testing.T) {
	t.Parallel()
	for rate, burst := range map[float64]int{0.1: 1, 1: 1, 2.5: 3, 20: 20} {
		f, _ := newRatedFixture(t, rate)
		passed := 0
		for range burst + 5 {
			if f.do(t, "POST", "/v1/feed", refresh, asAgent).Code == 0 {
				passed++
			}
		}
		require.Equal(t, burst, passed, "at %v a second", rate)
	}
}

func TestRateLimitConcurrentCalls(t *testing.T) {
	t.Parallel()
	f, _ := newRatedFixture(t, 10)
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				w := httptest.NewRecorder()
				r := httptest.NewRequest("POST", "/v1/feed", strings.NewReader(refresh))
				r.Header.Set("X-Agent-ID", "u_1")
				f.handler.ServeHTTP(w, r)
				if w.Code == http.StatusOK {
					passed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 10, passed.Load())
}

func TestRateLimitBucketsBounded(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	clock := &handClock{}
	l, err := newLimiter(1, 100, clock.Now)
	require.NoError(t, err)
	for i := range 100_000 {
		require.NoError(t, l.take("u_"+strconv.Itoa(i)))
		require.LessOrEqual(t, l.buckets.Len(), 100)
	}
	require.Error(t, l.take("u_99999"), "an agent that is still kept stays limited")
	clock.Advance(-time.Hour)
	require.Error(t, l.take("u_99999"), "a clock that is set back gives nothing")
}

// stuck returns a fixture with its only slot taken by a call that ends with release.
func stuck(t *testing.T) (f *fixture, release func()) {
	t.Helper()
	inside, end := make(chan struct{}), make(chan struct{})
	f = newFixture(t, func(c *Config, _ *Deps) { c.MaxInFlight = 1 })
	f.feed.answer = func(context.Context, engine.Request) (engine.Answer, error) {
		inside <- struct{}{}
		<-end
		return engine.Answer{}, nil
	}
	first := make(chan reply)
	go func() { first <- f.do(t, "POST", "/v1/feed", refresh, asAgent) }()
	<-inside
	return f, sync.OnceFunc(func() { close(end); <-first })
}

func TestConcurrencyLimitAgentsOnly(t *testing.T) {
	f, release := stuck(t)
	defer release()
	f.items["a"] = `{"id":"a"}`
	before := testutil.ToFloat64(shedTotal.WithLabelValues("agents"))
	for _, call := range [][3]string{
		{"POST", "/v1/feed", refresh},
		{"POST", "/v1/impressions", `{"ids":["a"]}`},
		{"GET", "/v1/agents/u_1/profile", ""},
		{"PUT", "/v1/agents/u_1/profile", "{}"},
		{"DELETE", "/v1/agents/u_1/profile", ""},
	} {
		got := f.do(t, call[0], call[1], call[2], asAgent)
		require.Equal(t, 503, got.status, call)
		require.Equal(t, 50301, got.Code)
		require.Equal(t, "1", got.header.Get("Retry-After"))
	}
	require.InDelta(t, before+5, testutil.ToFloat64(shedTotal.WithLabelValues("agents")), 0)
	for _, call := range [][3]string{
		{"GET", "/livez", ""},
		{"GET", "/readyz", ""},
		{"GET", "/v1/items/a", ""},
		{"POST", "/v1/items", "[]"},
		{"PUT", "/v1/agents/u_1/profile", "{}"},
		{"GET", "/v1/agents/u_1/profile", ""},
	} {
		require.Equal(t, 0, f.do(t, call[0], call[1], call[2], asAdmin).Code, call)
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, w.Code)
	require.Contains(t, w.Body.String(), `freshet_http_shed_total{gate="agents"}`)
	release()
	f.feed.answer = nil
	require.Equal(t, 0, f.do(t, "POST", "/v1/feed", refresh, asAgent).Code, "the place is free again")
}

// A client may use all the time that the server's timeouts allow to send its body or to read its
// answer. It must not block others meanwhile.
func TestConcurrencyLimitSlowClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		huge := feed.Doc{ID: "a", JSON: []byte(`{"id":"a","pad":"` + strings.Repeat("x", 1<<20) + `"}`)}
		f := newFixture(t, func(c *Config, _ *Deps) { c.MaxInFlight = 1 })
		var answered atomic.Bool
		f.feed.answer = func(_ context.Context, r engine.Request) (engine.Answer, error) {
			if r.Agent == "reader" {
				answered.Store(true)
				return engine.Answer{Docs: []feed.Doc{huge}}, nil
			}
			return engine.Answer{}, nil
		}
		p := openPipes(t, &http.Server{Handler: f.handler})
		head := func(agent string) string {
			return fmt.Sprintf("POST /v1/feed HTTP/1.1\r\nHost: x\r\nX-Agent-ID: %s\r\nContent-Length: %d\r\n\r\n", agent, len(refresh))
		}
		answer := func(conn net.Conn) *http.Response {
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			return res
		}
		sender := p.send(head("sender") + refresh[:5])
		reader := p.send(head("reader") + refresh)
		synctest.Wait() // its answer exceeds the server's buffers
		require.True(t, answered.Load())
		for range 2 {
			require.Equal(t, 200, answer(p.send(head("other")+refresh)).StatusCode)
		}
		// Check that no connection was closed meanwhile.
		_, err := io.WriteString(sender, refresh[5:])
		require.NoError(t, err)
		require.Equal(t, 200, answer(sender).StatusCode)
		res := answer(reader)
		require.Equal(t, 200, res.StatusCode)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Contains(t, string(body), string(huge.JSON))
	})
}
