package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

// TestRedisDisconnectAtEveryCommand and TestServerCrashDuringRedisScript put a lossy network
// between a server and a real Redis. Each step of the feed runs once without a fault, which yields
// its commands, and then once for each command and each kind of loss.

const (
	cutItems = 60
	cutPage  = 10
	// cutStall exceeds the client's read timeout, which is a tenth of the request timeout.
	cutStall = 1200 * time.Millisecond
	// cutRefused is how long connections are refused in the worst case.
	cutRefused = 300 * time.Millisecond
)

type cutCase struct {
	command string // as returned by label
	nth     int    // among the commands with this label
	kind    faultproxy.Kind
	refuse  time.Duration
}

func (c cutCase) String() string {
	text := fmt.Sprintf("%s %s", c.kind, c.command)
	if c.nth > 1 {
		text += fmt.Sprintf(" (%d)", c.nth)
	}
	if c.refuse > 0 {
		text += ", refused for a while"
	}
	return text
}

// cutServers is the number of servers tested in parallel. Most of the time they wait.
const cutServers = 16

// cutPlace is a place where servers store impressions and sessions.
type cutPlace struct {
	name   string
	config func(t *testing.T) configs.Config
	nodes  func(t *testing.T) []string // the nodes behind the proxy
	// half selects the cases that run with the race detector: the even ones, the odd ones, or all.
	// So each case runs on a cluster and on one single server.
	half func(i int) bool
}

var cutPlaces = []cutPlace{
	{"one server, all in services, open", func(t *testing.T) configs.Config { return services(t) }, redisAddrs, func(i int) bool { return i%2 == 0 }},
	{"one server, closed", func(t *testing.T) configs.Config {
		_, prefix := testenv.Redis(t)
		return onRedis(t, prefix)
	}, redisAddrs, func(i int) bool { return i%2 == 1 }},
	{"cluster, closed", func(t *testing.T) configs.Config {
		_, prefix := testenv.RedisCluster(t)
		return onRedis(t, prefix)
	}, func(t *testing.T) []string { return testenv.RedisClusterAddrs(t) }, func(int) bool { return true }},
}

// cutServer is a server with a separate network link to Redis.
type cutServer struct {
	*App
	clock   *clock
	proxy   *faultproxy.Proxy
	half    func(i int) bool // of its place
	name    string           // prefix of the agents' names, as servers may share a catalog
	agents  int
	hurt    bool  // by the previous case
	counted int64 // impressions in the report so far
}

// newCutServer opens a server. filled means that the catalog already has the items.
func newCutServer(t *testing.T, place cutPlace, cfg configs.Config, name string, filled bool) *cutServer {
	t.Helper()
	l := &cutServer{name: name, half: place.half, clock: at(noon), proxy: faultproxy.Start(t, place.nodes(t)...)}
	cfg.DataDir = t.TempDir()
	cfg.Redis.URL = testenv.RedisAt(l.proxy.Addrs)
	l.App = open(t, cutConfig(cfg), WithClock(l.clock.Now), WithSettingsApart())
	if !filled {
		put(t, l.App, madeItems(cutItems)...)
	}
	l.warm(t)
	return l
}

// cutConfig is a configuration with the times of these tests.
func cutConfig(cfg configs.Config) configs.Config {
	cfg.Server.RequestTimeout = 10 * time.Second
	// Dozens of readers share a filter: there must be no false positives.
	cfg.Dedup.FalsePositiveRate, cfg.Dedup.DailyCapacity = 1e-9, 10_000
	return cfg
}

// warm makes the server load scripts, learn shard counts and cache contents.
func (l *cutServer) warm(t *testing.T) {
	t.Helper()
	if l.cfg.UsesElasticsearch() { // writes leave marks that prevent caching
		for _, it := range madeItems(cutItems) {
			require.NoError(t, l.clients.redis.Del(t.Context(), keysOf(l.App).Item(it.ID)).Err())
		}
	}
	r := l.reader()
	r.readOn(t, l)
	r = l.reader()
	r.take(t, "to hide from", ask(t, l.App, refresh(r.agent, cutPage)))
	r.hide(t, l, r.due[:1])
	require.NoError(t, l.Engine.Seen(t.Context(), r.agent, r.due[:1]))
	waitRecorded(t, l.App)
	l.hurt = true
}

// label returns the command with the kinds of its keys, without the agent.
func (l *cutServer) label(cmd faultproxy.Command) string {
	words := []string{cmd.Name()}
	if strings.HasPrefix(words[0], "eval") {
		words = append(words, cmd[1][:min(6, len(cmd[1]))])
	}
	for _, word := range cmd[1:] {
		if key, ok := strings.CutPrefix(word, l.cfg.Redis.KeyPrefix); ok {
			parts := strings.SplitN(key, ":", 3)
			return strings.Join(append(words, strings.Join(parts[:min(2, len(parts))], ":")), " ")
		}
	}
	return strings.Join(words, " ")
}

// sendsScript reports whether a command sends the source of a script, which happens once for each
// Redis.
func sendsScript(label string) bool { return strings.HasPrefix(label, "eval ") }

// loadScripts loads the scripts that one Redis was sent into all of them, so that the same call
// sends the same commands again.
func (l *cutServer) loadScripts(t *testing.T, commands []faultproxy.Command) {
	t.Helper()
	for _, cmd := range commands {
		if cmd.Name() != "eval" {
			continue
		}
		require.NoError(t, testenv.EachMaster(t.Context(), l.clients.redis, func(ctx context.Context, c *redis.Client) error {
			return c.ScriptLoad(ctx, cmd[1]).Err()
		}))
	}
}

// healthy waits until no call bypasses Redis any more.
func (l *cutServer) healthy(t *testing.T) {
	t.Helper()
	if !l.hurt {
		return
	}
	l.hurt = false
	waitRedisAnswers(t, l.App)
	waitRecorded(t, l.App)
	l.counted = totals(t, l.App)["control"].Counts["impressions"]
	if !l.cfg.UsesElasticsearch() {
		return
	}
	asked := func(cmd faultproxy.Command) bool { return cmd.Mentions("feed:profile") }
	testenv.WaitFor(t, func() bool { // the cache of contents bypasses Redis for a second
		return slices.ContainsFunc(l.proxy.Record(func() { _, _ = l.Catalog.Profile(t.Context(), "u_probe") }), asked)
	}, "contents to be looked up in Redis again")
}

// recovered waits until answers no longer report a recent outage of Redis. Until then the server
// sends different commands: for example, it does not query whether a reader is new. This lasts for
// a pending grace period after a failed check of the notes.
func (l *cutServer) recovered(t *testing.T) {
	t.Helper()
	if l.stores.recovery != nil {
		testenv.WaitFor(t, func() bool { return !l.stores.recovery.Recovering() }, "the server to have recovered")
	}
}

// quiet waits until all work for previous answers is done.
func (l *cutServer) quiet(t *testing.T) {
	t.Helper()
	waitRecorded(t, l.App)
	require.NoError(t, l.tally.Flush(t.Context()))
}

// concerns reports whether a command belongs to a reader's step.
func (l *cutServer) concerns(s cutStep, r *cutReader, cmd faultproxy.Command) bool {
	if cmd.Mentions("events:") {
		return s.part == cutCount
	}
	if cmd.Mentions("bf:global:probe") { // a background check whether Redis accepts writes
		return false
	}
	records := s.part == cutRecord || s.part == cutAll
	switch cmd.Name() {
	case "bf.info", "lrange": // sent occasionally; a prefetch of the page before
		return false
	case "mget":
		return s.part == cutAnswer || s.part == cutAll
	}
	if cmd.Mentions("bf:") && cmd.Name() != "bf.mexists" {
		return records && (cmd.Mentions(r.agent) || !cmd.Mentions(l.name+"_"))
	}
	return cmd.Mentions(r.agent) && (s.part == cutAnswer || s.part == cutAll)
}

func within(t *testing.T, l *cutServer) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), l.cfg.Server.RequestTimeout)
}
