package rediskeys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

func TestKeys(t *testing.T) {
	day := feed.DayOf(time.Date(2026, 3, 6, 23, 59, 59, 0, time.UTC))
	for _, test := range []struct {
		name string
		keys Keys
		want []string
	}{
		{"single", New("", false), []string{
			"bf:global:20260306", "bf:global:20260306:3", "bf:meta:20260306", "feed:cache:u_1", "feed:pending:u_1",
			"feed:refreshed:u_1", "feed:page:u_1:r-9", "feed:cache:u_1:home", "feed:refreshed:u_1:home", "feed:page:u_1:home:r-9", "feed:cache:u_1:named", "feed:refreshed:u_1:named", "feed:page:u_1:named:r-9", "feed:item:doc_9527", "feed:profile:u_1",
			"feed:notes", "timeline:u_1", "celebrity_posts:u_1", "feed:post:post:1", "feed:erased:u_1", "freshet:events", "freshet:events:dead",
			"feed:trending", "feed:trending:lease", "feed:retention:lease",
		}},
		{"cluster with a prefix", New("app:", true), []string{
			"app:bf:global:20260306", "app:bf:global:20260306:3", "app:bf:meta:20260306", "app:feed:cache:{u_1}",
			"app:feed:pending:{u_1}", "app:feed:refreshed:{u_1}", "app:feed:page:{u_1}:r-9",
			"app:feed:cache:{u_1}:home", "app:feed:refreshed:{u_1}:home", "app:feed:page:{u_1}:home:r-9", "app:feed:cache:{u_1}:named", "app:feed:refreshed:{u_1}:named", "app:feed:page:{u_1}:named:r-9", "app:feed:item:doc_9527",
			"app:feed:profile:{u_1}", "app:feed:notes", "app:timeline:{u_1}", "app:celebrity_posts:{u_1}", "app:feed:post:post:1", "app:feed:erased:u_1", "app:freshet:events", "app:freshet:events:dead",
			"app:feed:{trending}", "app:feed:{trending}:lease", "app:feed:{retention}:lease",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := test.keys
			assert.Equal(t, []string{"before", k.Item("a"), k.Item("doc_9527"), k.Item("")}, k.AppendItems([]string{"before"}, []string{"a", "doc_9527", ""}))
			assert.Equal(t, test.want, []string{
				k.Filter(day, 0, 1), k.Filter(day, 3, 16), k.Shards(day), k.Session("u_1", feed.ForYou), k.Pending("u_1"),
				k.Refreshed("u_1", feed.ForYou), k.Page("u_1", feed.ForYou, "r-9"),
				k.Session("u_1", feed.HomeFeed), k.Refreshed("u_1", feed.HomeFeed), k.Page("u_1", feed.HomeFeed, "r-9"), k.Session("u_1", "tag:go"), k.Refreshed("u_1", feed.AnyNamed), k.Page("u_1", "x", "r-9"), k.Item("doc_9527"), k.Profile("u_1"),
				k.OutageMarkers(), k.Timeline("u_1"), k.Outbox("u_1"), k.Post("post:1"), k.ErasedAuthor("u_1"), k.GraphEvents(), k.DeadGraphEvents(), k.Trending(), k.TrendingLease(), k.RetentionLease(),
			})
		})
	}
}

// TestStampSlots checks the slots of the keys on a cluster.
func TestStampSlots(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"p:lists:stamp"}, New("p:", false).Stamps())
	client, prefix := testenv.RedisCluster(t)
	keys := New(prefix, true).Stamps()
	assert.Len(t, keys, stamps)
	for i, key := range keys {
		n, err := client.ClusterKeySlot(t.Context(), key).Result()
		require.NoError(t, err)
		assert.EqualValues(t, i, n*stamps/slots, key)
	}
}

func TestListPatterns(t *testing.T) {
	assert.Equal(t, []string{`a\*\[b]:timeline:*`, `a\*\[b]:celebrity_posts:*`, `a\*\[b]:feed:post:*`}, New("a*[b]:", false).ListPatterns())
}

func TestForDetectsCluster(t *testing.T) {
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	single := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer func() { _, _ = cluster.Close(), single.Close() }()
	assert.True(t, For(cluster, "p:").Cluster())
	assert.False(t, For(single, "p:").Cluster())
}

type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

// TestErrorIsOutage checks that every error is an outage, except those about the command.
// docs/reliability.md has the table.
func TestErrorIsOutage(t *testing.T) {
	for err, want := range map[error]bool{
		nil:                      false,
		redis.Nil:                false,
		context.Canceled:         false,
		context.DeadlineExceeded: true,
		io.EOF:                   true,
		redis.ErrClosed:          true,
		&net.OpError{Op: "dial", Err: errors.New("refused")}: true,
		reply("WRONGTYPE Operation against a key"):           false,
		reply("ERR unknown command 'BF.MADD'"):               true,
		reply("ERR syntax error"):                            false,
		reply("WRONGPASS invalid username-password pair"):    true,
		reply("NOAUTH Authentication required."):             true,
		reply("EXECABORT Transaction discarded"):             true,

		reply("NOPERM User u has no permissions to run the 'get' command"):   true,
		reply("ERR Protocol error: unauthenticated multibulk length"):        true,
		reply("ERR ACL failure in script: User u has no permissions to run"): true,
		reply("ERR The user executing the script can't run this command"):    true,
		reply("LOADING Redis is loading the dataset"):                        true,
		fmt.Errorf("check: %w", reply("CLUSTERDOWN")):                        true,

		reply("ERR Protocol error: unauthenticated bulk length"):                                           true,
		reply("ERR Protocol error: expected '$', got ' '"):                                                 true,
		reply("NOAUTH HELLO must be called with the client already authenticated"):                         true,
		reply("ERR AUTH <password> called without any password configured for the default user"):           true,
		reply("ERR Client sent AUTH, but no password is set"):                                              true,
		reply("ERR invalid password"):                                                                      true,
		reply("ERR operation not permitted"):                                                               true,
		reply("ERR Client IP is not in whitelist"):                                                         true,
		reply("DENIED Redis is running in protected mode because protected mode is enabled"):               true,
		reply("ERR max number of clients reached"):                                                         true,
		reply("MOVED 3999 127.0.0.1:6381"):                                                                 true,
		reply("ASK 3999 127.0.0.1:6381"):                                                                   true,
		reply("UNKILLABLE Sorry the script already executed write commands against the dataset"):           true,
		reply("NOMASTERLINK Can't SYNC while not connected with my master"):                                true,
		reply("READONLY You can't write against a read only replica."):                                     true,
		reply("MISCONF Redis is configured to save RDB snapshots"):                                         true,
		reply("OOM command not allowed when used memory > 'maxmemory'. script: x, on @user_script:1."):     true,
		reply("NOSCRIPT No matching script. Please use EVAL."):                                             false,
		reply("CROSSSLOT Keys in request don't hash to the same slot"):                                     false,
		reply("BUSYGROUP Consumer Group name already exists"):                                              false,
		reply("NOGROUP No such key 'x' or consumer group 'y'"):                                             false,
		reply("ERR wrong number of arguments for 'get' command"):                                           false,
		reply("ERR item exists"):                                                                           false,
		reply("ERR not found"):                                                                             false,
		reply("Not found"):                                                                                 false,
		reply("ERR user_script:1: Script attempted to access nonexistent global variable 'x' script: abc"): false,

		reply("CLUSTERDOWN Hash slot not served"):                                                             true,
		reply("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."):             true,
		reply("TRYAGAIN Multiple keys request during rehashing of slot"):                                      true,
		reply("NOREPLICAS Not enough good replicas to write."):                                                true,
		reply("BUSY Redis is busy running a script. You can only call SCRIPT KILL."):                          true,
		reply("ERR max number of clients + cluster connections reached"):                                      true,
		reply("ERR max daily request limit exceeded"):                                                         true,
		reply("ERR Insufficient memory to create filter"):                                                     true,
		reply("ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -OOM command"):        true,
		reply("ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You can't"): true,
		reply("ERR Error running script (call to f_1): @user_script:1: -ERR unknown command called from Lua"): true,
		reply("ERR Error running script (call to f_1): @user_script:1: -WRONGTYPE Operation against a key"):   false,
		reply("ERR Error running script (call to f_1): @user_script:1: attempt to compare number with nil"):   false,
		reply("upstream failure"):              true, // from Envoy
		reply("unsupported command 'evalsha'"): true,
		reply("no upstream host"):              true,
		reply("ERR no upstream host"):          true,
		reply("ERR Connection refused"):        true, // from twemproxy
		reply("ERR Proxy error"):               true,
		reply("ERR server closed connection"):  true,

		reply("ERR"):      false,
		reply(""):         false,
		redis.TxFailedErr: false,
	} {
		assert.Equal(t, want, Unreachable(err), "%v", err)
	}
}

func TestRefusesWrites(t *testing.T) {
	for err, want := range map[error]bool{
		nil:                                   false,
		errors.New("connection refused"):      false,
		reply("LOADING Redis is loading"):     false,
		reply("NOPERM User u"):                false,
		reply("OOM command not allowed"):      true,
		reply("NOREPLICAS Not enough"):        true,
		reply("READONLY You can't write"):     true,
		fmt.Errorf("x: %w", reply("MISCONF")): true,
		reply("ERR Error running script (call to f_1): @user_script:1: -MISCONF Redis"): true,
	} {
		assert.Equal(t, want, RefusesWrites(err), "%v", err)
	}
}

func TestPendingTTL(t *testing.T) {
	const day = 24 * time.Hour
	for counts, want := range map[time.Duration]time.Duration{
		30 * time.Minute: 8 * day, 7 * day: 8 * day, 30 * day: 31 * day,
	} {
		assert.Equal(t, want, PendingTTL(counts), "entries that count for %s", counts)
	}
}

// TestErrorAllocations: each command of a request asks what its error means, and most have none.
func TestErrorAllocations(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if Unreachable(nil) || WrongServer(nil) || Silent(nil) || Silent(redis.Nil) {
			panic("nil is not an error")
		}
	}))
}
