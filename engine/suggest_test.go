package engine

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/sqlite"
)

// oneSet always returns the same trending items.
type oneSet struct{ set *trending.Set }

func (s oneSet) Set() (*trending.Set, bool) { return s.set, false }

// testProfile returns the same profile for every agent.
type testProfile struct {
	catalog.Profiles
	is feed.Profile
}

func (p *testProfile) Profile(context.Context, string) (feed.Profile, error) { return p.is, nil }

func TestSuggestions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{Clock: clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	entry := func(author, lang string, tags ...string) trending.Entry {
		return trending.Entry{ID: "post:" + author + lang, Group: "post:" + author + lang, Author: author, Lang: lang, Tags: tags}
	}
	item := entry("an_item", "en")
	item.ID, item.Group = "item", "item"
	trends := oneSet{&trending.Set{Entries: []trending.Entry{
		item, entry("pop1", "en", "Go"), entry("pop1", "de"), entry("pop2", "de", "rowing"), entry("both", "en"), entry("r", "en"),
		entry("blocked", "en"), entry("blocks", "en"), entry("followed", "en"), entry("erased", "en"), entry("muted", "en"),
	}}}
	profile := &testProfile{}
	s := NewSuggester(SuggestStores{Posts: store, Queue: store, Trending: trends, Profiles: profile}, Config{Clock: clock})
	ctx := t.Context()
	suggest := func(limit int) []api.Suggestion {
		t.Helper()
		list, err := s.Suggest(ctx, "r", limit)
		require.NoError(t, err)
		return list
	}
	waiting := func() int {
		t.Helper()
		list, err := store.List(ctx, jobs.Filter{Kind: jobs.Suggest})
		require.NoError(t, err)
		return len(list)
	}
	profile.is.MutedAuthors = []string{"muted"}
	for _, pair := range [][2]string{{"r", "blocked"}, {"blocks", "r"}} {
		_, err := store.Block(ctx, pair[0], pair[1])
		require.NoError(t, err)
	}
	require.NoError(t, store.EraseAgent(ctx, "erased"))
	follow := func(author string) {
		t.Helper()
		_, err := store.Follow(ctx, "r", author, time.Time{})
		require.NoError(t, err)
	}
	for _, author := range []string{"followed", "f2", "f3", "f4", "f5", social.Server} {
		follow(author)
	}
	pop := func(author string) api.Suggestion { return api.Suggestion{Author: author, Reason: api.Popular} }
	require.Equal(t, []api.Suggestion{pop("pop1"), pop("pop2"), pop("both")}, suggest(100))
	require.Zero(t, waiting(), "who follows five is told of nobody by it")
	follow("f6")
	require.Equal(t, []api.Suggestion{pop("pop1"), pop("pop2")}, suggest(2), "nothing waits for the job")
	require.Equal(t, 1, waiting())

	kept := []social.Suggestion{{Author: "both", Count: 5}, {Author: "x", Count: 3}}
	for _, author := range []string{"blocked", "blocks", "followed", "erased", "muted"} {
		kept = append(kept, social.Suggestion{Author: author, Count: 3})
	}
	require.NoError(t, store.KeepSuggested(ctx, "r", kept, now))
	by := func(author string, n int) api.Suggestion {
		return api.Suggestion{Author: author, Reason: api.FollowedBy, Count: n}
	}
	require.Equal(t, []api.Suggestion{by("both", 5), by("x", 3), pop("pop1"), pop("pop2")}, suggest(100))
	follow("x")
	profile.is.Langs = []string{"en"}
	require.Equal(t, []api.Suggestion{by("both", 5), pop("pop1")}, suggest(100), "a follow and a language count at once")
	profile.is = feed.Profile{MutedAuthors: []string{"muted", "both"}, Interests: map[string]float64{"ROWING": 1}}
	require.Equal(t, []api.Suggestion{pop("pop2")}, suggest(100))
	for _, limit := range []int{0, social.MaxSuggestions + 1} {
		_, err := s.Suggest(ctx, "r", limit)
		require.ErrorIs(t, err, feed.ErrBadLimit)
	}
}
