package redis

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
	"github.com/freshet/freshet/social/timeline"
	"github.com/freshet/freshet/social/timeline/timelinetest"
)

// cutStep is a call that loses its connection to Redis once. Its list is ready or, with building,
// being built.
type cutStep struct {
	name     string
	building bool
	call     func(ctx context.Context, l *Lists, list, token string) (any, error)
}

var cutSteps = []cutStep{
	{"read", false, func(ctx context.Context, l *Lists, list, _ string) (any, error) {
		return l.Read(ctx, list, timeline.Position{}, 10)
	}},
	{"heads", false, func(ctx context.Context, l *Lists, list, _ string) (any, error) {
		heads, err := l.Heads(ctx, []string{list, list + "none"})
		heads[0].Version = ""
		return heads, err
	}},
	{"versions", false, func(ctx context.Context, l *Lists, list, _ string) (any, error) {
		versions, err := l.Versions(ctx, []string{list, list + "none"})
		return []bool{versions[0] != "", versions[1] != ""}, err
	}},
	{"push", false, pushes},
	{"push while it is built", true, pushes},
	{"remove", false, removes},
	{"remove while it is built", true, removes},
	{"replace", false, replaces},
	{"replace while it is built", true, replaces},
	{"clear token", true, func(ctx context.Context, l *Lists, list, _ string) (any, error) {
		return nil, l.ClearToken(ctx, []string{list})
	}},
	{"drop", false, func(ctx context.Context, l *Lists, list, _ string) (any, error) {
		return nil, l.Drop(ctx, []string{list})
	}},
	{"begin", false, func(ctx context.Context, l *Lists, list, _ string) (any, error) {
		token, state, err := l.Begin(ctx, list+"b")
		if err != nil {
			return nil, err
		}
		done, err := l.Commit(ctx, list+"b", token, timeline.Content{Entries: posts(3, 2, 1)})
		return fmt.Sprint(state, done), err
	}},
	{"commit", true, func(ctx context.Context, l *Lists, list, token string) (any, error) {
		return l.Commit(ctx, list, token, timeline.Content{Entries: posts(9, 8, 7, 6, 5, 4, 3), Floor: posts(2)[0]})
	}},
	{"abandon", true, func(ctx context.Context, l *Lists, list, token string) (any, error) {
		return nil, l.Abandon(ctx, list, token)
	}},
}

func pushes(ctx context.Context, l *Lists, list, _ string) (any, error) {
	return push(ctx, l, []string{list, list + "none"}, posts(9, 7, 1))
}

// push pushes entries to lists at their current versions.
func push(ctx context.Context, l *Lists, lists []string, entries []timeline.Position) ([]int, error) {
	heads, err := l.Heads(ctx, lists)
	if err != nil {
		return nil, err
	}
	versions := make([]string, len(heads))
	for i, h := range heads {
		versions[i] = h.Version
	}
	return l.Push(ctx, timelinetest.Additions(lists, versions, entries...))
}

func removes(ctx context.Context, l *Lists, list, _ string) (any, error) {
	return nil, l.Remove(ctx, []string{list, list + "none"}, []string{"post:5", "post:8"})
}

func replaces(ctx context.Context, l *Lists, list, _ string) (any, error) {
	heads, err := l.Heads(ctx, []string{list})
	if err != nil {
		return nil, err
	}
	return l.Replace(ctx, list, timeline.Change{
		Version: heads[0].Version, Remove: []string{"post:5", "post:9"}, Add: posts(9, 8, 7, 3), Floor: posts(3)[0],
	})
}

func posts(seconds ...int64) []timeline.Position {
	list := make([]timeline.Position, len(seconds))
	for i, s := range seconds {
		list[i] = timeline.Position{At: s, ID: fmt.Sprint("post:", s)}
	}
	return list
}

// prepare creates a list that is ready or being built.
func prepare(t *testing.T, l *Lists, list string, building bool) (token string) {
	t.Helper()
	ctx := t.Context()
	token, _, err := l.Begin(ctx, list)
	require.NoError(t, err)
	if building {
		_, err = l.Push(ctx, []timeline.Addition{{List: list, Version: token, Entries: posts(6, 5, 4)}})
	} else {
		_, err = l.Commit(ctx, list, token, timeline.Content{Entries: posts(6, 5, 4), Floor: posts(2)[0]})
	}
	require.NoError(t, err)
	return token
}

// TestDisconnectAtEveryCommand cuts the connection of each method once: before Redis gets the
// command, after it, and within the reply. The client retries. The answer and the contents of
// Redis must be the same as without a fault.
func TestDisconnectAtEveryCommand(t *testing.T) {
	t.Run("one server", func(t *testing.T) {
		direct, prefix := testenv.Redis(t)
		u, err := url.Parse(testenv.RedisURL(t))
		require.NoError(t, err)
		p := faultproxy.Start(t, u.Host)
		cutOnce(t, p, direct, redis.NewClient(&redis.Options{Addr: p.Addrs[0], MaxRetries: 1}), prefix)
	})
	t.Run("cluster", func(t *testing.T) {
		direct, prefix := testenv.RedisCluster(t)
		p := faultproxy.Start(t, testenv.RedisClusterAddrs(t)...)
		cutOnce(t, p, direct, redis.NewClusterClient(&redis.ClusterOptions{Addrs: p.Addrs, MaxRetries: -1, MaxRedirects: 3}), prefix)
	})
}

func cutOnce(t *testing.T, p *faultproxy.Proxy, direct, client redis.UniversalClient, prefix string) {
	t.Cleanup(func() { _ = client.Close() })
	cfg := Config{KeyPrefix: prefix, Cap: 5, Clock: func() time.Time { return timelinetest.Start }}
	s, calm := NewTimelines(client, cfg), NewTimelines(direct, cfg)
	for i, step := range cutSteps {
		list := fmt.Sprint("u_", i, "_calm")
		want, err := step.call(t.Context(), calm, list, prepare(t, calm, list, step.building))
		require.NoError(t, err)
		left := stored(t, direct, calm, list)
		for _, kind := range []faultproxy.Kind{faultproxy.Before, faultproxy.After, faultproxy.Within} {
			t.Run(fmt.Sprint(step.name, ", cut ", kind), func(t *testing.T) {
				list := fmt.Sprint("u_", i, "_", kind)
				token := prepare(t, calm, list, step.building)
				fault := p.Arm(faultproxy.Fault{Kind: kind, Match: func(c faultproxy.Command) bool {
					return c.Mentions(list) && (step.name == "heads" || step.name == "versions" || strings.HasPrefix(c.Name(), "eval"))
				}})
				got, err := step.call(t.Context(), s, list, token)
				require.NoError(t, err)
				assert.True(t, fault.Fired())
				assert.Equal(t, want, got)
				assert.Equal(t, left, stored(t, direct, calm, list))
			})
		}
	}
}

// names matches the parts that differ between two runs: tokens and versions.
var names = regexp.MustCompile(`[A-Z2-7]{11}\d*`)

// stored returns the content in Redis of a list and of the lists derived from it.
func stored(t *testing.T, client redis.UniversalClient, l *Lists, list string) string {
	t.Helper()
	var text string
	for _, name := range []string{list, list + "b", list + "none"} {
		all, err := client.ZRangeWithScores(t.Context(), l.key(name), 0, -1).Result()
		require.NoError(t, err)
		text += fmt.Sprintln(names.ReplaceAllString(fmt.Sprint(all), "*"))
	}
	return text
}

// TestLateCopyOfBegin checks that a late copy of a begin does not get the token of an earlier
// build after that was cleared or dropped.
func TestLateCopyOfBegin(t *testing.T) {
	client, prefix := testenv.Redis(t)
	l := NewTimelines(client, Config{KeyPrefix: prefix, Clock: func() time.Time { return timelinetest.Start }})
	begin := func(name string) string {
		text, err := l.run(t.Context(), beginScript, "u_1", name, timelinetest.Start.UnixMilli(), 10_000, 60_000).Text()
		require.NoError(t, err)
		return text
	}
	token := begin("FIRST")
	assert.Equal(t, token, begin("FIRST"), "sent twice")
	require.NoError(t, l.ClearToken(t.Context(), []string{"u_1"}))
	assert.NotEqual(t, token, begin("FIRST"))
	require.NoError(t, l.Drop(t.Context(), []string{"u_1"}))
	assert.NotEqual(t, token, begin("FIRST"))
	done, err := l.Commit(t.Context(), "u_1", token, timeline.Content{})
	require.NoError(t, err)
	assert.False(t, done)
}
