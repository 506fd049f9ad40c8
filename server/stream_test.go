package server

import (
	"context"
	"fmt"
	"iter"
	"net"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

func serve(t *testing.T, cfg configs.Config, options ...Option) *served {
	t.Helper()
	a := open(t, cfg, options...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Serve(ctx, l) }()
	s := &served{App: a, t: t, url: "http://" + l.Addr().String()}
	stopped := false
	s.stop = func() {
		if !stopped {
			stopped = true
			cancel()
			assert.NoError(t, <-done)
		}
	}
	t.Cleanup(s.stop)
	return s
}

func (s *served) client(agent string) *client.Client {
	c, err := client.New(s.url, client.WithAgent(agent))
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	return c
}

func (s *served) publish(author string, a social.Audience) social.Post {
	s.t.Helper()
	p, _, err := s.network.fanout.Store().CreatePost(s.t.Context(), social.Post{Author: author, Caption: "x", Audience: a}, social.Creation{})
	require.NoError(s.t, err)
	return p.Post
}

func (s *served) follow(agent, author string) {
	s.t.Helper()
	_, err := s.network.fanout.Store().Follow(s.t.Context(), agent, author, time.Time{})
	require.NoError(s.t, err)
}

// listener is an agent with an open stream.
type listener struct {
	t    *testing.T
	next func() (client.News, error, bool)
}

// listen opens a stream. Posts published after it returns are news to it.
func (s *served) listen(agent, last string) *listener {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	next, stop := iter.Pull2(s.client(agent).Stream(ctx, last))
	s.t.Cleanup(func() { cancel(); stop() })
	l := &listener{s.t, next}
	first := l.news()
	require.Zero(s.t, first.Count)
	if last != "" {
		require.Equal(s.t, last, arrivals.ReplaceAllString(first.ID, ""))
	}
	return l
}

// news waits for the next event.
func (l *listener) news() client.News {
	l.t.Helper()
	news, err, ok := l.next()
	require.True(l.t, ok)
	require.NoError(l.t, err)
	return news
}

// hears waits for an event with this post as the newest of count posts.
func (l *listener) hears(p social.Post, count int) {
	l.t.Helper()
	news := l.news()
	news.ID = arrivals.ReplaceAllString(news.ID, "")
	require.Equal(l.t, client.News{ID: fmt.Sprintf("%s:%d", p.ID, p.CreatedAt), Count: count}, news)
}

// arrivals is the part of an event's id that is no part of a position.
var arrivals = regexp.MustCompile(`\.-\.[0-9]+`)

// TestStreamAcrossServers checks that the streams of one server report posts that another accepted,
// and that a client continues on the other server when its own stops.
func TestStreamAcrossServers(t *testing.T) {
	t.Parallel()
	cfg := withoutElastic(t)
	one := serve(t, cfg)
	cfg.DataDir = t.TempDir()
	two := serve(t, cfg)
	one.follow("r", "a")
	one.follow("s", social.Server)
	l, server := two.listen("r", ""), two.listen("s", "")
	p := one.publish("a", social.Audience{Public: true})
	l.hears(p, 1)
	server.hears(p, 1)

	// When a server stops, the client continues on another one and misses nothing.
	two.stop()
	_, err := two.client("r").Timeline(t.Context(), "", 1)
	require.ErrorIs(t, err, client.ErrUnreachable)
	p2 := one.publish("a", social.Audience{Followers: true})
	waitSettled(t, one.App)
	one.listen("r", fmt.Sprintf("%s:%d", p.ID, p.CreatedAt)).hears(p2, 1)
}

// TestStreamEndsOnShutdown stops a server with open streams: each ends without an error.
func TestStreamEndsOnShutdown(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	s := serve(t, cfg)
	var bodies []*http.Response
	for i := range 50 {
		bodies = append(bodies, s.openStream(fmt.Sprintf("r%d", i)))
	}
	s.stop()
	for _, res := range bodies {
		var err error
		for err == nil {
			_, err = res.Body.Read(make([]byte, 512))
		}
		require.EqualError(t, err, "EOF", "it has not ended well")
	}
}

// openStream opens a stream that does not reconnect.
func (s *served) openStream(agent string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/v1/stream", nil)
	require.NoError(s.t, err)
	r.Header.Set("X-Agent-ID", agent)
	res, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// TestStreamLimits opens as many streams as one agent, and all agents, may have: one more is
// refused until another is closed.
func TestStreamLimits(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	s := serve(t, cfg, func(s *settings) { s.streams = timeline.AgentWatches + 1 })
	for range timeline.AgentWatches {
		require.Equal(t, http.StatusOK, s.openStream("r").StatusCode)
	}
	res := s.openStream("r")
	require.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	other := s.openStream("other")
	require.Equal(t, http.StatusOK, other.StatusCode)
	require.Equal(t, http.StatusServiceUnavailable, s.openStream("another").StatusCode)
	require.NoError(t, other.Body.Close())
	testenv.WaitFor(t, func() bool { return s.openStream("another").StatusCode == http.StatusOK }, "the place of a client that has left")
}

// TestStreamSurvivesRedisRestart stops Redis during an open stream.
func TestStreamSurvivesRedisRestart(t *testing.T) {
	t.Parallel()
	cfg := withoutElastic(t)
	r := testenv.StartRedis(t)
	cfg.Redis.URL = "redis://" + r.Addr
	s := serve(t, cfg)
	s.background(t.Context(), "looks", func(ctx context.Context) {
		for range periodic.Every(ctx, 20*time.Millisecond) {
			s.network.watcher.Poll(ctx)
		}
	})
	s.follow("r", "a")
	l := s.listen("r", "")
	l.hears(s.publish("a", social.Audience{Public: true}), 1)
	setRedis(t, s.App, r, false)
	openBreaker(t, s.clients.breaker.Breaker, "command")
	p := s.publish("a", social.Audience{Public: true})
	opened := s.listen("r", "") // the store determines where it begins
	setRedis(t, s.App, r, true)
	l.hears(p, 1)
	p = s.publish("a", social.Audience{Public: true})
	l.hears(p, 1)
	opened.hears(p, 1)
}
