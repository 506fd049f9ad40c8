package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	recallmemory "github.com/freshet/freshet/recall/memory"
)

var now = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

type shelf struct {
	index    *recallmemory.Source
	items    map[string]feed.Item
	profiles map[string]feed.Profile
	fail     error // returned by Rank
	inside   atomic.Int64
	past     time.Time    // before it, live popularity is left out
	most     atomic.Int64 // the most concurrent calls of Rank
}

func newShelf(items ...feed.Item) *shelf {
	s := &shelf{index: recallmemory.New(), items: map[string]feed.Item{}, profiles: map[string]feed.Profile{}}
	s.index.Upsert(items)
	for _, it := range items {
		s.items[it.ID] = it
	}
	return s
}

func (s *shelf) Agents(context.Context, int, int64) ([]string, error) {
	return slices.Sorted(maps.Keys(s.profiles)), nil
}

func (s *shelf) Rank(ctx context.Context, agent string, at time.Time, n int, rankings ...feed.Ranking) (feed.Profile, [][]feed.Candidate, error) {
	inside := s.inside.Add(1)
	defer s.inside.Add(-1)
	for most := s.most.Load(); inside > most && !s.most.CompareAndSwap(most, inside); most = s.most.Load() {
	}
	if s.fail != nil {
		return feed.Profile{}, nil, s.fail
	}
	var lists [][]feed.Candidate
	for _, r := range rankings {
		found, err := s.index.Recall(ctx, feed.Query{Profile: s.profiles[agent], Ranking: r, Origin: at, N: n})
		if err != nil {
			return feed.Profile{}, nil, err
		}
		lists = append(lists, found.Candidates)
	}
	return s.profiles[agent], lists, nil
}

func (s *shelf) LeftOut(at time.Time, rankings ...feed.Ranking) []string {
	if at.Before(s.past) && !slices.Equal(rankings, []feed.Ranking{rankings[0].WithoutLive(), rankings[1].WithoutLive()}) {
		return []string{api.LeftOutLive}
	}
	return nil
}

func (s *shelf) Profile(_ context.Context, agent string) (feed.Profile, error) {
	p, ok := s.profiles[agent]
	if !ok {
		return p, feed.ErrNotFound
	}
	return p, nil
}

func (s *shelf) Factors(ctx context.Context, q feed.Query, ids []string) ([]offline.Factors, error) {
	found, err := s.index.Explain(ctx, q, ids)
	out := make([]offline.Factors, len(found))
	for i, f := range found {
		out[i] = offline.Factors{Relevance: f.Relevance, Decay: f.Decay, Popularity: f.PopularityFactor}
	}
	return out, err
}

func (s *shelf) Docs(_ context.Context, ids []string) ([]feed.Doc, error) {
	docs := make([]feed.Doc, len(ids))
	for i, id := range ids {
		docs[i].ID = id
		if it, ok := s.items[id]; ok {
			docs[i].JSON, _ = json.Marshal(it)
		}
	}
	return docs, nil
}

func ranking(t *testing.T, changes string) feed.Ranking {
	t.Helper()
	r, err := feed.Ranking{Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}, Base: 0.1}.With(changes)
	require.NoError(t, err)
	return r
}

func post(id string, age time.Duration, tags ...string) feed.Item {
	return feed.Item{ID: id, Title: "About " + id, UpdateTime: now.Add(-age).Unix(), Tags: tags}
}

// The old items of this shelf match the interests: with a short scale the new ones rank first, with
// a long scale the old ones.
func topical() *shelf {
	s := newShelf(
		post("new_1", 1*time.Hour), post("new_2", 2*time.Hour), post("new_3", 3*time.Hour),
		post("old_1", 40*time.Hour, "go"), post("old_2", 50*time.Hour, "go", "law"), post("old_3", 60*time.Hour, "go"),
		feed.Item{ID: "tomorrow", Title: "Not yet", UpdateTime: now.Add(time.Hour).Unix()},
	)
	s.profiles["u_1"] = feed.Profile{Interests: map[string]float64{"go": 1, "law": 1}}
	return s
}

func TestCompareKnownValues(t *testing.T) {
	s := topical()
	got, err := offline.Compare(t.Context(), s, offline.Pair{
		A: ranking(t, "scale=6h"), B: ranking(t, "scale=240h"), Agents: []string{"u_1"}, At: now.Add(300 * time.Millisecond), K: 3, Lists: true,
	})
	require.NoError(t, err)
	assert.Equal(t, now, got.At, "whole seconds count")
	require.Len(t, got.PerAgent, 1)
	f := got.PerAgent[0]
	assert.Equal(t, "u_1", f.Agent)
	assert.Equal(t, []int{3, 3}, []int{f.ItemsA, f.ItemsB})
	assert.Equal(t, []float64{0, 0, 1}, []float64{f.Overlap, f.RBO, f.NewShare})
	assert.Nil(t, f.KendallTau, "nothing in common has no order")
	assert.Equal(t, []float64{2 * 3600, 50 * 3600}, []float64{*f.MedianAgeA, *f.MedianAgeB})
	assert.Equal(t, []float64{0, 1}, []float64{*f.CoverageA, *f.CoverageB})
	assert.Equal(t, offline.Summarize(got.PerAgent), got.Figures)

	require.NotNil(t, got.Lists)
	places := func(list []offline.Placed) (out []string) {
		for i, p := range list {
			assert.Equal(t, i+1, p.Rank)
			assert.InEpsilon(t, float64(p.Score), p.Relevance*p.Decay*p.Popularity, 1e-6)
			assert.Equal(t, now.Unix()-p.UpdateTime, p.Age)
			out = append(out, fmt.Sprintf("%s %d %s", p.ID, p.OtherRank, p.Move))
		}
		return out
	}
	assert.Equal(t, []string{"new_1 4 down", "new_2 5 down", "new_3 6 down"}, places(got.Lists.A))
	// Below the floor of the decay only relevance counts, so old_2 is fourth by A.
	assert.Equal(t, []string{"old_2 4 up", "old_1 5 up", "old_3 6 up"}, places(got.Lists.B))
	assert.Equal(t, "About old_2", got.Lists.B[0].Title)
}

// Two documents of one group are one story, whichever of them ranks higher.
func TestCompareGroups(t *testing.T) {
	a, b := post("a", time.Hour), post("b", 30*time.Hour, "go")
	a.GroupID, b.GroupID = "story", "story"
	s := newShelf(a, b)
	s.profiles["u_1"] = feed.Profile{Interests: map[string]float64{"go": 1}}
	got, err := offline.Compare(t.Context(), s, offline.Pair{
		A: ranking(t, "scale=1h,floor=0"), B: ranking(t, "scale=240h"), Agents: []string{"u_1"}, At: now, K: 5, Lists: true,
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, []string{got.Lists.A[0].ID, got.Lists.B[0].ID})
	assert.Equal(t, 1.0, got.PerAgent[0].Overlap)
	assert.Equal(t, offline.MoveSame, got.Lists.B[0].Move)
}

func TestCompareMovesInAndOut(t *testing.T) {
	var items []feed.Item
	for i := range offline.DefaultDepth {
		items = append(items, post(fmt.Sprintf("new_%d", i), time.Duration(i)*time.Second))
	}
	s := newShelf(append(items, post("old", 100*time.Hour, "go"))...)
	s.profiles["u_1"] = feed.Profile{Interests: map[string]float64{"go": 5}}
	pair := offline.Pair{A: ranking(t, "scale=1h,floor=0"), B: ranking(t, "scale=999h"), Agents: []string{"u_1"}, At: now, K: 1, Lists: true}
	got, err := offline.Compare(t.Context(), s, pair)
	require.NoError(t, err)
	assert.Equal(t, "old", got.Lists.B[0].ID)
	assert.Equal(t, offline.MoveIn, got.Lists.B[0].Move, "A does not rank it among its first %d", got.Lists.Depth)
	pair.A, pair.B = pair.B, pair.A
	got, err = offline.Compare(t.Context(), s, pair)
	require.NoError(t, err)
	assert.Equal(t, offline.MoveOut, got.Lists.A[0].Move)
}

func TestCompareDeterministicAndBounded(t *testing.T) {
	s := topical()
	var agents []string
	for i := range offline.MaxAgents {
		agents = append(agents, fmt.Sprintf("u_%d", offline.MaxAgents-i))
	}
	s.profiles["u_2"] = feed.Profile{Langs: []string{"de"}}
	pair := offline.Pair{A: ranking(t, ""), B: ranking(t, "scale=240h"), Agents: agents, At: now, K: 4}
	first, err := offline.Compare(t.Context(), s, pair)
	require.NoError(t, err)
	for range 3 {
		again, err := offline.Compare(t.Context(), s, pair)
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	var order []string
	for _, f := range first.PerAgent {
		order = append(order, f.Agent)
	}
	assert.Equal(t, agents, order, "agents stay in the order they were named in")
	assert.LessOrEqual(t, s.most.Load(), int64(4))
	assert.Equal(t, 1, first.Figures.CoverageA.N, "only u_1 has interests")
}

func TestCompareWithoutItems(t *testing.T) {
	got, err := offline.Compare(t.Context(), newShelf(), offline.Pair{A: ranking(t, ""), B: ranking(t, ""), Agents: []string{"u_1"}, At: now, K: 4, Lists: true})
	require.NoError(t, err)
	assert.Equal(t, 1, got.Figures.Empty)
	assert.Zero(t, got.Figures.Overlap.N)
	assert.NotNil(t, got.Lists.A, "a list, if an empty one")
}

func TestCompareRefuses(t *testing.T) {
	good := offline.Pair{A: ranking(t, ""), B: ranking(t, ""), Agents: []string{"u_1"}, At: now, K: 4}
	for name, tt := range map[string]struct {
		change func(*offline.Pair)
		is     error
		says   string
	}{
		"k of 0":          {func(p *offline.Pair) { p.K = 0 }, feed.ErrInvalid, "k must be 1 to 100"},
		"k too large":     {func(p *offline.Pair) { p.K = 101 }, feed.ErrInvalid, "not 101"},
		"nobody":          {func(p *offline.Pair) { p.Agents = nil }, feed.ErrInvalid, "not 0"},
		"too many":        {func(p *offline.Pair) { p.Agents = make([]string, 201) }, feed.ErrInvalid, "not 201"},
		"twice":           {func(p *offline.Pair) { p.Agents = []string{"u_1", "u_2", "u_1"} }, feed.ErrInvalid, "u_1 is named twice"},
		"no agent":        {func(p *offline.Pair) { p.Agents = []string{"u:1"} }, feed.ErrBadID, "position 2"},
		"lists of two":    {func(p *offline.Pair) { p.Agents, p.Lists = []string{"u_1", "u_2"}, true }, feed.ErrInvalid, "for one agent only"},
		"a is no ranking": {func(p *offline.Pair) { p.A.Base = 0 }, feed.ErrInvalid, "a: "},
		"b is no ranking": {func(p *offline.Pair) { p.B.Decay.Decay = 1 }, feed.ErrInvalid, "b: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := good
			tt.change(&p)
			_, err := offline.Compare(t.Context(), topical(), p)
			require.ErrorIs(t, err, tt.is)
			assert.ErrorContains(t, err, tt.says)
		})
	}
}

func TestFailuresAndCancellation(t *testing.T) {
	s := topical()
	pair := offline.Pair{A: ranking(t, ""), B: ranking(t, ""), Agents: []string{"u_1", "u_2"}, At: now, K: 4}
	s.fail = errors.New("recall is down")
	_, err := offline.Compare(t.Context(), s, pair)
	require.ErrorIs(t, err, s.fail)
	assert.ErrorContains(t, err, "agent u_")
	_, err = offline.Replay(t.Context(), s, []offline.Click{{Agent: "u_1", ID: "new_1", At: moment(now)}}, 10, []feed.Ranking{ranking(t, "")})
	require.ErrorIs(t, err, s.fail)

	s.fail = nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = offline.Compare(ctx, s, pair)
	require.ErrorIs(t, err, context.Canceled)
	_, err = offline.Replay(ctx, s, []offline.Click{{Agent: "u_1", ID: "new_1", At: moment(now)}}, 10, []feed.Ranking{ranking(t, "")})
	require.ErrorIs(t, err, context.Canceled)
}

func TestReplayKnownValues(t *testing.T) {
	s := topical()
	muted := post("muted", time.Hour)
	muted.AuthorID = "bob"
	s.items["muted"] = muted
	s.profiles["u_1"] = feed.Profile{Interests: map[string]float64{"go": 1}, MutedAuthors: []string{"bob"}}
	s.items["unindexed"] = post("unindexed", time.Hour)
	short, long := ranking(t, "scale=6h"), ranking(t, "scale=240h")
	got, err := offline.Replay(t.Context(), s, []offline.Click{
		{Agent: "u_1", ID: "old_1", At: moment(now)},
		{Agent: "u_1", ID: "old_1", At: moment(now.Add(-39 * time.Hour))}, // before the new ones existed
		{Agent: "u_1", ID: "new_1", At: moment(now)},
		{Agent: "u_1", ID: "deleted", At: moment(now)},
		{Agent: "u_1", ID: "new_1", At: moment(now.Add(-2 * time.Hour))},
		{Agent: "u_1", ID: "muted", At: moment(now)},
		{Agent: "u_1", ID: "unindexed", At: moment(now)},
		{Agent: "u_2", ID: "new_2", At: moment(now)}, // an agent without a profile
	}, 4, []feed.Ranking{short, long})
	require.NoError(t, err)
	assert.Equal(t, []offline.Outcome{
		{State: offline.Ranked, Ranks: []int{4, 1}},
		{State: offline.Ranked, Ranks: []int{1, 1}},
		{State: offline.Ranked, Ranks: []int{1, 4}},
		{State: offline.Gone, Ranks: []int{0, 0}},
		{State: offline.Later, Ranks: []int{0, 0}},
		{State: offline.Refused, Ranks: []int{0, 0}},
		{State: offline.Unranked, Ranks: []int{0, 0}},
		{State: offline.Ranked, Ranks: []int{2, 2}},
	}, got.Outcomes)
	assert.Equal(t, 5, len(slices.DeleteFunc(got.Outcomes, func(o offline.Outcome) bool { return !o.State.Scores() })))
}

func moment(at time.Time) feed.Moment { return feed.Moment{Time: at} }

// TestReplayClicksDoNotHelpThemselves: the replayed clicks have taught the reader's profile and raised
// their items, so neither counts. What was learned before counts.
func TestReplayClicksDoNotHelpThemselves(t *testing.T) {
	t.Parallel()
	s := topical()
	s.index.SetCounts(map[string]feed.Counts{"old_3": feed.Counts{}.Add(now.Unix() - 60)})
	learned := feed.Learned{At: now.Unix(), Features: []feed.LearnedFeature{{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "go"}, Evidence: 9}}}
	s.profiles["u_1"] = feed.Profile{Learned: learned}
	plain, live, taught := ranking(t, "scale=480h"), ranking(t, "scale=480h,weight_2h=50"), ranking(t, "scale=480h,learned.tags=5")
	for name, tt := range map[string]struct {
		at       time.Time
		rankings []feed.Ranking
		ranks    []int
		leftOut  []string
	}{
		"neither":          {now, []feed.Ranking{plain}, []int{6}, nil},
		"both":             {now, []feed.Ranking{plain, live, taught}, []int{6, 6, 6}, []string{api.LeftOutLearned, api.LeftOutLive}},
		"popularity":       {now.Add(-time.Minute), []feed.Ranking{plain, live}, []int{6, 6}, []string{api.LeftOutLive}},
		"learned before":   {now.Add(time.Second), []feed.Ranking{plain, taught}, []int{6, 3}, nil},
		"nothing to count": {now.Add(-time.Minute), []feed.Ranking{taught}, []int{6}, []string{api.LeftOutLearned}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := offline.Replay(t.Context(), s, []offline.Click{{Agent: "u_1", ID: "old_3", At: moment(tt.at)}}, 10, tt.rankings)
			require.NoError(t, err)
			assert.Equal(t, tt.ranks, got.Outcomes[0].Ranks)
			assert.Equal(t, tt.leftOut, got.LeftOut)
			assert.Equal(t, tt.rankings, got.Rankings, "the parameters are those of the call")
		})
	}
}

// TestCompareLeftOut: a comparison of the past says what it leaves out, also of the listed factors.
func TestCompareLeftOut(t *testing.T) {
	t.Parallel()
	s := topical()
	s.past = now.Add(time.Second)
	s.index.SetCounts(map[string]feed.Counts{"old_3": feed.Counts{}.Add(now.Unix())})
	live := ranking(t, "weight_2h=50")
	got, err := offline.Compare(t.Context(), s, offline.Pair{A: live, B: ranking(t, ""), Agents: []string{"u_1"}, At: now, K: 6, Lists: true})
	require.NoError(t, err)
	assert.Equal(t, []string{api.LeftOutLive}, got.LeftOut)
	assert.Equal(t, live, got.A)
	assert.InDelta(t, 1, got.Figures.Overlap.Mean, 0)
	for _, p := range got.Lists.A {
		assert.InDelta(t, 1, p.Popularity, 0, p.ID)
		assert.Equal(t, offline.MoveSame, p.Move, p.ID)
	}

	taught := ranking(t, "learned.tags=5")
	for at, want := range map[int64][]string{now.Unix(): nil, now.Unix() + 3600: {api.LeftOutLive, api.LeftOutLearned}} {
		s.profiles["u_1"] = feed.Profile{Learned: feed.Learned{At: at, Features: []feed.LearnedFeature{{Evidence: 9}}}}
		got, err := offline.Compare(t.Context(), s, offline.Pair{A: taught, B: live, Agents: []string{"u_1"}, At: now, K: 6, Lists: true})
		require.NoError(t, err)
		if want == nil {
			want = []string{api.LeftOutLive}
		}
		assert.Equal(t, want, got.LeftOut)
	}
}

func TestReplayRefuses(t *testing.T) {
	click := offline.Click{Agent: "u_1", ID: "a", At: moment(now)}
	one := []feed.Ranking{ranking(t, "")}
	for name, tt := range map[string]struct {
		clicks   []offline.Click
		rankings []feed.Ranking
		is       error
		says     string
	}{
		"no clicks":     {nil, one, feed.ErrInvalid, "clicks"},
		"many clicks":   {make([]offline.Click, 201), one, feed.ErrInvalid, "not 201"},
		"no rankings":   {[]offline.Click{click}, nil, feed.ErrInvalid, "rankings"},
		"many rankings": {[]offline.Click{click}, make([]feed.Ranking, 41), feed.ErrInvalid, "not 41"},
		"bad ranking":   {[]offline.Click{click}, []feed.Ranking{one[0], {}}, feed.ErrInvalid, "ranking 2"},
		"bad agent":     {[]offline.Click{click, {Agent: "", ID: "a", At: moment(now)}}, one, feed.ErrBadID, "click 2"},
		"bad item":      {[]offline.Click{{Agent: "u_1", ID: "a b", At: moment(now)}}, one, feed.ErrBadID, "click 1"},
		"no time":       {[]offline.Click{{Agent: "u_1", ID: "a"}}, one, feed.ErrInvalid, "at is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := offline.Replay(t.Context(), topical(), tt.clicks, 10, tt.rankings)
			require.ErrorIs(t, err, tt.is)
			assert.ErrorContains(t, err, tt.says)
		})
	}
}
