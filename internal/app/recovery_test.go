package app

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
)

// outage is two servers on one Redis of the test's own, which knows a session
// of u_1 and is then out of reach while the first server goes on.
func outage(t *testing.T, change func(*configs.Config)) (a, b *App, seen *once, loose []string, back func()) {
	t.Helper()
	cfg, r := ownRedis(t)
	if change != nil {
		change(&cfg)
	}
	a = open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(300)...)
	other := cfg
	other.DataDir = t.TempDir()
	b = open(t, other, WithClock(at(noon).Now))
	healthy(t, a)
	healthy(t, b)
	seen = newOnce()
	seen.add(t, "before", ids(ask(t, a, refresh("u_1", 10))))
	recorded(t, a)

	r.Freeze()
	for range 2 {
		answer := ask(t, a, loadMore("u_1", 10))
		require.Equal(t, []string{"dedup", "session"}, answer.Degraded)
		require.Len(t, answer.Docs, 10)
		seen.add(t, "without Redis", ids(answer))
		loose = append(loose, ids(answer)...)
	}
	return a, b, seen, loose, r.Thaw
}

// inFilters waits until groups of u_1 are in a filter and not pending any more.
func inFilters(t *testing.T, a *App, groups []string) {
	t.Helper()
	require.Eventually(t, func() bool {
		out, err := a.stores.dedup.Check(t.Context(), "u_1", groups, a.clock())
		return err == nil && !slices.Contains(out.Verdicts, dedup.Unseen) && !slices.Contains(out.Verdicts, dedup.Pending)
	}, 40*time.Second, 50*time.Millisecond, "what was handed out is in a filter, and settled")
}

// pageOn pages on six times in the session that Redis had kept.
func pageOn(t *testing.T, a *App, seen *once) {
	t.Helper()
	for range 6 {
		answer := ask(t, a, loadMore("u_1", 10))
		assert.Len(t, answer.Docs, 10)
		seen.add(t, "the old session", ids(answer))
	}
}

// TestAnOutageIsNotRepeatedElsewhere hands out what the session in Redis still
// holds, and pages on in that session on another server once Redis is back.
func TestAnOutageIsNotRepeatedElsewhere(t *testing.T) {
	t.Parallel()
	a, b, seen, loose, back := outage(t, nil)
	require.Eventually(t, b.stores.recovery.Recovering, time.Minute, 10*time.Millisecond, "the other server notices too")
	back()
	require.Eventually(t, func() bool {
		answer, err := b.Engine.Feed(t.Context(), refresh("u_2", 1))
		return err == nil && slices.Equal(answer.Degraded, []string{"dedup"})
	}, time.Minute, 10*time.Millisecond, "answers with Redis say that it was down")
	inFilters(t, a, loose)
	pageOn(t, b, seen)
	healthy(t, b)
}

// TestAnOutageIsNotRepeatedElsewhereBeforeItIsSeen does so where being handed
// out is no impression: it stays pending.
func TestAnOutageIsNotRepeatedElsewhereBeforeItIsSeen(t *testing.T) {
	t.Parallel()
	_, b, seen, loose, back := outage(t, func(cfg *configs.Config) { cfg.Impressions.On = configs.OnSeen })
	back()
	require.Eventually(t, func() bool {
		out, err := b.stores.dedup.Check(t.Context(), "u_1", loose, noon)
		return err == nil && !slices.ContainsFunc(out.Verdicts, func(v dedup.Verdict) bool { return v != dedup.Pending })
	}, 40*time.Second, 50*time.Millisecond)
	pageOn(t, b, seen)
	healthy(t, b)
}

// TestOneServersOutageIsNoted cuts one of two servers off from Redis: the other
// cannot notice by itself.
func TestOneServersOutageIsNoted(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	brief(&cfg)
	b := open(t, cfg, WithClock(at(noon).Now))
	put(t, b, madeItems(300)...)
	k := newLink(t, cfg.Redis.Addrs[0])
	cfg.Redis.Addrs, cfg.DataDir = []string{k.l.Addr().String()}, t.TempDir()
	a := open(t, cfg, WithClock(at(noon).Now))
	healthy(t, a)
	seen := newOnce()
	seen.add(t, "before", ids(ask(t, a, refresh("u_1", 10))))
	recorded(t, a)

	k.set(true)
	answer := ask(t, a, loadMore("u_1", 10))
	require.Equal(t, []string{"dedup", "session"}, answer.Degraded)
	seen.add(t, "cut off", ids(answer))
	assert.False(t, b.stores.recovery.Recovering())
	k.set(false)
	require.Eventually(t, b.stores.recovery.Recovering, 30*time.Second, 10*time.Millisecond, "it reads the note")
	inFilters(t, b, ids(answer))
	pageOn(t, b, seen)
	healthy(t, b)
	noted, err := b.stores.recovery.notes.Any(t.Context())
	require.NoError(t, err)
	assert.False(t, noted)
}

// TestAPageIsCheckedAgainWhileRecovering has a session hold what a filter has.
func TestAPageIsCheckedAgainWhileRecovering(t *testing.T) {
	t.Parallel()
	a := open(t, services(t), WithClock(at(noon).Now))
	put(t, a, madeItems(100)...)
	ask(t, a, refresh("u_1", 10))
	ask(t, a, refresh("u_2", 10))
	for _, agent := range []string{"u_1", "u_2"} {
		batch := []dedup.Impression{{Agent: agent, Group: "doc_0012"}, {Agent: agent, Group: "doc_0013"}}
		_, err := a.stores.dedup.Record(t.Context(), batch, noon)
		require.NoError(t, err)
	}
	answer := ask(t, a, loadMore("u_2", 5))
	assert.Nil(t, answer.Degraded)
	assert.Contains(t, ids(answer), "doc_0012", "a page asks no filter")

	a.stores.recovery.until.Store(math.MaxInt64)
	silent := refresh("u_1", 5)
	silent.Silent = true
	assert.Equal(t, []string{"dedup"}, ask(t, a, silent).Degraded)
	answer = ask(t, a, loadMore("u_1", 5))
	assert.Equal(t, []string{"dedup"}, answer.Degraded)
	assert.Equal(t, []string{"doc_0010", "doc_0011", "doc_0014", "doc_0015", "doc_0016"}, ids(answer))
	assert.True(t, answer.HasMore)
	answer = ask(t, a, refresh("u_1", 5))
	assert.Equal(t, []string{"dedup"}, answer.Degraded)
	assert.Len(t, answer.Docs, 5)
}

// TestAnOutageIsNotRepeatedAfterARestart does so on the same server, which has
// died meanwhile and remembers nothing.
func TestAnOutageIsNotRepeatedAfterARestart(t *testing.T) {
	t.Parallel()
	a, _, seen, loose, back := outage(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no time to drain anything
	require.NoError(t, a.Close(ctx))
	back()
	a = open(t, a.cfg, WithClock(at(noon).Now))
	assert.NotEmpty(t, ask(t, a, loadMore("u_2", 1)).Degraded, "what was handed out before the start is not everywhere yet")
	inFilters(t, a, loose)
	pageOn(t, a, seen)
	healthy(t, a)
}
