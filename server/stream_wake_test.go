package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// noLooks leaves streams to wakes.
func noLooks(s *settings) { s.pauses.streams = 1000 * time.Hour }

// heard waits until this many servers receive wakes over Redis.
func heard(t *testing.T, cfg configs.Config, servers int64) {
	t.Helper()
	o, err := redis.ParseURL(cfg.Redis.URL)
	require.NoError(t, err)
	client := redis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	channel := rediskeys.New(cfg.Redis.KeyPrefix, false).Wakes()
	testenv.WaitFor(t, func() bool {
		n, err := client.PubSubNumSub(t.Context(), channel).Result()
		return err == nil && n[channel] == servers
	}, "%d servers to receive wakes", servers)
}

// TestStreamWakes checks that the streams of all servers report a post right after its delivery, as the
// streams do not look here: of an author whose posts are pushed, of one whose posts are pulled, of
// everybody for followers of the whole server, and none that the reader must not see.
func TestStreamWakes(t *testing.T) {
	t.Parallel()
	for _, mode := range []mode{{"embedded", embedded}, {"services", func(t testing.TB) configs.Config { return withoutElastic(t) }}} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			cfg := mode.config(t)
			cfg.Timeline.CelebrityAt = 3
			one := serve(t, cfg, noLooks)
			all := []*served{one}
			if cfg.UsesPostgres() {
				cfg.DataDir = t.TempDir()
				all = append(all, serve(t, cfg, noLooks))
			}
			public, circle := social.Audience{Public: true}, social.Audience{Circles: []string{"club"}}
			one.follow("r", "a")
			one.follow("r", "star")
			one.follow("s", social.Server)
			for i := range cfg.Timeline.CelebrityAt {
				one.follow(fmt.Sprint("fan", i), "star")
			}
			testenv.WaitFor(t, func() bool {
				changed, err := one.Social.SetDelivery(t.Context(), "star", social.Both, social.Pull) // it would take a while
				return changed && err == nil
			}, "the posts of an author with many followers to be pulled")
			_, err := one.network.fanout.Store().PutCircle(t.Context(), social.Circle{ID: "club", Owner: "a"}, []string{"r"}, time.Time{})
			require.NoError(t, err)
			var readers, servers []*listener
			for _, s := range all {
				for range 2 { // two devices
					readers = append(readers, s.listen("r", ""))
				}
				servers = append(servers, s.listen("s", ""))
			}
			if cfg.UsesPostgres() {
				heard(t, cfg, 2)
			}
			hear := func(streams []*listener, p social.Post) {
				t.Helper()
				for _, l := range streams {
					l.hears(p, 1)
				}
			}
			for range 3 {
				for _, s := range all {
					for author, to := range map[string]social.Audience{"a": public, "star": public} {
						p := s.publish(author, to)
						hear(readers, p)
						hear(servers, p)
					}
					hear(readers, s.publish("a", circle))
					hear(readers, s.publish("star", social.Audience{Followers: true}))
				}
			}
			// What a reader must not see is not counted later either.
			_, err = one.network.fanout.Store().Block(t.Context(), "a", "r")
			require.NoError(t, err)
			hear(servers, one.publish("a", public))
			hear(readers, one.publish("star", social.Audience{Followers: true}))
		})
	}
}

// TestStreamWakesAfterRedisFails checks that wakes arrive again after Redis was frozen or restarted, and
// that a server which is stopped leaves no subscription.
func TestStreamWakesAfterRedisFails(t *testing.T) {
	t.Parallel()
	cfg := withoutElastic(t)
	r := testenv.StartRedis(t)
	cfg.Redis.URL = "redis://" + r.Addr
	shortTimeouts(&cfg)
	one := serve(t, cfg, noLooks)
	cfg.DataDir = t.TempDir()
	two := serve(t, cfg, noLooks)
	one.follow("r", "a")
	l, last := two.listen("r", ""), two.listen("r", "")
	for _, fail := range []func(){
		func() {},
		func() { r.Freeze(); time.Sleep(time.Second); r.Thaw() },
		func() { r.Kill(); r.Start() },
	} {
		fail()
		for _, s := range []*served{one, two} {
			testenv.WaitFor(t, func() bool { return s.clients.redis.Ping(t.Context()).Err() == nil }, "Redis to be asked again")
		}
		heard(t, cfg, 1)
		told, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for range periodic.Now(t.Context(), 100*time.Millisecond) {
				select {
				case <-told:
					return
				default: // the list may be dropped again, as Redis has lost data
					_ = two.network.fanout.Build(t.Context(), "r")
					_, _, _ = one.network.fanout.Store().CreatePost(t.Context(), social.Post{Author: "a", Caption: "x", Audience: social.Audience{Public: true}}, social.Creation{})
				}
			}
		}()
		for range 3 {
			require.Positive(t, l.news().Count)
			require.Positive(t, last.news().Count)
		}
		close(told)
		<-stopped
	}
	two.stop()
	heard(t, cfg, 0)
}
