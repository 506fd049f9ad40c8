package engine

import (
	"context"
	"fmt"
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
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// oneSet always returns the same trending items.
type oneSet struct{ set *trending.Set }

func (s *oneSet) Set() (*trending.Set, bool) { return s.set, false }

// testProfile returns the same profile for every agent.
type testProfile struct {
	catalog.Profiles
	is feed.Profile
}

func (p *testProfile) Profile(context.Context, string) (feed.Profile, error) { return p.is, nil }

// suggestTest has a store with suggestions to the reader r.
type suggestTest struct {
	*testing.T
	store   *socialsqlite.Store
	trends  *oneSet
	profile *testProfile
	s       *Suggester
	now     time.Time
}

func newSuggestTest(t *testing.T) *suggestTest {
	e := &suggestTest{T: t, trends: &oneSet{}, profile: &testProfile{}, now: time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return e.now }
	var err error
	e.store, err = socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{Clock: clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.store.Close()) })
	e.s = NewSuggester(SuggestStores{Posts: e.store, Queue: e.store, Trending: e.trends, Profiles: e.profile}, Config{Clock: clock})
	return e
}

// trend sets the trending items.
func (e *suggestTest) trend(entries ...trending.Entry) {
	e.trends.set = &trending.Set{Entries: entries}
}

// trends is an entry of a post by an author.
func trends(author, lang string, tags ...string) trending.Entry {
	return trending.Entry{ID: "post:" + author + lang, Group: "post:" + author + lang, Author: author, Lang: lang, Tags: tags}
}

func (e *suggestTest) suggest(limit int) []api.Suggestion {
	e.Helper()
	list, err := e.s.Suggest(e.Context(), "r", limit)
	require.NoError(e, err)
	for i := range list {
		list[i].Card = api.AgentCard{PostAuthor: list[i].Card.PostAuthor} // the rest is in TestSuggestions
	}
	return list
}

func (e *suggestTest) follow(authors ...string) {
	e.Helper()
	for _, author := range authors {
		_, err := e.store.Follow(e.Context(), "r", author, time.Time{})
		require.NoError(e, err)
	}
}

// apart has one of two block the other.
func (e *suggestTest) apart(agent, other string) {
	e.Helper()
	_, err := e.store.Block(e.Context(), agent, other)
	require.NoError(e, err)
}

// post creates a post a second after the one before.
func (e *suggestTest) post(author string, a social.Audience, tags ...string) {
	e.Helper()
	e.now = e.now.Add(time.Second)
	_, _, err := e.store.CreatePost(e.Context(), social.Post{Author: author, Caption: "x", Tags: tags, Audience: a}, social.Creation{})
	require.NoError(e, err)
}

// waiting returns the number of jobs that compute suggestions.
func (e *suggestTest) waiting() int {
	e.Helper()
	list, err := e.store.List(e.Context(), jobs.Filter{Kind: jobs.Suggest})
	require.NoError(e, err)
	return len(list)
}

func by(author string, n int) api.Suggestion {
	return api.Suggestion{Author: author, Card: api.AgentCard{PostAuthor: api.PostAuthor{ID: author}}, Reason: api.FollowedBy, Count: n}
}

func withReason(reason string, authors ...string) (list []api.Suggestion) {
	for _, author := range authors {
		list = append(list, api.Suggestion{Author: author, Card: api.AgentCard{PostAuthor: api.PostAuthor{ID: author}}, Reason: reason})
	}
	return list
}

func popular(authors ...string) []api.Suggestion { return withReason(api.Popular, authors...) }
func newest(authors ...string) []api.Suggestion  { return withReason(api.New, authors...) }

func TestSuggestions(t *testing.T) {
	t.Parallel()
	e := newSuggestTest(t)
	item := trends("an_item", "en")
	item.ID, item.Group = "item", "item"
	e.trend(item, trends("pop1", "en", "Go"), trends("pop1", "de"), trends("pop2", "de", "rowing"), trends("both", "en"), trends("r", "en"),
		trends("blocked", "en"), trends("blocks", "en"), trends("followed", "en"), trends("erased", "en"), trends("muted", "en"))
	e.profile.is.MutedAuthors = []string{"muted"}
	e.apart("r", "blocked")
	e.apart("blocks", "r")
	require.NoError(t, e.store.EraseAgent(t.Context(), "erased"))
	e.follow("followed", "f2", social.Server)
	require.Equal(t, popular("pop1", "pop2", "both"), e.suggest(100))
	require.Zero(t, e.waiting(), "who follows two has no three friends")
	e.follow("f3")
	require.Equal(t, popular("pop1", "pop2"), e.suggest(2), "nothing waits for the job")
	require.Equal(t, 1, e.waiting())

	kept := []social.Suggestion{{Author: "both", Count: 5}, {Author: "x", Count: 3}}
	for _, author := range []string{"blocked", "blocks", "followed", "erased", "muted"} {
		kept = append(kept, social.Suggestion{Author: author, Count: 3})
	}
	require.NoError(t, e.store.KeepSuggested(t.Context(), "r", kept, e.now))
	require.Equal(t, append([]api.Suggestion{by("both", 5), by("x", 3)}, popular("pop1", "pop2")...), e.suggest(100))
	require.NoError(t, e.store.PutAuthor(t.Context(), social.Author{ID: "both", Name: "Bo", ImageURL: "https://example.org/bo.png"}, time.Time{}))
	_, err := e.store.Follow(t.Context(), "both", "r", time.Time{})
	require.NoError(t, err)
	list, err := e.s.Suggest(t.Context(), "r", 1)
	require.NoError(t, err)
	require.Equal(t, api.AgentCard{
		PostAuthor: api.PostAuthor{ID: "both", Name: "Bo", ImageURL: "https://example.org/bo.png"}, Following: 1, FollowsYou: true,
	}, list[0].Card)
	require.NoError(t, e.store.PutAuthor(t.Context(), social.Author{ID: "both"}, time.Time{}))
	e.follow("x")
	e.profile.is.Langs = []string{"en"}
	require.Equal(t, append([]api.Suggestion{by("both", 5)}, popular("pop1")...), e.suggest(100), "a follow and a language count at once")
	e.profile.is = feed.Profile{MutedAuthors: []string{"muted", "both"}, Interests: map[string]float64{"ROWING": 1}}
	require.Equal(t, popular("pop2", "pop1"), e.suggest(100), "interests order")
	for _, limit := range []int{0, social.MaxSuggestions + 1} {
		_, err := e.s.Suggest(t.Context(), "r", limit)
		require.ErrorIs(t, err, feed.ErrBadLimit)
	}
}

// TestSuggestionsNewestAuthors checks that authors of public posts come last, the newest first, in
// the order of the reader's interests, and first if nothing trends.
func TestSuggestionsNewestAuthors(t *testing.T) {
	t.Parallel()
	e := newSuggestTest(t)
	require.Empty(t, e.suggest(20), "there are no authors")
	public := social.Audience{Public: true}
	e.post("skis", public, "ski")
	e.post("private", social.Audience{Followers: true})
	for _, author := range []string{"blocked", "blocks", "followed", "muted", "r", "erased"} {
		e.post(author, public)
	}
	e.post("politics", public, "politics")
	e.post("a", public)
	e.post("b", public)
	e.profile.is.MutedAuthors = []string{"muted"}
	e.apart("r", "blocked")
	e.apart("blocks", "r")
	e.follow("followed")
	require.NoError(t, e.store.EraseAgent(t.Context(), "erased"))
	require.Equal(t, newest("b", "a", "politics", "skis"), e.suggest(20))
	require.Equal(t, newest("b", "a"), e.suggest(2))
	e.profile.is.Interests = map[string]float64{"Ski": 3}
	e.profile.is.MutedTags = []string{"politics"}
	require.Equal(t, newest("skis", "b", "a", "politics"), e.suggest(20))
	e.trend(trends("popular", ""), trends("a", ""), trends("politics", "", "politics"))
	require.Equal(t, append(popular("popular", "a"), newest("skis", "b", "politics")...), e.suggest(20))
	e.profile.is.Interests = map[string]float64{"none has this": 3}
	require.Equal(t, append(popular("popular", "a"), newest("b", "skis", "politics")...), e.suggest(20))
}

// TestSuggestionsNeverRunOut has a reader follow, mute or block everybody who is suggested: every
// page is full until nobody is left.
func TestSuggestionsNeverRunOut(t *testing.T) {
	t.Parallel()
	for _, interests := range []map[string]float64{nil, {"ski": 3}} {
		e := newSuggestTest(t)
		e.profile.is.Interests = interests
		var entries []trending.Entry
		var kept []social.Suggestion
		const each, limit = 45, 20
		for i := range each {
			author := fmt.Sprintf("popular_%02d", i)
			entries = append(entries, trends(author, ""))
			if i > 0 {
				kept = append(kept, social.Suggestion{Author: fmt.Sprintf("kept_%02d", i), Count: 3})
			}
			e.post(fmt.Sprintf("new_%02d", i), social.Audience{Public: true})
		}
		e.trend(entries...)
		require.NoError(t, e.store.KeepSuggested(t.Context(), "r", kept, e.now))
		left := 3*each - 1
		seen := map[string]bool{}
		for turn := 0; left > 0; turn++ {
			page := e.suggest(limit)
			require.Len(t, page, min(limit, left))
			for i, a := range page {
				require.False(t, seen[a.Author], a.Author)
				seen[a.Author] = true
				switch i % 4 {
				case 0:
					e.profile.is.MutedAuthors = append(e.profile.is.MutedAuthors, a.Author)
				case 1:
					e.apart("r", a.Author)
				case 2:
					e.apart(a.Author, "r")
				default:
					e.follow(a.Author)
				}
			}
			left -= len(page)
		}
		require.Empty(t, e.suggest(limit))
	}
}
