package app

import (
	"context"
	"fmt"
	"iter"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// served is a system that is served as freshet serve does.
type served struct {
	*App
	t    *testing.T
	url  string
	stop func() // as SIGTERM does; returns when it has stopped
}

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
	return p
}

func (s *served) follow(agent, author string) {
	s.t.Helper()
	_, err := s.network.fanout.Store().Follow(s.t.Context(), agent, author, time.Time{})
	require.NoError(s.t, err)
}

// listener is an agent who listens.
type listener struct {
	t    *testing.T
	next func() (client.News, error, bool)
}

// listen opens a stream; when it returns, what is published is new to it.
func (s *served) listen(agent, last string) *listener {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	next, stop := iter.Pull2(s.client(agent).Stream(ctx, last))
	s.t.Cleanup(func() { cancel(); stop() })
	l := &listener{s.t, next}
	first := l.news()
	require.Zero(s.t, first.Count)
	if last != "" {
		require.Equal(s.t, last, first.ID)
	}
	return l
}

// news waits for what is told next.
func (l *listener) news() client.News {
	l.t.Helper()
	news, err, ok := l.next()
	require.True(l.t, ok)
	require.NoError(l.t, err)
	return news
}

// hears waits until this post is told, as the newest of so many.
func (l *listener) hears(p social.Post, count int) {
	l.t.Helper()
	require.Equal(l.t, client.News{ID: fmt.Sprintf("%s:%d", p.ID, p.CreatedAt), Count: count}, l.news())
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			now := at(time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC))
			cfg := m.config(t)
			cfg.Timeline.Celebrity.At, cfg.Timeline.Celebrity.Until = 2, 2
			s := serve(t, cfg, WithClock(now.Now))
			next := func(author string) social.Post {
				now.Advance(time.Second)
				return s.publish(author, social.Audience{Public: true})
			}
			s.follow("r", "a")
			star(t, s, now, "star", "r", "fan")
			s.follow("of-server", social.Server)
			first := next("a")
			settled(t, s.App)
			l, server := s.listen("r", ""), s.listen("of-server", "")
			second := next("a")
			l.hears(second, 1)
			server.hears(second, 1)
			again := s.listen("r", fmt.Sprintf("%s:%d", first.ID, first.CreatedAt))
			again.hears(second, 1)
			for author, listeners := range map[string][]*listener{"star": {l, again, server}, "stranger": {server}} {
				p := next(author)
				for _, one := range listeners {
					one.hears(p, 1)
				}
			}

			gone := next("a")
			require.NoError(t, s.network.fanout.Store().DeletePost(t.Context(), gone.ID, "a", time.Time{}))
			_, err := s.network.fanout.Store().Block(t.Context(), "star", "r")
			require.NoError(t, err)
			next("star")
			last := next("a")
			for news := l.news(); ; news = l.news() { // the deleted one may have been told before
				require.Equal(t, 1, news.Count)
				if strings.HasPrefix(news.ID, last.ID) {
					break
				}
				require.True(t, strings.HasPrefix(news.ID, gone.ID), news.ID)
			}
		})
	}
}

// star makes an author one whose posts are pulled; some follow them.
func star(t *testing.T, s *served, now *clock, author string, followers ...string) {
	t.Helper()
	for _, f := range followers {
		s.follow(f, author)
	}
	require.Eventually(t, func() bool { // they are delivered both ways for a while
		now.Advance(5 * time.Second)
		c, err := s.network.store.Celebrity(t.Context(), author)
		return err == nil && c.Delivery == social.Pull
	}, time.Minute, 20*time.Millisecond)
}

// TestStreamsOfTwoServers publishes on one server and listens on the other.
func TestStreamsOfTwoServers(t *testing.T) {
	t.Parallel()
	cfg := withPostgres(t)
	one := serve(t, cfg)
	cfg.DataDir = t.TempDir()
	two := serve(t, cfg)
	one.follow("r", "a")
	one.follow("s", social.Server)
	l, server := two.listen("r", ""), two.listen("s", "")
	p := one.publish("a", social.Audience{Public: true})
	l.hears(p, 1)
	server.hears(p, 1)

	// When a server stops, who listens goes on elsewhere and misses nothing.
	two.stop()
	_, err := two.client("r").Timeline(t.Context(), "", 1)
	require.ErrorIs(t, err, client.ErrUnreachable)
	p2 := one.publish("a", social.Audience{Followers: true})
	settled(t, one.App)
	one.listen("r", fmt.Sprintf("%s:%d", p.ID, p.CreatedAt)).hears(p2, 1)
}

// TestAStopEndsStreams stops a server with many streams.
func TestAStopEndsStreams(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Server.ShutdownTimeout = time.Minute
	s := serve(t, cfg)
	var bodies []*http.Response
	for i := range 50 {
		bodies = append(bodies, s.get(fmt.Sprintf("r%d", i)))
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

// get opens a stream that does not connect again.
func (s *served) get(agent string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/v1/stream", nil)
	require.NoError(s.t, err)
	r.Header.Set("X-Agent-ID", agent)
	res, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func TestBoundsOfStreams(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Server.MaxStreams = engine.AgentWatches + 1
	s := serve(t, cfg)
	for range engine.AgentWatches {
		require.Equal(t, http.StatusOK, s.get("r").StatusCode)
	}
	res := s.get("r")
	require.Equal(t, http.StatusTooManyRequests, res.StatusCode)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	other := s.get("other")
	require.Equal(t, http.StatusOK, other.StatusCode)
	require.Equal(t, http.StatusServiceUnavailable, s.get("another").StatusCode)
	require.NoError(t, other.Body.Close())
	require.Eventually(t, func() bool { return s.get("another").StatusCode == http.StatusOK }, time.Minute, 10*time.Millisecond,
		"the place of a client that has left")
}

// TestAStreamOutlivesRedis takes Redis away under an open stream.
func TestAStreamOutlivesRedis(t *testing.T) {
	t.Parallel()
	cfg := withPostgres(t)
	r := testenv.StartRedis(t)
	cfg.Redis.Addrs = []string{r.Addr}
	s := serve(t, cfg)
	s.follow("r", "a")
	l := s.listen("r", "")
	l.hears(s.publish("a", social.Audience{Public: true}), 1)
	away(t, s.App, r, false)
	p := s.publish("a", social.Audience{Public: true})
	opened := s.listen("r", "") // the store knows where it begins
	away(t, s.App, r, true)
	l.hears(p, 1)
	p = s.publish("a", social.Audience{Public: true})
	l.hears(p, 1)
	opened.hears(p, 1)
}
