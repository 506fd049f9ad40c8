package app

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/events"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

// The tests of this file put a network that loses things between a server and a
// real Redis. Each step of the feed is made once without a fault, which tells
// the commands it sends, and then once for each command and each way to lose
// it.

const (
	cutItems = 60
	cutPage  = 10
	// cutStall is longer than the client waits for a reply, which is a tenth of
	// the request's time.
	cutStall = 650 * time.Millisecond
	// cutRefused is how long nobody can connect, in the worst cut.
	cutRefused = 300 * time.Millisecond
)

// cutLanes is how many servers are cut off at once. Most of the time they wait.
const cutLanes = 8

// cutPlace is where a server keeps its impressions and sessions.
type cutPlace struct {
	name   string
	config func(t *testing.T) configs.Config
	nodes  func(t *testing.T) []string // what the proxy stands in front of
}

var cutPlaces = []cutPlace{
	{"one server, all in services, open", func(t *testing.T) configs.Config { return services(t) }, oneRedis},
	{"one server, closed", func(t *testing.T) configs.Config {
		_, prefix := testenv.Redis(t)
		return onRedis(t, prefix)
	}, oneRedis},
	{"cluster, closed", func(t *testing.T) configs.Config {
		_, prefix := testenv.RedisCluster(t)
		return onRedis(t, prefix)
	}, func(t *testing.T) []string { return testenv.RedisClusterAddrs(t) }},
}

func oneRedis(t *testing.T) []string {
	u, err := url.Parse(testenv.RedisURL(t))
	require.NoError(t, err)
	return []string{u.Host}
}

// cutLane is a server behind a network of its own.
type cutLane struct {
	*App
	clock   *clock
	proxy   *faultproxy.Proxy
	name    string // begins the agents' names, since servers may share a catalog
	agents  int
	hurt    bool  // by the case before
	counted int64 // impressions in the report so far
}

// newCutLane opens one. filled says that the catalog has the items already.
func newCutLane(t *testing.T, place cutPlace, cfg configs.Config, name string, filled bool) *cutLane {
	t.Helper()
	l := &cutLane{name: name, clock: at(noon), proxy: faultproxy.Start(t, place.nodes(t)...)}
	cfg.DataDir = t.TempDir()
	cfg.Redis.Addrs = l.proxy.Addrs
	l.App = open(t, cutConfig(cfg), WithClock(l.clock.Now))
	if !filled {
		put(t, l.App, catalogue(cutItems)...)
	}
	l.warm(t)
	return l
}

// cutConfig is a configuration with the times of these tests.
func cutConfig(cfg configs.Config) configs.Config {
	cfg.Server.RequestTimeout, cfg.Dedup.PendingGrace = 5*time.Second, 30*time.Second
	// Dozens of readers share a filter: none must be taken for another.
	cfg.Dedup.FalsePositiveRate, cfg.Dedup.DailyCapacity = 1e-9, 10_000
	return cfg
}

// warm has scripts loaded, shard counts known and contents cached.
func (l *cutLane) warm(t *testing.T) {
	t.Helper()
	if l.cfg.Catalog.Backend == configs.CatalogElastic { // writes leave marks that keep readers from caching
		for _, it := range catalogue(cutItems) {
			require.NoError(t, l.clients.redis.Del(t.Context(), keysOf(l.App).Item(it.ID)).Err())
		}
	}
	r := l.reader()
	r.readOn(t, l)
	r = l.reader()
	r.take(t, "to hide from", ask(t, l.App, refresh(r.agent, cutPage)))
	r.hide(t, l, r.due[:1])
	require.NoError(t, l.Engine.Seen(t.Context(), r.agent, r.due[:1]))
	recorded(t, l.App)
	l.hurt = true
}

// cutReader is a reader and what it must yet be given, best first.
type cutReader struct {
	agent   string
	due     []string
	given   []string
	seen    []string // reported by the client, without having been given
	removed []string // from the catalog
	refused bool     // Redis cannot be reached for a while

	asked    engine.Request // the call, where it had a request id
	answered engine.Answer  // and what it was answered
}

func (l *cutLane) reader() *cutReader {
	l.agents++
	r := &cutReader{agent: fmt.Sprintf("%s_%04d", l.name, l.agents)} // no name begins another
	for _, it := range catalogue(cutItems) {
		r.due = append(r.due, it.ID)
	}
	return r
}

// take enters a page that the reader was given for the first time.
func (r *cutReader) take(t *testing.T, where string, answer engine.Answer) {
	t.Helper()
	for _, id := range ids(answer) {
		i := slices.Index(r.due, id)
		if i < 0 {
			assert.Fail(t, "not due", "%s: %s was given before, or is not to be given", where, id)
			continue
		}
		r.due = slices.Delete(r.due, i, i+1)
		r.given = append(r.given, id)
	}
}

// drop takes ids out of what is due.
func (r *cutReader) drop(ids []string) []string {
	ids = slices.Clone(ids)
	r.due = slices.DeleteFunc(r.due, func(id string) bool { return slices.Contains(ids, id) })
	return ids
}

func (r *cutReader) hide(t *testing.T, l *cutLane, ids []string) {
	t.Helper()
	_, err := l.Engine.React(t.Context(), r.agent, hiding(r.drop(ids)))
	require.NoError(t, err)
}

func hiding(ids []string) []engine.Act {
	acts := make([]engine.Act, len(ids))
	for i, id := range ids {
		acts[i] = act(events.Hide, id)
	}
	return acts
}

// finish pages to the end and checks what is left behind: everything that was
// due has been given, all of it is counted and in a filter, and nothing else is
// pending.
func (r *cutReader) finish(t *testing.T, l *cutLane) {
	t.Helper()
	r.readOn(t, l)
	assert.Empty(t, r.due, "never given")
	total := counted(t, l.App)["control"].Impressions
	assert.Equal(t, int64(len(r.given)), total-l.counted, "impressions in the report")
	l.counted = total
	r.settle(t, l, slices.Concat(r.given, r.seen))
}

// settle checks that these ids and no others are in a filter or pending, and
// takes them out of the pending set.
func (r *cutReader) settle(t *testing.T, l *cutLane, shown []string) {
	t.Helper()
	recorded(t, l.App)
	var all []dedup.Impression
	for _, id := range shown {
		all = append(all, dedup.Impression{Agent: r.agent, Group: id})
	}
	require.NoError(t, l.stores.dedup.Settle(t.Context(), all))
	var missing []string
	for range polls { // what was given without Redis waits on disk for a moment
		if missing = l.unrecorded(t, r.agent, shown); len(missing) == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	assert.Empty(t, missing, "in no filter")
	left, err := l.clients.redis.ZRange(t.Context(), keysOf(l.App).Pending(r.agent), 0, -1).Result()
	require.NoError(t, err)
	if r.refused { // what is gone stays pending where it cannot be released
		left = slices.DeleteFunc(left, func(id string) bool { return slices.Contains(r.removed, id) })
	}
	assert.Empty(t, left, "pending, and never given")
}

// polls is how often a condition is awaited, some milliseconds apart.
const polls = 400

// readOn pages until there is nothing more.
func (r *cutReader) readOn(t *testing.T, l *cutLane) {
	t.Helper()
	for range polls {
		answer := ask(t, l.App, loadMore(r.agent, 2*cutPage))
		r.take(t, "paging on", answer)
		if len(answer.Docs) == 0 && !answer.HasMore && !loose(answer) {
			return
		}
		if loose(answer) { // until Redis is asked again
			time.Sleep(10 * time.Millisecond)
		}
	}
	assert.Fail(t, "the feed does not end")
}

// unrecorded are the groups that are not in today's filter.
func (l *cutLane) unrecorded(t *testing.T, agent string, groups []string) (missing []string) {
	t.Helper()
	checked, err := l.stores.dedup.Check(t.Context(), agent, groups, l.clock.Now())
	require.NoError(t, err)
	for i, v := range checked.Verdicts {
		if v != dedup.SeenDaysAgo(0) {
			missing = append(missing, groups[i])
		}
	}
	return missing
}

// cutCase is one fault at one command of a step.
type cutCase struct {
	command string // as label writes it
	nth     int    // of the commands that read so
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

// cutReads are the commands that change nothing: whether all of a reply is lost
// or a part, and whether one can connect again at once, is the same to them.
var cutReads = []string{"get", "mget", "bf.mexists"}

// cutCases lists what can go wrong, given the commands of a run without fault. Of
// commands that read the same, the first and the last stand for all.
func cutCases(labels []string) []cutCase {
	last := map[string]int{}
	for _, label := range labels {
		last[label]++
	}
	var all []cutCase
	seen := map[string]int{}
	for _, label := range labels {
		seen[label]++
		if n := seen[label]; n != 1 && n != last[label] {
			continue
		}
		c := cutCase{command: label, nth: seen[label]}
		kinds := []faultproxy.Kind{faultproxy.Before, faultproxy.After}
		reads := slices.Contains(cutReads, strings.Fields(label)[0])
		if !reads {
			kinds = append(kinds, faultproxy.Within)
		}
		if strings.HasPrefix(label, "evalsha") {
			kinds = append(kinds, faultproxy.Late, faultproxy.Stall)
		}
		for _, c.kind = range kinds {
			all = append(all, c)
		}
		if !reads {
			c.kind, c.refuse = faultproxy.After, cutRefused
			all = append(all, c)
		}
	}
	return all
}

// label says what a command does to which kind of key, without whose it is.
func (l *cutLane) label(cmd faultproxy.Command) string {
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

// TestCuts is the table: each step, each of its commands, each fault, with and
// without a request id, on one server and on a cluster.
func TestCuts(t *testing.T) {
	for _, place := range cutPlaces {
		t.Run(place.name, func(t *testing.T) {
			cfg := place.config(t)
			shared := cfg.Catalog.Backend == configs.CatalogElastic
			if shared { // one catalog for all servers
				put(t, open(t, cutConfig(cfg), WithClock(at(noon).Now)), catalogue(cutItems)...)
			}
			var lanes sync.WaitGroup
			free := make(chan struct{}, cutLanes)
			for i, s := range cutSteps {
				for _, requestID := range s.requestIDs() {
					lanes.Go(func() {
						free <- struct{}{}
						defer func() { <-free }()
						t.Run(strings.TrimSpace(s.name+" "+requestID), func(t *testing.T) {
							own, name := cfg, fmt.Sprintf("reader_%d%s", i, requestID)
							own.Redis.KeyPrefix += name + ":"
							newCutLane(t, place, own, name, shared).table(t, s, requestID)
						})
					})
				}
			}
			lanes.Wait()
		})
	}
}

// table makes a step with each fault that can happen to it.
func (l *cutLane) table(t *testing.T, s cutStep, requestID string) {
	l.healthy(t)
	scout := l.reader()
	s.prepare(t, l, scout, requestID)
	var labels []string
	for _, cmd := range l.proxy.Record(func() {
		s.call(t, l, scout, requestID)
		l.quiet(t)
	}) {
		if l.concerns(s, scout, cmd) {
			labels = append(labels, l.label(cmd))
		}
	}
	scout.finish(t, l)
	s.tidy(t, l, scout)
	require.False(t, t.Failed(), "without any fault")
	require.NotEmpty(t, labels)
	t.Logf("%d commands: %s", len(labels), strings.Join(labels, ", "))
	for _, c := range cutCases(labels) {
		t.Run(c.String(), func(t *testing.T) { l.one(t, s, c, requestID) })
	}
}

// one makes a step with one fault. A server that has just been refused passes
// Redis by for a moment and may not send the command at all: then once more.
func (l *cutLane) one(t *testing.T, s cutStep, c cutCase, requestID string) {
	for range 3 {
		if l.try(t, s, c, requestID) {
			return
		}
		l.hurt = true
	}
	require.Fail(t, "the command was not sent")
}

// try reports whether the fault has met its command.
func (l *cutLane) try(t *testing.T, s cutStep, c cutCase, requestID string) bool {
	t.Helper()
	l.healthy(t)
	r := l.reader()
	r.refused = c.refuse > 0
	s.prepare(t, l, r, requestID)
	defer s.tidy(t, l, r)
	fault := l.proxy.Arm(faultproxy.Fault{
		Kind: c.kind, Nth: c.nth, For: cutStall, Refuse: c.refuse,
		Match: func(cmd faultproxy.Command) bool { return l.concerns(s, r, cmd) && l.label(cmd) == c.command },
	})
	defer l.proxy.Disarm(fault)
	l.hurt = true // until the case has ended well
	s.call(t, l, r, requestID)
	l.quiet(t)
	if fault.Fired() {
		<-fault.Over() // what was late is there
	}
	r.repeat(t, l)
	r.finish(t, l)
	l.hurt = r.refused || t.Failed()
	return fault.Fired()
}

// healthy waits until nothing goes around Redis any more.
func (l *cutLane) healthy(t *testing.T) {
	t.Helper()
	if !l.hurt {
		return
	}
	l.hurt = false
	asksRedis(t, l.App)
	recorded(t, l.App)
	l.counted = counted(t, l.App)["control"].Impressions
	if l.cfg.Catalog.Backend != configs.CatalogElastic {
		return
	}
	asked := func(cmd faultproxy.Command) bool { return cmd.Mentions("feed:profile") }
	for range polls { // the cache of contents does so for a second
		if slices.ContainsFunc(l.proxy.Record(func() { _, _ = l.Catalog.Profile(t.Context(), "u_probe") }), asked) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	require.Fail(t, "contents are not looked up in Redis again")
}

// quiet waits until nothing is left to be done for what has been answered.
func (l *cutLane) quiet(t *testing.T) {
	t.Helper()
	recorded(t, l.App)
	require.NoError(t, l.tally.Flush(t.Context()))
}

// concerns reports whether a command belongs to a reader's step.
func (l *cutLane) concerns(s cutStep, r *cutReader, cmd faultproxy.Command) bool {
	if cmd.Mentions("events:") {
		return s.part == cutCount
	}
	records := s.part == cutRecord || s.part == cutAll
	switch cmd.Name() {
	case "multi", "exec":
		return records
	case "bf.info": // asked now and then
		return false
	case "mget":
		return s.part == cutAnswer || s.part == cutAll
	}
	if cmd.Mentions("bf:") && cmd.Name() != "bf.mexists" {
		return records && (cmd.Mentions(r.agent) || !cmd.Mentions(l.name+"_"))
	}
	return cmd.Mentions(r.agent) && (s.part == cutAnswer || s.part == cutAll)
}

func within(t *testing.T, l *cutLane) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), l.cfg.Server.RequestTimeout)
}
