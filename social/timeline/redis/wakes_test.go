package redis

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/timeline"
	"github.com/freshet/freshet/social/timeline/timelinetest"
)

// openWakes returns wakes on a client, with short pauses, that are sent until the test ends.
func openWakes(t *testing.T, client PubSub, prefix string, log *slog.Logger) *Wakes {
	w := NewWakes(client, Config{KeyPrefix: prefix, Clock: time.Now}, log)
	w.pauses = wakePauses{retry: 10 * time.Millisecond, silent: 200 * time.Millisecond, life: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return w
}

var quiet = slog.New(slog.DiscardHandler)

func TestWakes(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (a, b PubSub, prefix string){
		"one server": func(t *testing.T) (PubSub, PubSub, string) {
			client, prefix := testenv.Redis(t)
			other := redis.NewClient(client.(*redis.Client).Options())
			t.Cleanup(func() { _ = other.Close() })
			return client, other, prefix
		},
		"cluster": func(t *testing.T) (PubSub, PubSub, string) {
			client, prefix := testenv.RedisCluster(t)
			other := redis.NewClusterClient(client.Options())
			t.Cleanup(func() { _ = other.Close() })
			return client, other, prefix
		},
		"Sentinel": func(t *testing.T) (PubSub, PubSub, string) {
			client, prefix := testenv.RedisSentinel(t)
			other, _ := testenv.RedisSentinel(t)
			return client, other, prefix
		},
	} {
		t.Run(name, func(t *testing.T) {
			timelinetest.RunWakes(t, func(t *testing.T) timelinetest.WakesEnv {
				a, b, prefix := open(t)
				return timelinetest.WakesEnv{A: openWakes(t, a, prefix, quiet), B: openWakes(t, b, prefix, quiet)}
			})
		})
	}
}

// ownWakes returns wakes on a Redis for this test only.
func ownWakes(t *testing.T, log *slog.Logger) (*Wakes, *testenv.OwnRedis, *redis.Client) {
	own := testenv.StartRedis(t)
	client := redis.NewClient(&redis.Options{Addr: own.Addr, DialTimeout: 200 * time.Millisecond, ReadTimeout: 200 * time.Millisecond, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	return openWakes(t, client, "", log), own, client
}

// TestWakesForeignMessages publishes what no server sends.
func TestWakesForeignMessages(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	w := openWakes(t, client, prefix, quiet)
	r := timelinetest.Receive(t, w)
	r.Has(w, timeline.Wake{Agents: []string{"u_1"}})
	for _, text := range []string{
		"", "\n", "t", "o\nt\n", "\x00\xff\xfe", "x\ny", "{}", strings.Repeat("\n", wakeBytes), strings.Repeat("t", wakeBytes),
		strings.Repeat("ttoo_big\n", wakeBytes/4), strings.Repeat("a", 1<<20), "tu_1\r\n", "tu_1\nou_",
	} {
		require.NoError(t, client.Publish(t.Context(), w.channel, text).Err())
	}
	r.Has(w, timeline.Wake{Agents: []string{"u_2"}})
	require.Contains(t, r.Names(), "o u_", "a message that was cut names somebody else at worst")
	require.NotContains(t, r.Names(), "t too_big")
}

func TestWakeLines(t *testing.T) {
	assert.Equal(t, timeline.Wake{Agents: []string{"a", "b"}, Authors: []string{"c", "@server"}, Inboxes: []string{"d"}}, parseWake("ta\noc\nx\n\nnd\ntb\no@server"))
}

// TestWakesAllowance checks that what exceeds the bytes of a second is ignored until the next one.
func TestWakesAllowance(t *testing.T) {
	var a allowance
	now := timelinetest.Start
	for _, later := range []time.Duration{time.Second, time.Second, -time.Hour, time.Second} {
		for range wakesRead / wakeBytes {
			require.True(t, a.take(wakeBytes, now))
		}
		require.False(t, a.take(1, now.Add(time.Second-1)))
		now = now.Add(later)
	}
}

// TestWakesWaitBounded checks that names are dropped while Redis does not take them.
func TestWakesWaitBounded(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	w := NewWakes(client, Config{KeyPrefix: prefix, Clock: time.Now}, quiet)
	page := make([]string, 1000)
	for range 100 {
		w.Send(timeline.Wake{Agents: page})
	}
	require.Len(t, w.waiting, wakesWaiting)
}

// TestWakesRedisFails restarts and freezes Redis: wakes arrive again afterwards.
func TestWakesRedisFails(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(own *testenv.OwnRedis, w *Wakes){
		"restart": func(own *testenv.OwnRedis, w *Wakes) {
			own.Kill()
			w.Send(timeline.Wake{Agents: []string{"lost"}})
			own.Start()
		},
		"freeze": func(own *testenv.OwnRedis, w *Wakes) {
			own.Freeze()
			w.Send(timeline.Wake{Agents: []string{"lost"}})
			time.Sleep(5 * w.pauses.silent) // connections are opened again
			own.Thaw()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log records
			w, own, _ := ownWakes(t, slog.New(&log))
			r := timelinetest.Receive(t, w)
			r.Has(w, timeline.Wake{Agents: []string{"u_1"}})
			fail(own, w)
			r.Has(w, timeline.Wake{Agents: []string{"u_2"}})
			require.Empty(t, log.texts(), "an outage is logged elsewhere")
		})
	}
}

// TestWakesConnectionRenewed checks that a subscription does not stay on one connection.
func TestWakesConnectionRenewed(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	w := openWakes(t, client, prefix, quiet)
	w.pauses.life = 20 * time.Millisecond
	r := timelinetest.Receive(t, w)
	for i := range 20 {
		r.Has(w, timeline.Wake{Agents: []string{fmt.Sprint("u_", i)}})
		time.Sleep(w.pauses.life / 3)
	}
}

// TestWakesLaggingSubscriber checks that a subscriber who reads too slowly, and whom Redis disconnects
// therefore, receives again later.
func TestWakesLaggingSubscriber(t *testing.T) {
	t.Parallel()
	w, own, client := ownWakes(t, quiet)
	require.NoError(t, client.ConfigSet(t.Context(), "client-output-buffer-limit", "pubsub 64kb 64kb 1").Err())
	other := redis.NewClient(&redis.Options{Addr: own.Addr})
	t.Cleanup(func() { _ = other.Close() })
	r := timelinetest.Receive(t, w)
	var slow sync.Mutex
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Receive(ctx, func(timeline.Wake) { slow.Lock(); defer slow.Unlock() })
	}()
	t.Cleanup(func() { cancel(); <-ended })
	r.Has(w, timeline.Wake{Agents: []string{"u_1"}})
	subscribers := func(n int64) func() bool {
		return func() bool {
			_ = other.Publish(t.Context(), w.channel, strings.Repeat("x", 8<<20)).Err()
			count, err := other.PubSubNumSub(t.Context(), w.channel).Result()
			return err == nil && count[w.channel] < n
		}
	}
	slow.Lock()
	testenv.WaitFor(t, subscribers(2), "Redis to disconnect a subscriber")
	slow.Unlock()
	testenv.WaitFor(t, func() bool {
		count, err := other.PubSubNumSub(t.Context(), w.channel).Result()
		return err == nil && count[w.channel] == 2
	}, "both to subscribe again")
	r.Has(w, timeline.Wake{Agents: []string{"u_2"}})
}

// TestWakesWithoutRights checks that a user without rights to the channel gets no wakes, that the log
// says so once for each direction, and that wakes arrive as soon as the rights are there.
func TestWakesWithoutRights(t *testing.T) {
	t.Parallel()
	for name, lacks := range map[string]struct{ taken, given []any }{
		"the commands": {[]any{"allchannels", "-publish", "-subscribe"}, []any{"+publish", "+subscribe"}},
		"the channel":  {[]any{"resetchannels"}, []any{"&lists:*"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := testenv.StartRedis(t)
			owner := redis.NewClient(&redis.Options{Addr: own.Addr})
			t.Cleanup(func() { _ = owner.Close() })
			allow := func(rights ...any) {
				t.Helper()
				require.NoError(t, owner.Do(t.Context(), append([]any{"acl", "setuser", "freshet"}, rights...)...).Err())
			}
			allow(append([]any{"on", ">secret", "~*", "+@all"}, lacks.taken...)...)
			client := redis.NewClient(&redis.Options{Addr: own.Addr, Username: "freshet", Password: "secret"})
			t.Cleanup(func() { _ = client.Close() })
			var log records
			w := openWakes(t, client, "", slog.New(&log))
			r := timelinetest.Receive(t, w)
			testenv.WaitFor(t, func() bool {
				w.Send(timeline.Wake{Agents: []string{"u_1"}})
				return len(log.texts()) == 2
			}, "the log to say that both are refused")
			for range 10 {
				w.Send(timeline.Wake{Agents: []string{"u_1"}})
				time.Sleep(w.pauses.retry)
				select {
				case w.ready <- struct{}{}: // as after a Send whose lines the previous message had
				default:
				}
			}
			require.Len(t, log.texts(), 2)
			require.Empty(t, r.Names())
			for _, text := range log.texts() {
				require.Contains(t, text, "every two seconds")
				require.Contains(t, text, "docs/production.md lists those")
			}
			allow(lacks.given...)
			r.Has(w, timeline.Wake{Agents: []string{"u_2"}})
			testenv.WaitFor(t, func() bool { return len(log.texts()) == 4 }, "the log to say that both work again")
		})
	}
}

// records collects what is logged at level info or above.
type records struct {
	mu   sync.Mutex
	list []string
}

func (r *records) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (r *records) WithAttrs([]slog.Attr) slog.Handler               { return r }
func (r *records) WithGroup(string) slog.Handler                    { return r }

func (r *records) Handle(_ context.Context, record slog.Record) error {
	text := record.Message
	record.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, text)
	return nil
}

func (r *records) texts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.list...)
}
