// Package deduptest is the conformance suite of [dedup.Store]. Every backend must pass it.
package deduptest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
)

// Start is the first now that the suite passes, noon of a day; later ones are up to nine days after
// it. A store with its own clock is opened with one that reads Start, so that nothing expires too
// early by that clock.
var Start = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// Store is a backend as the suite uses it.
type Store interface {
	dedup.Store
	// Claim makes groups pending, as sessions do that hand them out.
	Claim(ctx context.Context, agent string, groups []string, now time.Time) error
}

// Open returns an empty store with the given configuration for one test; the opener closes it with
// t.Cleanup.
type Open func(t *testing.T, cfg dedup.Config) Store

// Run runs the suite. Its stores are small; the large measurement is [FalsePositives].
func Run(t *testing.T, open func(t *testing.T, cfg dedup.Config) Store) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, open Open)
	}{
		{"verdicts", verdicts},
		{"nothing asked, nothing changed", emptyInput},
		{"remembered for the window", window},
		{"a shorter window", shorterWindow},
		{"written to the day of writing", dayOfWriting},
		{"recorded again on a later day", recordedAgain},
		{"duplicates", duplicates},
		{"agents do not see each other", isolation},
		{"check changes nothing", checkIsReadOnly},
		{"asked about another time", anotherTime},
		{"clocks that differ at midnight", clocksApart},
		{"forget takes all of an agent", forget},
		{"settle removes pending only", settle},
		{"pending entries age out", pendingTTL},
		{"stale entries are reported", stale},
		{"stale marks are reported", staleMarks},
		{"a cancelled call takes nothing", cancelled},
		{"a batch over many agents", manyAgents},
		{"no false negatives at capacity", atCapacity},
		{"several shards", shards},
		{"concurrent use", concurrentUse},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open)
		})
	}
}

// DefaultConfig returns the product's default configuration.
func DefaultConfig() dedup.Config {
	return dedup.Config{
		WindowDays: 7, FalsePositiveRate: 0.01, DailyCapacity: 1_000_000, Shards: 1, PendingTTL: 7 * 24 * time.Hour, Served: true,
	}
}

// config returns the default configuration with a capacity that keeps the tests small.
func config() dedup.Config {
	cfg := DefaultConfig()
	cfg.DailyCapacity = 20_000
	return cfg
}

// days returns Start plus n days.
func days(n int) time.Time { return Start.AddDate(0, 0, n) }

func names(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return list
}

func impressions(agent string, groups ...string) []dedup.Impression {
	batch := make([]dedup.Impression, len(groups))
	for i, g := range groups {
		batch[i] = dedup.Impression{Agent: agent, Group: g}
	}
	return batch
}

func record(t *testing.T, s Store, now time.Time, batch []dedup.Impression) {
	t.Helper()
	unconfirmed, err := s.Record(t.Context(), batch, now)
	require.NoError(t, err)
	require.Empty(t, unconfirmed, "without an error everything is confirmed")
}

func check(t *testing.T, s Store, now time.Time, agent string, groups ...string) []dedup.Verdict {
	t.Helper()
	c, err := s.Check(t.Context(), agent, groups, now)
	require.NoError(t, err)
	require.Len(t, c.Verdicts, len(groups))
	return c.Verdicts
}

func claim(t *testing.T, s Store, now time.Time, agent string, groups ...string) {
	t.Helper()
	require.NoError(t, s.Claim(t.Context(), agent, groups, now))
}

func verdicts(t *testing.T, open Open) {
	s := open(t, config())
	record(t, s, days(0), impressions("u_10086", "doc_1"))
	record(t, s, days(2), impressions("u_10086", "doc_2"))
	claim(t, s, days(3), "u_10086", "doc_3")
	record(t, s, days(3), impressions("u_10086", "doc_4"))

	got := check(t, s, days(3), "u_10086", "doc_4", "doc_5", "doc_3", "doc_2", "doc_1")
	assert.Equal(t, []dedup.Verdict{
		dedup.SeenDaysAgo(0), dedup.Unseen, dedup.Pending, dedup.SeenDaysAgo(1), dedup.SeenDaysAgo(3),
	}, got)
}

func emptyInput(t *testing.T, open Open) {
	s := open(t, config())
	ctx := t.Context()
	c, err := s.Check(ctx, "u_1", nil, Start)
	require.NoError(t, err)
	assert.Empty(t, c.Verdicts)
	assert.Empty(t, c.Stale)
	require.NoError(t, s.Claim(ctx, "u_1", nil, Start))
	record(t, s, Start, nil)
	require.NoError(t, s.ClearPending(ctx, nil))

	require.NoError(t, s.ClearPending(ctx, impressions("u_1", "never_claimed")))
	assert.Equal(t, []dedup.Verdict{dedup.Unseen}, check(t, s, Start, "u_1", "never_claimed"))
}

func window(t *testing.T, open Open) {
	s := open(t, config())
	record(t, s, days(0), impressions("u_1", "doc_1"))
	for i := range 7 {
		assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(i)}, check(t, s, days(i), "u_1", "doc_1"), "day %d", i)
		// Writing moves a store on to its next day, which must not lose the old one.
		record(t, s, days(i), impressions("u_2", fmt.Sprintf("doc_%d", i)))
	}
	assert.Equal(t, []dedup.Verdict{dedup.Unseen}, check(t, s, days(7), "u_1", "doc_1"))
	record(t, s, days(7), impressions("u_2", "doc_7"))
	assert.Equal(t, []dedup.Verdict{dedup.Unseen}, check(t, s, days(7), "u_1", "doc_1"))
	got := check(t, s, days(7), "u_2", "doc_0", "doc_1", "doc_6", "doc_7")
	assert.Equal(t, []dedup.Verdict{dedup.Unseen, dedup.SeenDaysAgo(6), dedup.SeenDaysAgo(1), dedup.SeenDaysAgo(0)}, got)
}

func shorterWindow(t *testing.T, open Open) {
	cfg := config()
	cfg.WindowDays = 3
	s := open(t, cfg)
	record(t, s, days(0), impressions("u_1", "doc_1"))
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(2)}, check(t, s, days(2), "u_1", "doc_1"))
	assert.Equal(t, []dedup.Verdict{dedup.Unseen}, check(t, s, days(3), "u_1", "doc_1"))
}

func dayOfWriting(t *testing.T, open Open) {
	s := open(t, config())
	midnight := days(1).Truncate(24 * time.Hour)
	// The claim is made before midnight and recorded after it: the day of the write counts.
	claim(t, s, midnight.Add(-2*time.Second), "u_1", "across")
	record(t, s, midnight.Add(-time.Second), impressions("u_1", "before"))
	record(t, s, midnight, impressions("u_1", "at", "across"))
	require.NoError(t, s.ClearPending(t.Context(), impressions("u_1", "across")))

	got := check(t, s, midnight.Add(time.Second), "u_1", "before", "at")
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(1), dedup.SeenDaysAgo(0)}, got)
	got = check(t, s, midnight.AddDate(0, 0, 6), "u_1", "before", "at", "across")
	assert.Equal(t, []dedup.Verdict{dedup.Unseen, dedup.SeenDaysAgo(6), dedup.SeenDaysAgo(6)}, got)
}

func recordedAgain(t *testing.T, open Open) {
	s := open(t, config())
	record(t, s, days(0), impressions("u_1", "doc_1"))
	record(t, s, days(3), impressions("u_1", "doc_1"))
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0)}, check(t, s, days(3), "u_1", "doc_1"), "the latest day counts")
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(2)}, check(t, s, days(5), "u_1", "doc_1"))
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(5)}, check(t, s, days(8), "u_1", "doc_1"))
	// A server whose clock is ahead records it for the next day.
	midnight := days(9).Truncate(24 * time.Hour)
	record(t, s, midnight, impressions("u_1", "doc_1"))
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0)}, check(t, s, midnight.Add(-time.Second), "u_1", "doc_1"))
	claim(t, s, midnight, "u_1", "doc_1")
	assert.Equal(t, []dedup.Verdict{dedup.Pending}, check(t, s, midnight, "u_1", "doc_1"), "given again, it is pending again")
}

func duplicates(t *testing.T, open Open) {
	s := open(t, config())
	record(t, s, Start, impressions("u_1", "doc_1", "doc_1", "doc_1"))
	record(t, s, Start, impressions("u_1", "doc_1"))
	got := check(t, s, Start, "u_1", "doc_1", "doc_2", "doc_1", "doc_2")
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0), dedup.Unseen, dedup.SeenDaysAgo(0), dedup.Unseen}, got)
}

func isolation(t *testing.T, open Open) {
	s := open(t, config())
	record(t, s, Start, impressions("a", "b:c"))
	claim(t, s, Start, "a.b", "d")
	for _, test := range []struct {
		agent, group string
		want         dedup.Verdict
	}{
		{"a", "b:c", dedup.SeenDaysAgo(0)},
		{"a.b", "c", dedup.Unseen},
		{"a.b", "b:c", dedup.Unseen},
		{"a", "b", dedup.Unseen},
		{"a", "c", dedup.Unseen},
		{"A", "b:c", dedup.Unseen},
		{"a.b", "d", dedup.Pending},
		{"a", "d", dedup.Unseen},
		{"a", "b:d", dedup.Unseen},
	} {
		got := check(t, s, Start, test.agent, test.group)[0]
		assert.Equal(t, test.want, got, "agent %s group %s", test.agent, test.group)
	}
}

func checkIsReadOnly(t *testing.T, open Open) {
	s := open(t, config())
	for range 3 {
		assert.Equal(t, []dedup.Verdict{dedup.Unseen, dedup.Unseen}, check(t, s, Start, "u_1", "doc_1", "doc_2"))
	}
}

// anotherTime checks with the window of an earlier or later day. Neither check may affect the
// results for the current day.
func anotherTime(t *testing.T, open Open) {
	cfg := config()
	cfg.Shards = 3
	s := open(t, cfg)
	record(t, s, days(0), impressions("u_1", "doc_1"))
	for _, at := range []struct {
		day  int
		want dedup.Verdict
	}{
		{-1, dedup.Unseen},
		{-400, dedup.Unseen},
		{0, dedup.SeenDaysAgo(0)},
		{1, dedup.SeenDaysAgo(1)},
		{7, dedup.Unseen},
		{4000, dedup.Unseen},
		{6, dedup.SeenDaysAgo(6)},
		{0, dedup.SeenDaysAgo(0)},
	} {
		assert.Equal(t, []dedup.Verdict{at.want, dedup.Unseen}, check(t, s, days(at.day), "u_1", "doc_1", "doc_2"), "day %d", at.day)
	}
}

func cancelled(t *testing.T, open Open) {
	s := open(t, config())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Claim(ctx, "u_1", []string{"doc_1"}, Start)
	require.Error(t, err)
	assert.Equal(t, []dedup.Verdict{dedup.Unseen}, check(t, s, Start, "u_1", "doc_1"))

	batch := impressions("u_1", "doc_1", "doc_2")
	unconfirmed, err := s.Record(ctx, batch, Start)
	require.Error(t, err)
	assert.ElementsMatch(t, batch, unconfirmed)
	record(t, s, Start, unconfirmed)
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0), dedup.SeenDaysAgo(0)}, check(t, s, Start, "u_1", "doc_1", "doc_2"))
}
