package fanout

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// BenchmarkSuggest computes suggestions for an agent with the maximal number of friends.
func BenchmarkSuggest(b *testing.B) {
	now := time.Now()
	clock := func() time.Time { return now }
	store, err := socialsqlite.Open(b.Context(), filepath.Join(b.TempDir(), "social.db"), social.Options{Clock: clock})
	require.NoError(b, err)
	b.Cleanup(func() { _ = store.Close() })
	follow := func(agent string, n, step int) {
		edges := make([]social.Edge, n)
		for i := range edges {
			edges[i] = social.Edge{Agent: agent, Author: fmt.Sprint("author", i*step)}
		}
		_, _, err := store.FollowAll(b.Context(), edges, zero)
		require.NoError(b, err)
	}
	follow("r", social.MaxFollowees, 1)
	for i := range social.MaxFollowees {
		_, err := store.Follow(b.Context(), fmt.Sprint("author", i), "r", zero)
		require.NoError(b, err)
	}
	now = now.Add(social.FriendsAfter)
	f := &Fanout{d: Deps{Store: store, Queue: store, Clock: clock}}
	all, err := f.friends(b.Context(), "r")
	require.NoError(b, err)
	for i, author := range sampleOf("r", all) { // the others are not queried
		follow(author, 300, 1+i%3)
	}
	b.ResetTimer()
	for b.Loop() {
		now = now.Add(2 * social.SuggestionsLive) // the stored suggestions are too old
		require.NoError(b, f.suggest(b.Context(), jobs.Job{Key: "r"}))
	}
}
