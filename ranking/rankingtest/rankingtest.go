// Package rankingtest is the conformance suite of [ranking.Store]. Every store passes it:
//
//	func TestConformance(t *testing.T) {
//		rankingtest.Run(t, func(t *testing.T) ranking.Store { return open(t) })
//	}
package rankingtest

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/ranking"
)

// Run checks everything the contract promises. It opens one store, which must be
// empty.
func Run(t *testing.T, open func(t *testing.T) ranking.Store) {
	s := open(t)
	t.Run("versions", func(t *testing.T) { versions(t, s) })
	t.Run("concurrent", func(t *testing.T) { concurrent(t, s) })
	t.Run("canceled context", func(t *testing.T) { ended(t, s) })
}

// made returns a valid version whose content differs from every other's.
func made(t testing.TB, version int, by string) ranking.Version {
	t.Helper()
	live := feed.Live{Ranking: feed.DefaultRanking()}
	live.Ranking.Decay = feed.Decay{Scale: time.Duration(100+version) * time.Hour, Offset: 90 * time.Second, Decay: 1.0 / 3, Floor: 1e-6}
	live.Ranking.PopularityWeight, live.Ranking.Base, live.Ranking.Explore.Share = 0.1+0.2, 0.1+1.0/3*math.Pi, 0
	slow := live.Ranking
	slow.Decay.Scale *= 2
	variants, err := ranking.Assign(nil, []feed.Variant{{Name: "slow", Share: 0.29, Ranking: slow}, {Name: "idle", Ranking: live.Ranking}})
	require.NoError(t, err)
	live.Variants = variants
	return ranking.Version{
		Version: version, At: time.UnixMilli(1_772_000_000_000 + int64(version)).UTC(), By: by,
		Why: fmt.Sprintf("\"version\" %d <b> é 日本", version), Live: live,
	}
}

func versions(t *testing.T, s ranking.Store) {
	ctx := t.Context()
	_, err := s.Newest(ctx)
	require.ErrorIs(t, err, feed.ErrNotFound)
	_, err = s.At(ctx, 1)
	require.ErrorIs(t, err, feed.ErrNotFound)
	none, err := s.Versions(ctx, 10)
	require.NoError(t, err)
	require.Empty(t, none)
	require.ErrorIs(t, s.Append(ctx, made(t, 2, "ana")), feed.ErrChanged, "versions have no gap")
	require.ErrorIs(t, s.Append(ctx, ranking.Version{Version: 1, By: "ana"}), feed.ErrInvalid)
	require.ErrorIs(t, s.Append(ctx, made(t, 0, "ana")), feed.ErrInvalid)

	const many = 12
	for version := 1; version <= many; version++ {
		want := made(t, version, "ana")
		require.NoError(t, s.Append(ctx, want))
		got, err := s.Newest(ctx)
		require.NoError(t, err, "a version is there at once")
		require.Equal(t, want, got)
		require.ErrorIs(t, s.Append(ctx, made(t, version, "bob")), feed.ErrChanged)
	}
	require.ErrorIs(t, s.Append(ctx, made(t, 3, "bob")), feed.ErrChanged)
	require.ErrorIs(t, s.Append(ctx, made(t, many+2, "bob")), feed.ErrChanged)

	for _, limit := range []int{1, 5, many, many + 10} {
		list, err := s.Versions(ctx, limit)
		require.NoError(t, err)
		require.Len(t, list, min(limit, many))
		for i, got := range list {
			require.Equal(t, made(t, many-i, "ana"), got, "newest first")
		}
	}
	for _, version := range []int{1, 7, many} {
		got, err := s.At(ctx, version)
		require.NoError(t, err)
		require.Equal(t, made(t, version, "ana"), got)
	}
	for _, version := range []int{-1, 0, many + 1, math.MaxInt} {
		_, err := s.At(ctx, version)
		require.ErrorIs(t, err, feed.ErrNotFound)
	}
}

// concurrent lets several writers append the same version: exactly one of them succeeds, and
// reads return its version.
func concurrent(t *testing.T, s ranking.Store) {
	ctx := t.Context()
	newest, err := s.Newest(ctx)
	require.NoError(t, err)
	for version := newest.Version + 1; version <= newest.Version+4; version++ {
		const writers = 6
		var all sync.WaitGroup
		errs := make([]error, writers)
		for i := range writers {
			v := made(t, version, fmt.Sprint("writer ", i))
			all.Go(func() { errs[i] = s.Append(ctx, v) })
		}
		all.Wait()
		winner := -1
		for i, err := range errs {
			if err == nil {
				require.Equal(t, -1, winner, "two writers made version %d", version)
				winner = i
				continue
			}
			require.ErrorIs(t, err, feed.ErrChanged)
		}
		require.NotEqual(t, -1, winner, "nobody made version %d", version)
		got, err := s.Newest(ctx)
		require.NoError(t, err)
		require.Equal(t, made(t, version, fmt.Sprint("writer ", winner)), got)
	}
}

func ended(t *testing.T, s ranking.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	newest, err := s.Newest(t.Context())
	require.NoError(t, err)
	_, err = s.Newest(ctx)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.At(ctx, 1)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Versions(ctx, 1)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.Append(ctx, made(t, newest.Version+1, "ana")), context.Canceled)
	now, err := s.Newest(t.Context())
	require.NoError(t, err)
	require.Equal(t, newest, now)
}
