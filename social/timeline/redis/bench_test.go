package redis

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/timeline"
	"github.com/freshet/freshet/social/timeline/timelinetest"
)

// full is the content of a full list, with ids as long as those that Freshet creates.
func full(n int) timeline.Content {
	var c timeline.Content
	for i := range n {
		c.Entries = append(c.Entries, timeline.Position{At: 1_770_000_000 - int64(i), ID: fmt.Sprintf("post:01HZY3Q9V5W8X7K2M4N6P8%04d", i)})
	}
	c.Floor = timeline.Position{At: 1_760_000_000, ID: "post:01HZY3Q9V5W8X7K2M4N6P8R0"}
	return c
}

func fill(t testing.TB, l *Lists, names ...string) {
	t.Helper()
	for _, name := range names {
		token, _, err := l.Begin(t.Context(), name)
		require.NoError(t, err)
		_, err = l.Commit(t.Context(), name, token, full(l.cfg.Cap))
		require.NoError(t, err)
	}
}

// TestListMemory compares the encodings of a full list.
func TestListMemory(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: testenv.StartRedis(t).Addr})
	defer func() { _ = client.Close() }()
	l := NewTimelines(client, Config{Clock: still})
	bytes := func(entries, list string) int64 {
		require.NoError(t, client.ConfigSet(t.Context(), "zset-max-listpack-entries", entries).Err())
		fill(t, l, list)
		n := client.MemoryUsage(t.Context(), l.key(list), 0).Val()
		t.Logf("zset-max-listpack-entries %s: %s, %d bytes, %d an entry", entries,
			client.ObjectEncoding(t.Context(), l.key(list)).Val(), n, n/int64(timeline.Cap))
		return n
	}
	assert.Less(t, 2*bytes("512", "u_1"), bytes("128", "u_2"))
}

// encodings runs a benchmark with lists as skiplists and as listpacks.
func encodings(b *testing.B, run func(b *testing.B, l *Lists)) {
	for _, entries := range []string{"128", "512"} {
		b.Run("zset-max-listpack-entries="+entries, func(b *testing.B) {
			client := redis.NewClient(&redis.Options{Addr: testenv.StartRedis(b).Addr})
			defer func() { _ = client.Close() }()
			if err := client.ConfigSet(b.Context(), "zset-max-listpack-entries", entries).Err(); err != nil {
				b.Fatal(err)
			}
			run(b, NewTimelines(client, Config{Clock: still}))
		})
	}
}

// cpu reports the processor time that Redis uses for an operation.
func cpu(b *testing.B, l *Lists) (report func()) {
	used := func() (seconds float64) {
		info := l.client.InfoMap(b.Context(), "cpu").Item("CPU", "used_cpu_user")
		system := l.client.InfoMap(b.Context(), "cpu").Item("CPU", "used_cpu_sys")
		for _, text := range []string{info, system} {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				b.Fatal(err)
			}
			seconds += n
		}
		return seconds
	}
	before := used()
	return func() { b.ReportMetric((used()-before)*1e6/float64(b.N), "redis-µs/op") }
}

// BenchmarkPush pushes one post to 500 full lists, each of which is trimmed.
func BenchmarkPush(b *testing.B) {
	encodings(b, func(b *testing.B, l *Lists) {
		var names []string
		for i := range 500 {
			names = append(names, fmt.Sprint("u_", i))
		}
		fill(b, l, names...)
		heads, err := l.Heads(b.Context(), names)
		if err != nil {
			b.Fatal(err)
		}
		versions := make([]string, len(names))
		for i, h := range heads {
			versions[i] = h.Version
		}
		b.ReportAllocs()
		defer cpu(b, l)()
		for i := 0; b.Loop(); i++ {
			p := timeline.Position{At: 1_780_000_000 + int64(i), ID: fmt.Sprintf("post:01HZZ3Q9V5W8X7K2M4N6%06d", i)}
			if held, err := l.Push(b.Context(), timelinetest.Additions(names, versions, p)); err != nil || held[499] != 1 {
				b.Fatal(held, err)
			}
		}
	})
}

func BenchmarkRemove(b *testing.B) {
	encodings(b, func(b *testing.B, l *Lists) {
		var names []string
		for i := range 500 {
			names = append(names, fmt.Sprint("u_", i))
		}
		fill(b, l, names...)
		b.ReportAllocs()
		defer cpu(b, l)()
		for i := 0; b.Loop(); i++ {
			if err := l.Remove(b.Context(), names, []string{fmt.Sprintf("post:01HZY3Q9V5W8X7K2M4N6P8%04d", i%500)}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRead reads a page of 20 from the top and from the middle of a full
// list.
func BenchmarkRead(b *testing.B) {
	encodings(b, func(b *testing.B, l *Lists) {
		fill(b, l, "u_1")
		for name, below := range map[string]timeline.Position{"top": {}, "middle": full(250).Entries[249]} {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				defer cpu(b, l)()
				for b.Loop() {
					if page, err := l.Read(b.Context(), "u_1", below, 20); err != nil || len(page.Entries) != 20 {
						b.Fatal(page, err)
					}
				}
			})
		}
	})
}

// BenchmarkReadInOneSecond reads from the middle of 10,000 posts that have the same second.
func BenchmarkReadInOneSecond(b *testing.B) {
	client := redis.NewClient(&redis.Options{Addr: testenv.StartRedis(b).Addr})
	defer func() { _ = client.Close() }()
	l := NewTimelines(client, Config{Cap: 10_000, Clock: still})
	c := full(10_000)
	for i := range c.Entries {
		c.Entries[i].At = 1_770_000_000
	}
	token, _, err := l.Begin(b.Context(), "u_1")
	require.NoError(b, err)
	_, err = l.Commit(b.Context(), "u_1", token, c)
	require.NoError(b, err)
	defer cpu(b, l)()
	below := timeline.Position{At: 1_770_000_000, ID: c.Entries[5000].ID + "x"} // no entry has this id
	for b.Loop() {
		if page, err := l.Read(b.Context(), "u_1", below, 20); err != nil || len(page.Entries) != 20 {
			b.Fatal(page, err)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	encodings(b, func(b *testing.B, l *Lists) {
		b.ReportAllocs()
		defer cpu(b, l)()
		for b.Loop() {
			fill(b, l, "u_1")
			if err := l.Drop(b.Context(), []string{"u_1"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
