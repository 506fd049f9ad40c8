package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	recallmemory "github.com/freshet/freshet/recall/memory"
)

var rankedAt = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

func dayLong() feed.Ranking {
	return feed.Ranking{Base: 0.1, Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}}
}

// ranker returns an engine over a source, at rankedAt.
func ranker(t *testing.T, source recall.Source) *engine.Engine {
	t.Helper()
	clock := func() time.Time { return rankedAt }
	e, err := engine.New(storesOf(t, clock, source),
		engine.Config{Clock: clock, N: 500, RoundsFor: time.Second, Rankings: &feed.Live{Ranking: dayLong()}})
	require.NoError(t, err)
	return e
}

func source(items ...feed.Item) recall.Source {
	s := recallmemory.New()
	s.Upsert(items)
	return s
}

func aged(id, group string, age time.Duration, tags ...string) feed.Item {
	return feed.Item{ID: id, GroupID: group, Title: id, UpdateTime: rankedAt.Add(-age).Unix(), Tags: tags}
}

func idsOf(list []feed.Candidate) []string {
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = c.ID
	}
	return out
}

// Of two items of one group only the better one is in the list, which still has the requested
// length.
func TestRankOnePerGroup(t *testing.T) {
	e := ranker(t, source(
		aged("a1", "a", 2*time.Hour), aged("b1", "b", 3*time.Hour), aged("old", "", 90*time.Hour, "go"),
		aged("a2", "a", 5*time.Hour), aged("b2", "b", 6*time.Hour), aged("c", "", 7*time.Hour),
	))
	require.NoError(t, e.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"go": 1}}))
	long, err := dayLong().With("scale=240h")
	require.NoError(t, err)
	profile, lists, err := e.Rank(t.Context(), "u_1", time.Time{}, 4, dayLong(), long)
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"go": 1}, profile.Interests)
	require.Len(t, lists, 2)
	assert.Equal(t, []string{"a1", "b1", "c", "old"}, idsOf(lists[0]))
	assert.Equal(t, []string{"old", "a1", "b1", "c"}, idsOf(lists[1]))

	_, lists, err = e.Rank(t.Context(), "u_1", rankedAt.Add(-4*time.Hour), 4, dayLong())
	require.NoError(t, err)
	assert.Equal(t, []string{"a2", "b2", "c", "old"}, idsOf(lists[0]), "as of then")

	_, lists, err = e.Rank(t.Context(), "u_1", rankedAt, 3, dayLong())
	require.NoError(t, err)
	assert.Equal(t, []string{"a1", "b1", "c"}, idsOf(lists[0]), "no more than asked for")

	factors, err := e.Factors(t.Context(), feed.Query{Profile: profile, Ranking: dayLong(), Origin: rankedAt}, []string{"old", "c", "none"})
	require.NoError(t, err)
	assert.Equal(t, []bool{true, true, false}, []bool{factors[0].Known, factors[1].Known, factors[2].Known})
	assert.InDelta(t, 1.1, factors[0].Relevance, 1e-9)
}

// twoRounds answers the first round from one source and the second from another.
type twoRounds struct{ first, second recall.Source }

func (twoRounds) Name() string { return "two rounds" }

func (s twoRounds) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	from, next := s.first, "second"
	if q.After != "" {
		from, next, q.After = s.second, "", ""
	}
	result, err := from.Recall(ctx, q)
	result.Next = next
	return result, err
}

func TestRankSeveralRounds(t *testing.T) {
	var first, second []feed.Item
	for i := range 30 { // nearly all groups of the second round have a better item in the first
		first = append(first, aged(fmt.Sprintf("x%02d", i), fmt.Sprintf("g%d", i), time.Duration(61+i)*time.Minute))
		second = append(second, aged(fmt.Sprintf("y%02d", i), fmt.Sprintf("g%d", i), time.Duration(62+i)*time.Minute))
	}
	e := ranker(t, twoRounds{source(first...), source(append(second, aged("last", "", 50*time.Hour))...)})
	_, lists, err := e.Rank(t.Context(), "u_1", rankedAt, 31, dayLong())
	require.NoError(t, err)
	require.Len(t, lists[0], 31)
	assert.Equal(t, "last", lists[0][30].ID)
	_, lists, err = e.Rank(t.Context(), "u_1", rankedAt, 100, dayLong())
	require.NoError(t, err)
	assert.Len(t, lists[0], 31, "all there are")
}

// TestRankExploration checks that exploration is applied only when the rankings differ in it.
func TestRankExploration(t *testing.T) {
	var items []feed.Item
	for i := range 60 {
		items = append(items, aged(fmt.Sprintf("i%02d", i), "", time.Duration(i)*time.Minute))
	}
	e := ranker(t, source(items...))
	explored, err := dayLong().With("explore.share=0.5")
	require.NoError(t, err)
	_, lists, err := e.Rank(t.Context(), "u_1", rankedAt, 20, dayLong(), explored)
	require.NoError(t, err)
	best, drawn := idsOf(lists[0]), idsOf(lists[1])
	require.Len(t, drawn, 20)
	assert.Equal(t, best[:5], drawn[:5])
	new := slices.DeleteFunc(slices.Clone(drawn), func(id string) bool { return slices.Contains(best, id) })
	assert.Len(t, new, 10, "half of the page")

	_, lists, err = e.Rank(t.Context(), "u_1", rankedAt, 20, explored, explored)
	require.NoError(t, err)
	assert.Equal(t, [][]string{best, best}, [][]string{idsOf(lists[0]), idsOf(lists[1])})
}

func TestRankRefuses(t *testing.T) {
	e := ranker(t, source())
	_, _, err := e.Rank(t.Context(), "u:1", rankedAt, 5, dayLong())
	require.ErrorIs(t, err, feed.ErrBadID)
	_, _, err = e.Rank(t.Context(), "u_1", rankedAt, 5, feed.Ranking{})
	require.ErrorIs(t, err, feed.ErrInvalid)
	_, lists, err := e.Rank(t.Context(), "u_1", rankedAt, 5, dayLong())
	require.NoError(t, err)
	assert.Empty(t, lists[0])
}
