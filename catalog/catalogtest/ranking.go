package catalogtest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// rankingVersion is a valid version whose content differs from every other's.
func rankingVersion(t testing.TB, version int, by string) catalog.RankingVersion {
	t.Helper()
	live := feed.Live{Ranking: feed.Ranking{
		Decay:            feed.Decay{Scale: time.Duration(100+version) * time.Hour, Offset: 90 * time.Second, Decay: 1.0 / 3, Floor: 1e-6},
		PopularityWeight: 0.1 + 0.2, Base: exactWeight / 10,
	}}
	slow := live.Ranking
	slow.Decay.Scale *= 2
	variants, err := feed.Assign(nil, []feed.Variant{{Name: "slow", Share: 0.29, Ranking: slow}, {Name: "idle", Ranking: live.Ranking}})
	require.NoError(t, err)
	live.Variants = variants
	return catalog.RankingVersion{
		Version: version, At: time.UnixMilli(1_772_000_000_000 + int64(version)).UTC(), By: by,
		Why: fmt.Sprintf("\"version\" %d <b> é 日本", version), Live: live,
	}
}

func rankings(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	_, err := c.Ranking(ctx)
	require.ErrorIs(t, err, catalog.ErrNotFound)
	_, err = c.RankingAt(ctx, 1)
	require.ErrorIs(t, err, catalog.ErrNotFound)
	none, err := c.RankingVersions(ctx, 10)
	require.NoError(t, err)
	require.Empty(t, none)
	require.ErrorIs(t, c.AppendRanking(ctx, rankingVersion(t, 2, "ana")), catalog.ErrRankingChanged, "versions have no gap")
	require.ErrorIs(t, c.AppendRanking(ctx, catalog.RankingVersion{Version: 1, By: "ana"}), feed.ErrBadRanking)
	require.ErrorIs(t, c.AppendRanking(ctx, rankingVersion(t, 0, "ana")), feed.ErrBadRanking)

	const many = 12
	for version := 1; version <= many; version++ {
		want := rankingVersion(t, version, "ana")
		require.NoError(t, c.AppendRanking(ctx, want))
		got, err := c.Ranking(ctx)
		require.NoError(t, err, "a version is there at once")
		require.Equal(t, want, got)
		require.ErrorIs(t, c.AppendRanking(ctx, rankingVersion(t, version, "bob")), catalog.ErrRankingChanged)
	}
	require.ErrorIs(t, c.AppendRanking(ctx, rankingVersion(t, 3, "bob")), catalog.ErrRankingChanged)
	require.ErrorIs(t, c.AppendRanking(ctx, rankingVersion(t, many+2, "bob")), catalog.ErrRankingChanged)

	for _, limit := range []int{1, 5, many, many + 10} {
		list, err := c.RankingVersions(ctx, limit)
		require.NoError(t, err)
		require.Len(t, list, min(limit, many))
		for i, got := range list {
			require.Equal(t, rankingVersion(t, many-i, "ana"), got, "newest first")
		}
	}
	for _, version := range []int{1, 7, many} {
		got, err := c.RankingAt(ctx, version)
		require.NoError(t, err)
		require.Equal(t, rankingVersion(t, version, "ana"), got)
	}
	for _, version := range []int{-1, 0, many + 1} {
		_, err := c.RankingAt(ctx, version)
		require.ErrorIs(t, err, catalog.ErrNotFound)
	}
	_, err = c.Profile(ctx, "ranking-1")
	require.ErrorIs(t, err, catalog.ErrNotFound, "a version is nobody's profile")
}

// concurrentRankings lets several writers append the same version: exactly one
// of them succeeds, and it is theirs that is read.
func concurrentRankings(t *testing.T, c catalog.Catalog) {
	ctx := t.Context()
	newest, err := c.Ranking(ctx)
	require.NoError(t, err)
	for version := newest.Version + 1; version <= newest.Version+4; version++ {
		const writers = 6
		var all sync.WaitGroup
		errs := make([]error, writers)
		for i := range writers {
			v := rankingVersion(t, version, fmt.Sprint("writer ", i))
			all.Go(func() { errs[i] = c.AppendRanking(ctx, v) })
		}
		all.Wait()
		winner := -1
		for i, err := range errs {
			if err == nil {
				require.Equal(t, -1, winner, "two writers made version %d", version)
				winner = i
				continue
			}
			require.ErrorIs(t, err, catalog.ErrRankingChanged)
		}
		require.NotEqual(t, -1, winner, "nobody made version %d", version)
		got, err := c.Ranking(ctx)
		require.NoError(t, err)
		require.Equal(t, rankingVersion(t, version, fmt.Sprint("writer ", winner)), got)
	}
}
