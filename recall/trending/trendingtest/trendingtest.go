// Package trendingtest is the conformance suite for implementations of [trending.Store].
package trendingtest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall/trending"
)

// long is a lease that does not expire while a test runs.
const long = time.Hour

// Run tests the contract with stores made by open. All stores of one call of open share their
// data; each test calls it once.
func Run(t *testing.T, open func(t *testing.T) func() trending.Store) {
	for name, test := range map[string]func(*testing.T, func() trending.Store){
		"sets": sets, "revisions": revisions, "one lease": oneLease, "a lease ends": leaseEnds, "too late": tooLate, "cancelled": cancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// Set returns a set as of a moment, with that many entries.
func Set(t *testing.T, at int64, entries int) *trending.Set {
	t.Helper()
	s := &trending.Set{At: at}
	for i := range entries {
		s.Entries = append(s.Entries, trending.Entry{
			ID: string(rune('a'+i%26)) + "/\u00e9", Group: "g", UpdateTime: at - int64(i), Reactions: float64(i), Trend: 1.0 / 3,
			Author: "ann", Lang: "en", Site: "example.com", Tags: []string{"a", "b"}, Story: []byte{0, 255, 10},
		})
	}
	return trending.NewSet(s.At, s.Entries)
}

func keep(t *testing.T, s trending.Store, server string, set *trending.Set) {
	t.Helper()
	mine, err := s.Lease(t.Context(), server, long)
	require.NoError(t, err)
	require.True(t, mine, "nobody else has the lease")
	kept, err := s.Keep(t.Context(), server, set)
	require.NoError(t, err)
	require.True(t, kept)
}

func sets(t *testing.T, open func() trending.Store) {
	one, other := open(), open()
	got, err := one.Read(t.Context(), "")
	require.NoError(t, err)
	require.Nil(t, got, "nothing is kept yet")
	for _, set := range []*trending.Set{Set(t, 1_772_798_400, 500), Set(t, 1_772_798_700, 0)} {
		keep(t, one, "one", set)
		got, err := other.Read(t.Context(), "")
		require.NoError(t, err)
		require.Equal(t, set.At, got.At)
		require.Equal(t, set.Revision, got.Revision)
		require.Equal(t, len(set.Entries), len(got.Entries))
		for i := range got.Entries {
			require.Equal(t, set.Entries[i], got.Entries[i])
		}
	}
}

func revisions(t *testing.T, open func() trending.Store) {
	s := open()
	first, second := Set(t, 1_772_798_400, 2), Set(t, 1_772_798_400, 3)
	require.NotEqual(t, first.Revision, second.Revision, "of one moment, with other content")
	keep(t, s, "one", first)
	got, err := s.Read(t.Context(), first.Revision)
	require.NoError(t, err)
	require.Nil(t, got, "it is known")
	keep(t, s, "one", second)
	got, err = s.Read(t.Context(), first.Revision)
	require.NoError(t, err)
	require.NotNil(t, got)
	require.Equal(t, second.Revision, got.Revision)
}

func oneLease(t *testing.T, open func() trending.Store) {
	var all sync.WaitGroup
	var got atomic.Int64
	for i := range 8 {
		s := open()
		all.Go(func() {
			mine, err := s.Lease(t.Context(), string(rune('a'+i)), long)
			assert.NoError(t, err)
			if mine {
				got.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, got.Load())
	for i := range 8 {
		mine, err := open().Lease(t.Context(), string(rune('a'+i)), long)
		require.NoError(t, err)
		require.False(t, mine, "also for the one that has it")
	}
}

// leaseEnds tests a server that is killed while it computes.
func leaseEnds(t *testing.T, open func() trending.Store) {
	killed, other := open(), open()
	mine, err := killed.Lease(t.Context(), "killed", 300*time.Millisecond)
	require.NoError(t, err)
	require.True(t, mine)
	takesOver(t, other)
	kept, err := other.Keep(t.Context(), "other", Set(t, 1_772_798_400, 1))
	require.NoError(t, err)
	require.True(t, kept)
}

// takesOver waits until another server acquires the lease.
func takesOver(t *testing.T, other trending.Store) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		mine, err := other.Lease(t.Context(), "other", long)
		require.NoError(t, err)
		return mine
	}, "another server takes over")
}

// tooLate tests a server that computes for longer than its lease.
func tooLate(t *testing.T, open func() trending.Store) {
	slow, other := open(), open()
	mine, err := slow.Lease(t.Context(), "slow", time.Millisecond)
	require.NoError(t, err)
	require.True(t, mine)
	takesOver(t, other)
	late, newer := Set(t, 1_772_798_400, 1), Set(t, 1_772_798_700, 2)
	kept, err := slow.Keep(t.Context(), "slow", late)
	require.NoError(t, err)
	require.False(t, kept, "while the other computes")
	kept, err = other.Keep(t.Context(), "other", newer)
	require.NoError(t, err)
	require.True(t, kept)
	kept, err = slow.Keep(t.Context(), "slow", late)
	require.NoError(t, err)
	require.False(t, kept, "after the other has")
	got, err := slow.Read(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, newer.Revision, got.Revision)
}

func cancelled(t *testing.T, open func() trending.Store) {
	s := open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Read(ctx, "")
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Lease(ctx, "one", long)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Keep(ctx, "one", Set(t, 1, 1))
	require.ErrorIs(t, err, context.Canceled)
	mine, err := s.Lease(t.Context(), "other", long)
	require.NoError(t, err)
	require.True(t, mine, "a call that was given up reserves nothing")
}
