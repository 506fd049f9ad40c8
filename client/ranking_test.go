package client_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

func TestRankingOnRealServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	reader, admin := newPair(t, asShipped)
	_, err := reader.Ranking(ctx)
	require.ErrorIs(t, err, client.ErrForbidden)

	configured, err := admin.Ranking(ctx)
	require.NoError(t, err)
	require.Zero(t, configured.Version)
	require.True(t, configured.At.IsZero())
	require.NoError(t, configured.Ranking.Validate())
	require.Empty(t, configured.Experiments)

	slow := configured.Ranking
	slow.Decay = feed.Decay{Scale: 72 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}
	first, err := admin.PutRanking(ctx, configured.Version, client.RankingChange{
		Experiments: []client.Experiment{{Name: "slow", Share: 0.1, Ranking: slow}}, By: "ana", Why: "a tenth first",
	})
	require.NoError(t, err)
	require.Equal(t, client.RankingVersion{
		Version: 1, At: first.At, By: "ana", Why: "a tenth first", Ranking: configured.Ranking,
		Experiments: []client.Experiment{{Name: "slow", Share: 0.1, Ranking: slow}},
	}, first)
	require.False(t, first.At.IsZero())

	_, err = admin.PutRanking(ctx, 0, client.RankingChange{Ranking: &slow})
	require.ErrorIs(t, err, client.ErrPrecondition)
	second, err := admin.PutRanking(ctx, client.AnyVersion, client.RankingChange{Ranking: &slow})
	require.NoError(t, err)
	require.Equal(t, "admin", second.By)
	require.Equal(t, first.Experiments, second.Experiments, "nil leaves them")
	third, err := admin.PutRanking(ctx, 2, client.RankingChange{Experiments: []client.Experiment{}})
	require.NoError(t, err)
	require.Empty(t, third.Experiments, "an empty list ends all")
	slow.Base = 0
	_, err = admin.PutRanking(ctx, 3, client.RankingChange{Ranking: &slow})
	require.ErrorIs(t, err, client.ErrBadRequest)

	_, err = admin.RevertRanking(ctx, 2, 1, "bob", "")
	require.ErrorIs(t, err, client.ErrPrecondition)
	_, err = admin.RevertRanking(ctx, 3, 9, "bob", "")
	require.ErrorIs(t, err, client.ErrNotFound)
	fourth, err := admin.RevertRanking(ctx, 3, 1, "bob", "")
	require.NoError(t, err)
	require.Equal(t, first.Experiments, fourth.Experiments)

	history, err := admin.RankingHistory(ctx, 3)
	require.NoError(t, err)
	require.Equal(t, []client.RankingVersion{fourth, third, second}, history)
	history, err = admin.RankingHistory(ctx, 10)
	require.NoError(t, err)
	require.Equal(t, configured, history[4])
	_, err = admin.RankingHistory(ctx, 0)
	require.ErrorIs(t, err, client.ErrBadRequest)
}

func TestStoredFeeds(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, admin := newPair(t, asShipped)
	change := client.FeedChange{Filter: feed.Filter{Any: feed.Conditions{Tags: []string{"garden"}}}, Ranking: json.RawMessage(`{"base":0.2}`), By: "ana"}
	stored, err := admin.PutFeed(ctx, "gardens", 0, change)
	require.NoError(t, err)
	require.Equal(t, feed.StoredFeed{Name: "gardens", Filter: change.Filter, Ranking: change.Ranking}, stored)
	_, err = admin.PutFeed(ctx, "gardens", 0, change)
	require.ErrorIs(t, err, client.ErrPrecondition)
	read, err := admin.StoredFeed(ctx, "gardens")
	require.NoError(t, err)
	require.Equal(t, stored, read)
	all, err := admin.StoredFeeds(ctx)
	require.NoError(t, err)
	require.Equal(t, api.StoredFeeds{Version: 1, Feeds: []feed.StoredFeed{stored}}, all)
	require.NoError(t, admin.DeleteFeed(ctx, "gardens"))
	require.ErrorIs(t, admin.DeleteFeed(ctx, "gardens"), client.ErrNotFound)
	_, err = admin.StoredFeed(ctx, "gardens")
	require.ErrorIs(t, err, client.ErrNotFound)
}
