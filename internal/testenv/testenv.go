// Package testenv provides tests with the real services and the real posts that the environment
// names, or skips them with a message that says which variable to set. With
// FRESHET_TEST_REQUIRE_SERVICES=1 they fail instead.
package testenv

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/redis/go-redis/v9"
)

var serial atomic.Int64

func missing(t testing.TB, name, what string) {
	t.Helper()
	msg := fmt.Sprintf("set %s to %s to run this test", name, what)
	if os.Getenv("FRESHET_TEST_REQUIRE_SERVICES") == "1" {
		t.Fatal(msg)
	}
	t.Skip(msg)
}

// Unique returns a name that no other test of this or another process uses: lower-case letters,
// digits and dashes.
func Unique() string {
	return fmt.Sprintf("t%d-%d-%d", os.Getpid(), time.Now().UnixNano()%1e9, serial.Add(1))
}

// S3 returns the address of a bucket of a real S3 server, in the form of media.url.
func S3(t testing.TB) string {
	t.Helper()
	Full(t, "s3")
	url := os.Getenv("FRESHET_TEST_S3")
	if url == "" {
		missing(t, "FRESHET_TEST_S3", `a bucket of an S3 server (eval "$(scripts/s3)")`)
	}
	return url
}

// RedisURL returns the address of the real Redis, as redis://host:port/db.
func RedisURL(t testing.TB) string {
	t.Helper()
	url := os.Getenv("FRESHET_TEST_REDIS")
	if url == "" {
		missing(t, "FRESHET_TEST_REDIS", "the address of a Redis with the Bloom filter type (redis://127.0.0.1:6379/0)")
	}
	return url
}

// RedisAt returns the redis.url of servers: of one, of some nodes of a cluster, or of Sentinels,
// with "master_name=" as a parameter. Without servers it is "".
func RedisAt(addrs []string, parameters ...string) string {
	if len(addrs) == 0 {
		return ""
	}
	url := "redis://" + addrs[0] + "?" + strings.Join(parameters, "&")
	for _, addr := range addrs[1:] {
		url += "&addr=" + addr
	}
	return url
}

// Redis connects to the real Redis and returns the client with a key prefix unique to this test;
// the keys under it are deleted when the test ends.
func Redis(t testing.TB) (client redis.UniversalClient, prefix string) {
	t.Helper()
	opts, err := redis.ParseURL(RedisURL(t))
	if err != nil {
		t.Fatalf("FRESHET_TEST_REDIS: %v", err)
	}
	c := redis.NewClient(opts)
	return c, ownPrefix(t, c)
}

// ownPrefix returns a unique prefix. When the test ends, it deletes the keys under it and closes
// the client.
func ownPrefix(t testing.TB, client redis.UniversalClient) string {
	prefix := Unique() + ":"
	t.Cleanup(func() {
		ctx := context.Background()
		_ = EachMaster(ctx, client, func(ctx context.Context, c *redis.Client) error {
			keys := c.Scan(ctx, 0, prefix+"*", 1000).Iterator()
			for keys.Next(ctx) {
				c.Unlink(ctx, keys.Val())
			}
			return keys.Err()
		})
		_ = client.Close()
	})
	return prefix
}

// EachMaster calls f with the server, or with each master of a cluster.
func EachMaster(ctx context.Context, client redis.UniversalClient, f func(context.Context, *redis.Client) error) error {
	if cluster, ok := client.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, f)
	}
	return f(ctx, client.(*redis.Client))
}

// RedisClusterAddrs returns the addresses of the nodes of a real cluster.
func RedisClusterAddrs(t testing.TB) []string {
	t.Helper()
	addrs := os.Getenv("FRESHET_TEST_REDIS_CLUSTER")
	if addrs == "" {
		missing(t, "FRESHET_TEST_REDIS_CLUSTER", "the nodes of a Redis Cluster with the Bloom filter type (eval \"$(scripts/redis-cluster)\")")
	}
	return strings.Split(addrs, ",")
}

// RedisCluster is [Redis] for the real cluster.
func RedisCluster(t testing.TB) (client *redis.ClusterClient, prefix string) {
	t.Helper()
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: RedisClusterAddrs(t)})
	return c, ownPrefix(t, c)
}

// RedisSentinelAddrs returns the name of a master and the addresses of the Sentinels that watch it.
func RedisSentinelAddrs(t testing.TB) (master string, addrs []string) {
	t.Helper()
	master, list, ok := strings.Cut(os.Getenv("FRESHET_TEST_REDIS_SENTINEL"), "@")
	if !ok {
		missing(t, "FRESHET_TEST_REDIS_SENTINEL", "master@host:port,... of Redis Sentinels (eval \"$(scripts/redis-sentinel)\")")
	}
	return master, strings.Split(list, ",")
}

// RedisSentinel is [Redis] for the master that the real Sentinels name.
func RedisSentinel(t testing.TB) (client *redis.Client, prefix string) {
	t.Helper()
	master, addrs := RedisSentinelAddrs(t)
	c := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: master, SentinelAddrs: addrs})
	return c, ownPrefix(t, c)
}

var posts = sync.OnceValues(func() ([]feed.Item, error) {
	f, err := os.Open(os.Getenv("FRESHET_TEST_POSTS"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var items []feed.Item
	for r := bufio.NewReader(zr); ; {
		line, err := r.ReadBytes('\n')
		if len(line) > 1 {
			it, perr := feed.ParseItem(line)
			if perr != nil {
				return nil, fmt.Errorf("post %d: %w", len(items)+1, perr)
			}
			items = append(items, it)
		}
		if err == io.EOF {
			return items, nil
		}
		if err != nil {
			return nil, err
		}
	}
})

// PostsFile returns the path of the real posts, as gzipped NDJSON.
func PostsFile(t testing.TB) string {
	t.Helper()
	path := os.Getenv("FRESHET_TEST_POSTS")
	if path == "" {
		missing(t, "FRESHET_TEST_POSTS", "a gzipped NDJSON file of posts")
	}
	return path
}

// Posts returns the real posts, oldest first; the slice is shared.
func Posts(t testing.TB) []feed.Item {
	t.Helper()
	PostsFile(t)
	items, err := posts()
	if err != nil {
		t.Fatalf("FRESHET_TEST_POSTS: %v", err)
	}
	return items
}

// WithoutRace skips a test with much computation and little concurrency under the race detector:
// there it takes ten times as long and finds nothing. It must be the first statement of the test:
// by it .ci/run finds the tests to run without -race.
func WithoutRace(t testing.TB) {
	t.Helper()
	if raceSlowdown > 1 {
		t.Skip("it computes much and does little at once; run it without -race")
	}
}
