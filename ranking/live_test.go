package ranking_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/ranking"
)

func TestChangeReachesEveryServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		a, _ := openLive(t, store)
		b, log := openLive(t, store)
		require.Zero(t, a.InForce().Version)
		variant, r := a.For("u_1")
		require.Equal(t, feed.Control, variant)
		require.Equal(t, configured, r)

		v := change(t, a, ranking.Change{Edit: with("scale=48h"), By: "ana", Why: "try"})
		require.Equal(t, ranking.Version{Version: 1, At: noon, By: "ana", Why: "try", Live: v.Live}, v)
		reaches(t, b, 1)
		_, r = b.For("u_1")
		require.Equal(t, "scale=48h", r.Changes(configured))

		change(t, b, ranking.Change{Experiments: []ranking.Experiment{{Name: "slow", Share: 0.5, Edit: with("scale=72h")}}})
		reaches(t, a, 2)
		for i := range 200 {
			agent := fmt.Sprint("u_", i)
			name, ranking := a.For(agent)
			other, same := b.For(agent)
			require.Equal(t, name, other)
			require.Equal(t, ranking, same)
			want := "scale=48h"
			if name == "slow@2" {
				want = "scale=72h"
			}
			require.Equal(t, want, ranking.Changes(configured))
		}
		require.Equal(t, 1, log.count("version=1 "))
		require.EqualValues(t, 2, gauge(t, "freshet_ranking_version"))
		agent := strings.Repeat("u", feed.MaxAgentID)
		require.Zero(t, testing.AllocsPerRun(100, func() { a.For(agent) }), "each refresh pays for it")
	})
}

func TestChangeKeepsOtherParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := openLive(t, newStore(t))
		change(t, l, ranking.Change{Edit: with("weight=0.2"), Experiments: []ranking.Experiment{{Name: "a", Share: 0.1, Edit: with("scale=72h")}, {Name: "b", Share: 0.2}}})
		parts := l.InForce().Live.Variants[1].Parts

		v := change(t, l, ranking.Change{Edit: with("scale=48h")})
		require.Equal(t, "scale=48h,weight=0.2", v.Live.Ranking.Changes(configured))
		require.Len(t, v.Live.Variants, 2, "experiments stay")

		v = change(t, l, ranking.Change{Experiments: []ranking.Experiment{{Name: "b", Share: 0.3}, {Name: "c", Share: 0.1}}})
		require.Equal(t, "scale=48h,weight=0.2", v.Live.Ranking.Changes(configured))
		require.Equal(t, "weight=0.2", v.Live.Variants[0].Ranking.Changes(configured), "an experiment has its own")
		require.Equal(t, "scale=48h,weight=0.2", v.Live.Variants[1].Ranking.Changes(configured), "a new one starts from the live ones")
		for _, p := range parts {
			for bucket := p[0]; bucket <= p[1]; bucket++ {
				require.True(t, inParts(v.Live.Variants[0].Parts, bucket), "b keeps its agents as it grows")
			}
		}

		v = change(t, l, ranking.Change{Experiments: []ranking.Experiment{}})
		require.Empty(t, v.Live.Variants)
	})
}

func inParts(parts []feed.Part, bucket int) bool {
	for _, p := range parts {
		if p[0] <= bucket && bucket <= p[1] {
			return true
		}
	}
	return false
}

// TestRuns: counts are compared within a run, so each change of a share or of parameters begins new
// ones of all variants and of control. The parameters of an experiment cannot change while it runs.
func TestRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := openLive(t, newStore(t))
		slow := func(share float64, edit ranking.Edit) ranking.Change {
			return ranking.Change{Experiments: []ranking.Experiment{{Name: "slow", Share: share, Edit: edit}}}
		}
		runs := func(v ranking.Version) []string {
			runs := []string{v.Live.Run}
			for _, x := range v.Live.Variants {
				runs = append(runs, x.Run)
			}
			return runs
		}
		require.Equal(t, []string{"control@1", "slow@1"}, runs(change(t, l, slow(0.1, with("scale=72h")))))
		_, err := l.Change(t.Context(), slow(0.1, with("scale=48h")))
		require.ErrorIs(t, err, feed.ErrInvalid)
		require.ErrorContains(t, err, "use another name, or end it first")
		require.Equal(t, 1, l.InForce().Version)

		require.Equal(t, []string{"control@2", "slow@2"}, runs(change(t, l, slow(0.5, nil))), "more readers")
		require.Equal(t, []string{"control@2", "slow@2"}, runs(change(t, l, slow(0.5, with("scale=72h")))), "nothing has changed")
		require.Equal(t, []string{"control@4", "slow@4"}, runs(change(t, l, ranking.Change{Edit: with("weight=0.5")})), "another live ranking")
		both := append(slow(0.5, nil).Experiments, ranking.Experiment{Name: "fast", Share: 0.1, Edit: with("scale=6h")})
		require.Equal(t, []string{"control@5", "slow@5", "fast@5"}, runs(change(t, l, ranking.Change{Experiments: both})), "control has fewer readers")
		reversed := []ranking.Experiment{both[1], both[0]}
		require.Equal(t, []string{"control@5", "fast@5", "slow@5"}, runs(change(t, l, ranking.Change{Experiments: reversed})), "another order changes nothing")
		require.Equal(t, []string{"control@7"}, runs(change(t, l, ranking.Change{Experiments: []ranking.Experiment{}})))
		require.Equal(t, []string{"control@8", "slow@8"}, runs(change(t, l, slow(0.1, with("scale=48h")))))

		revert := func(to int) []string {
			v, err := l.Revert(t.Context(), to, "ana", "", nil)
			require.NoError(t, err)
			return runs(v)
		}
		require.Equal(t, []string{"control@9", "slow@9"}, revert(2))
		require.Equal(t, []string{"control@9", "slow@9"}, revert(3), "equal to the version in force")
		require.Equal(t, []string{"control@11"}, revert(0))
	})
}

// TestRunsOfOlderVersions reads versions stored before runs had names, when the parameters of a
// name could change.
func TestRunsOfOlderVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		of := func(version int, scale string) ranking.Version {
			r := configured
			require.NoError(t, with("scale="+scale)(&r))
			return ranking.Version{Version: version, At: noon, Live: feed.Live{Ranking: configured, Variants: []feed.Variant{{Name: "slow", Ranking: r, Parts: []feed.Part{}}}}}
		}
		require.NoError(t, store.Append(t.Context(), of(1, "72h")))
		require.NoError(t, store.Append(t.Context(), of(2, "48h")))
		l, _ := openLive(t, store)
		v := change(t, l, ranking.Change{Edit: with("weight=0.5")})
		require.Equal(t, "slow@3", v.Live.Variants[0].Run)
		v, err := l.Revert(t.Context(), 1, "ana", "", nil)
		require.NoError(t, err)
		require.Equal(t, "slow@4", v.Live.Variants[0].Run)
	})
}

// TestVersionsOfNewerServer: during an upgrade an older server must accept rankings stored by a
// newer one, ignoring unknown fields.
func TestVersionsOfNewerServer(t *testing.T) {
	v, err := ranking.ParseVersion([]byte(`{"version":3,"at":"2026-03-06T12:00:00Z","by":"ana","why":"","approved_by":"bob","live":{` +
		`"ranking":{"decay":{"scale":"24h","offset":"1h","decay":0.5,"floor":0.000001,"x":1},"popularity":{"weight":0.25},"base":0.1,"mood":{"y":2}},` +
		`"experiments":[{"name":"slow","share":0.1,"parts":[[0,999]],"ranking":{"decay":{"scale":"72h","offset":"1h","decay":0.5,"floor":0},"base":0.1,"z":[]},"until":5}],"holdout":0.1}}`))
	require.NoError(t, err)
	require.Equal(t, 0.25, v.Live.Ranking.PopularityWeight)
	require.Len(t, v.Live.Variants, 1)
	require.Equal(t, 72*time.Hour, v.Live.Variants[0].Ranking.Decay.Scale)
}

func TestInvalidChangeKeepsRanking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := openLive(t, newStore(t))
		change(t, l, ranking.Change{Edit: with("scale=48h")})
		old := 0
		for name, c := range map[string]struct {
			change ranking.Change
			says   string
			is     error
		}{
			"value":          {ranking.Change{Edit: with("decay=1")}, "decay.decay must be between", feed.ErrInvalid},
			"unvalidated":    {ranking.Change{Edit: func(r *feed.Ranking) error { r.Base = -1; return nil }}, "base must be", feed.ErrInvalid},
			"experiment":     {ranking.Change{Experiments: []ranking.Experiment{{Name: "a", Share: 0.1, Edit: with("floor=2")}}}, `experiment "a"`, feed.ErrInvalid},
			"shares":         {ranking.Change{Experiments: []ranking.Experiment{{Name: "a", Share: 0.6}, {Name: "b", Share: 0.6}}}, "the sum of the experiments' shares must be at most 1", feed.ErrInvalid},
			"by":             {ranking.Change{Edit: with("scale=1h"), By: strings.Repeat("é", ranking.MaxBy+1)}, "by must have at most 64", feed.ErrInvalid},
			"why":            {ranking.Change{Edit: with("scale=1h"), Why: "\x1b[31m"}, "control character at position 1", feed.ErrInvalid},
			"not UTF-8":      {ranking.Change{Edit: with("scale=1h"), Why: "\xff"}, "UTF-8", feed.ErrInvalid},
			"another newest": {ranking.Change{Edit: with("scale=1h"), If: &old}, "version 1 is in force, not 0", feed.ErrChanged},
		} {
			_, err := l.Change(t.Context(), c.change)
			require.ErrorIs(t, err, c.is, name)
			require.ErrorContains(t, err, c.says, name)
			require.Equal(t, 1, current(t, l), name)
		}
	})
}

// TestConcurrentChanges changes the ranking on another server between a change's read and its
// write.
func TestConcurrentChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		other, _ := openLive(t, store)
		w := &wire{Store: store}
		l, _ := openLive(t, w)
		w.before = func() { change(t, other, ranking.Change{Edit: with("weight=0.5")}) }
		v := change(t, l, ranking.Change{Edit: with("scale=48h")})
		require.Equal(t, 2, v.Version)
		require.Equal(t, "scale=48h,weight=0.5", v.Live.Ranking.Changes(configured), "both changes are in")

		w.before = func() { change(t, other, ranking.Change{Edit: with("weight=1")}) }
		newest := 2
		_, err := l.Change(t.Context(), ranking.Change{Edit: with("scale=12h"), If: &newest})
		require.ErrorIs(t, err, feed.ErrChanged, "who names a version does not overwrite another")
		reaches(t, l, 3)

		var all sync.WaitGroup
		won := make(chan string, 8)
		newest = 3
		for i, server := range []*ranking.Live{l, other, l, other, l, other, l, other} {
			all.Go(func() {
				v, err := server.Change(t.Context(), ranking.Change{Edit: with("scale=12h"), By: fmt.Sprint("admin ", i), If: &newest})
				if err == nil {
					won <- v.By
					return
				}
				assert.ErrorIs(t, err, feed.ErrChanged)
			})
		}
		all.Wait()
		require.Len(t, won, 1)
		look()
		require.Equal(t, 4, l.InForce().Version)
		require.Equal(t, <-won, l.InForce().By)
	})
}

func TestRevertAndHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := openLive(t, newStore(t))
		list, err := l.History(t.Context(), 5)
		require.NoError(t, err)
		require.Equal(t, []ranking.Version{{
			By: "configuration", Why: "in force while nothing is stored", Live: feed.Live{Ranking: configured},
		}}, list)

		change(t, l, ranking.Change{Experiments: []ranking.Experiment{{Name: "a", Share: 0.3}}, By: "ana"})
		second := change(t, l, ranking.Change{Experiments: []ranking.Experiment{{Name: "a", Share: 0.7}, {Name: "b", Share: 0.3}}, Edit: with("scale=48h")})
		change(t, l, ranking.Change{Experiments: []ranking.Experiment{}, Edit: with("scale=12h")})

		v, err := l.Revert(t.Context(), 2, "bob", "", nil)
		require.NoError(t, err)
		require.Equal(t, 4, v.Version)
		require.Equal(t, "reverted to version 2", v.Why)
		require.True(t, second.Live.Same(&v.Live), "the experiments have their agents again")
		v, err = l.Revert(t.Context(), 0, "bob", "enough", nil)
		require.NoError(t, err)
		require.Equal(t, feed.Live{Ranking: configured, Variants: v.Live.Variants, Run: "control@5"}, v.Live)
		require.Empty(t, v.Live.Variants)
		require.Equal(t, v, l.InForce())

		_, err = l.Revert(t.Context(), 99, "bob", "", nil)
		require.ErrorIs(t, err, feed.ErrNotFound)
		stale := 1
		_, err = l.Revert(t.Context(), 2, "bob", "", &stale)
		require.ErrorIs(t, err, feed.ErrChanged)

		list, err = l.History(t.Context(), 3)
		require.NoError(t, err)
		require.Equal(t, []int{5, 4, 3}, versions(list))
		list, err = l.History(t.Context(), ranking.MaxHistory)
		require.NoError(t, err)
		require.Equal(t, []int{5, 4, 3, 2, 1, 0}, versions(list))
		for _, limit := range []int{-1, 0, ranking.MaxHistory + 1} {
			_, err := l.History(t.Context(), limit)
			require.ErrorIs(t, err, feed.ErrBadLimit)
		}
	})
}

func versions(list []ranking.Version) []int {
	numbers := make([]int, len(list))
	for i, v := range list {
		numbers[i] = v.Version
	}
	return numbers
}

func TestOpenLiveRankingRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := ranking.Open(t.Context(), newStore(t), ranking.Config{Configured: configured})
		require.ErrorContains(t, err, "clock")
		_, err = ranking.Open(t.Context(), newStore(t), ranking.Config{Clock: time.Now})
		require.ErrorIs(t, err, feed.ErrInvalid)
		require.False(t, errors.Is(err, ranking.ErrUnavailable))
	})
}

// TestRevertKeepsFeeds: reverting a ranking leaves the stored feeds as they are, which people read. One whose own ranking
// does not go with the older one is named.
func TestRevertKeepsFeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := openLive(t, newStore(t))
		put := func(f feed.StoredFeed) {
			t.Helper()
			change(t, l, ranking.Change{Feeds: func(live *feed.Live) ([]feed.StoredFeed, error) { return live.WithFeed(f), nil }})
		}
		garden := feed.StoredFeed{Name: "garden", Filter: feed.Filter{All: feed.Conditions{Tags: []string{"garden"}}}}
		put(garden)
		change(t, l, ranking.Change{Edit: with("scale=12h")})
		garden.All.Tags = []string{"garden", "plants"}
		put(garden)
		put(feed.StoredFeed{Name: "sea", Filter: feed.Filter{All: feed.Conditions{Tags: []string{"sea"}}}})
		change(t, l, ranking.Change{Feeds: func(live *feed.Live) ([]feed.StoredFeed, error) { return live.WithoutFeed("sea") }})
		put(feed.StoredFeed{Name: "lake", Filter: feed.Filter{All: feed.Conditions{Tags: []string{"lake"}}}})
		for _, to := range []int{1, 0, 4} {
			before := l.InForce().Live
			v, err := l.Revert(t.Context(), to, "bob", "", nil)
			require.NoError(t, err)
			require.Equal(t, before.Feeds, v.Live.Feeds)
			require.Len(t, v.Live.Feeds, 2)
			old, err := l.At(t.Context(), to)
			require.NoError(t, err)
			require.Equal(t, old.Live.Ranking, v.Live.Ranking)
		}
	})
}
