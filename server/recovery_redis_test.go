package server

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/internal/testenv"
)

// redisOutage returns two servers on a Redis of this test. Redis has a session of u_1 and is
// unreachable, while the first server has delivered pages without it; back restores Redis.
func redisOutage(t *testing.T, change func(*configs.Config)) (a, b *App, seen *once, sessionless []string, back func()) {
	t.Helper()
	cfg, r := redisAlone(t)
	if change != nil {
		change(&cfg)
	}
	a = open(t, cfg, WithClock(at(noon).Now), shortPauses)
	put(t, a, madeItems(300)...)
	other := cfg
	other.DataDir = t.TempDir()
	b = open(t, other, WithClock(at(noon).Now), shortPauses)
	put(t, b, madeItems(300)...)
	waitHealthy(t, a)
	waitHealthy(t, b)
	seen = newOnce()
	seen.add(t, "before", ids(ask(t, a, refresh("u_1", 10))))
	waitRecorded(t, a)

	r.Freeze()
	openBreaker(t, a.clients.breaker.Breaker, "command")
	for range 2 {
		answer := ask(t, a, loadMore("u_1", 10))
		require.Equal(t, []string{"dedup", "session"}, answer.Degraded)
		require.Len(t, answer.Docs, 10)
		seen.add(t, "without Redis", ids(answer))
		sessionless = append(sessionless, ids(answer)...)
	}
	return a, b, seen, sessionless, r.Thaw
}

// TestRedisRecoveryRepeatsNothing delivers items that are still in the session in Redis, and pages
// on in that session once Redis is back.
func TestRedisRecoveryRepeatsNothing(t *testing.T) {
	t.Parallel()
	t.Run("on another server", recoversOnAnotherServer)
	t.Run("on another server, impressions on seen", recoversWithImpressionsOnSeen)
	t.Run("after a restart", recoversAfterRestart)
	t.Run("on a server without outage", recoversOnServerWithoutOutage)
	t.Run("on a server that waited", recoversOnServerThatWaited)
}

// recoversOnAnotherServer pages on on another server.
func recoversOnAnotherServer(t *testing.T) {
	t.Parallel()
	a, b, seen, sessionless, back := redisOutage(t, nil)
	openBreaker(t, b.clients.breaker.Breaker, "command")
	testenv.WaitFor(t, b.stores.recovery.Recovering, "the other server notices too")
	back()
	// A third server's note keeps the recovery from ending before it is checked.
	notes := redisbloom.NewOutageMarkers(b.clients.redis, b.cfg.Redis.KeyPrefix)
	testenv.WaitFor(t, func() bool { return notes.Set(t.Context(), "a third server") == nil }, "a note can be left")
	testenv.WaitFor(t, func() bool {
		answer, err := b.Engine.Feed(t.Context(), refresh("u_2", 1))
		return err == nil && slices.Equal(answer.Degraded, []string{"dedup"})
	}, "answers with Redis say that it was down")
	require.NoError(t, notes.Remove(t.Context(), "a third server"))
	waitInFilters(t, a, sessionless)
	readSession(t, b, seen)
	waitHealthy(t, b)
}

// recoversWithImpressionsOnSeen is the same for servers on which a delivery is no impression: the
// items stay pending.
func recoversWithImpressionsOnSeen(t *testing.T) {
	t.Parallel()
	_, b, seen, sessionless, back := redisOutage(t, func(cfg *configs.Config) { cfg.Impressions.On = configs.OnSeen })
	back()
	testenv.WaitFor(t, func() bool {
		out, err := b.stores.dedup.Check(t.Context(), "u_1", sessionless, noon)
		return err == nil && !slices.ContainsFunc(out.Verdicts, func(v dedup.Verdict) bool { return v != dedup.Pending })
	}, "what was handed out is pending")
	readSession(t, b, seen)
	waitHealthy(t, b)
}

// recoversAfterRestart pages on on the same server, which has restarted and lost its memory.
func recoversAfterRestart(t *testing.T) {
	t.Parallel()
	a, _, seen, sessionless, back := redisOutage(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // leaves no time to drain
	require.NoError(t, a.Close(ctx))
	back()
	unhurried := func(s *settings) { s.pauses.spool, s.pauses.notes = time.Hour, time.Hour }
	a = open(t, a.cfg, WithClock(at(noon).Now), shortPauses, unhurried)
	assert.NotEmpty(t, ask(t, a, loadMore("u_2", 1)).Degraded, "what was handed out before the start is not everywhere yet")
	closeApp(t, a)
	a = open(t, a.cfg, WithClock(at(noon).Now), shortPauses)
	testenv.WaitFor(t, func() bool { // impressions of the previous server stay pending until the next refresh
		out, err := a.stores.dedup.Check(t.Context(), "u_1", sessionless, noon)
		return err == nil && !slices.Contains(out.Verdicts, dedup.Unseen)
	}, "what was handed out is pending or in a filter")
	readSession(t, a, seen)
	waitHealthy(t, a)
}

// recoversOnServerWithoutOutage cuts off one of two servers from Redis: the other server cannot
// notice that without a note.
func recoversOnServerWithoutOutage(t *testing.T) {
	t.Parallel()
	cfg, _ := redisAlone(t)
	b := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	put(t, b, madeItems(300)...)
	k := newLink(t, cfg.Redis.Server().Addrs[0])
	cfg.Redis.URL, cfg.DataDir = "redis://"+k.l.Addr().String(), t.TempDir()
	// The note must exist for several checks by the other server.
	unhurried := func(s *settings) { s.pauses.settle = 500 * time.Millisecond }
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses, unhurried)
	put(t, a, madeItems(300)...)
	waitHealthy(t, a)
	seen := newOnce()
	seen.add(t, "before", ids(ask(t, a, refresh("u_1", 10))))
	waitRecorded(t, a)

	k.set(true)
	openBreaker(t, a.clients.breaker.Breaker, "command")
	answer := ask(t, a, loadMore("u_1", 10))
	require.Equal(t, []string{"dedup", "session"}, answer.Degraded)
	seen.add(t, "cut off", ids(answer))
	testenv.WaitFor(t, func() bool { return !b.stores.recovery.Recovering() }, "it has not noticed by itself")
	k.set(false)
	testenv.WaitFor(t, b.stores.recovery.Recovering, "it reads the note")
	waitInFilters(t, b, ids(answer))
	readSession(t, b, seen)
	waitHealthy(t, b)
	testenv.WaitFor(t, func() bool {
		noted, err := redisbloom.NewOutageMarkers(b.clients.redis, b.cfg.Redis.KeyPrefix).Any(t.Context())
		return err == nil && !noted
	}, "the note is taken away")
}

// recoversOnServerThatWaited restarts Redis between two checks of a server, so that its call only waits.
// Another server may have answered without Redis meanwhile, and the restart may have lost its note.
func recoversOnServerThatWaited(t *testing.T) {
	t.Parallel()
	cfg, r := redisAlone(t)
	a := open(t, cfg, WithClock(at(noon).Now), func(s *settings) { s.pauses.notes = time.Hour })
	put(t, a, madeItems(100)...)
	waitHealthy(t, a)
	ask(t, a, refresh("u_1", 10))
	testenv.WaitFor(t, func() bool { return len(ask(t, a, refresh("u_2", 1)).Degraded) == 0 }, "answers are complete")
	r.Save()
	r.Kill()
	r.Start()
	assert.Contains(t, ask(t, a, loadMore("u_1", 10)).Degraded, "dedup")
}

// TestRedisRestartRestoresDeliveries checks that a Redis that restarts empty under a running server
// gets the latest deliveries again.
func TestRedisRestartRestoresDeliveries(t *testing.T) {
	t.Parallel()
	cfg, r := redisAlone(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(100)...)
	shown := ask(t, a, refresh("u_1", 10))
	require.Len(t, shown.Docs, 10)
	waitRecorded(t, a)
	r.Kill()
	r.Start()
	waitAccounted(t, a, ids(shown))
}
