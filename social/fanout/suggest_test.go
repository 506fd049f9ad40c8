package fanout

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

func (e *env) suggested(agent string) []social.Suggestion {
	e.t.Helper()
	require.NoError(e.t, e.store.Enqueue(e.ctx, jobs.Spec{Kind: jobs.Suggest, Key: agent, Priority: jobs.PriorityUpkeep, Lazy: true}))
	require.NoError(e.t, e.run(e.a, e.ctx, jobs.Suggest, agent))
	list, _, err := e.store.Suggested(e.ctx, agent)
	require.NoError(e.t, err)
	return list
}

// ids returns n ids that begin with a name.
func ids(name string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("%s%03d", name, i))
	}
	return list
}

// mutual has two agents follow each other.
func (e *env) mutual(one, other string) {
	e.t.Helper()
	e.follow(one, other)
	e.follow(other, one)
}

// network gives a reader n friends of long standing.
func (e *env) network(reader string, n int) []string {
	e.t.Helper()
	friends := ids(reader+"_f", n)
	for _, friend := range friends {
		e.mutual(reader, friend)
	}
	e.advance(social.FriendsAfter)
	return friends
}

func TestSuggestions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name             string
		friends, follows int // friends of the reader, and those who follow the author
		want             int // 0: not suggested
		besides          func(e *env)
	}{
		{name: "two are no evidence", friends: 20, follows: 2},
		{name: "three are", friends: 20, follows: 3, want: 3},
		{name: "a number is rounded down", friends: 20, follows: 4, want: 3},
		{name: "five", friends: 20, follows: 5, want: 5},
		{name: "nine", friends: 20, follows: 9, want: 5},
		{name: "ten", friends: 20, follows: 10, want: 10},
		{name: "more than half", friends: 20, follows: 11, want: 10},
		{name: "everybody", friends: 20, follows: 20, want: 20},
		{name: "three of three", friends: 3, follows: 3, want: 3},
		{name: "two of two", friends: 2, follows: 2},
		{name: "forty of fifty", friends: 50, follows: 40, want: 20},
		{name: "who is blocked", friends: 20, follows: 5, besides: func(e *env) { must(e.store.Block(e.ctx, "r", "x")) }},
		{name: "who blocks", friends: 20, follows: 5, besides: func(e *env) { must(e.store.Block(e.ctx, "x", "r")) }},
		{name: "who is followed", friends: 20, follows: 5, besides: func(e *env) { e.follow("x", "r") }},
		{name: "who is muted", friends: 20, follows: 5, besides: func(e *env) { e.a.d.Profiles = muting{"x"} }},
		{name: "a friend blocks the reader", friends: 3, follows: 3, besides: func(e *env) { must(e.store.Block(e.ctx, "r_f001", "r")) }},
		{name: "a friend refuses", friends: 3, follows: 3, besides: func(e *env) { e.refuses("r_f001") }},
		{name: "of five one refuses", friends: 5, follows: 5, want: 3, besides: func(e *env) { e.refuses("r_f001") }},
		{name: "a friend posts to followers alone", friends: 3, follows: 3, besides: func(e *env) {
			e.publish("p1", "r_f001", 10, social.Audience{Followers: true})
		}},
		{name: "followed, but not friends", friends: 2, follows: 2, besides: func(e *env) {
			e.follow("one_way", "r")
			e.follow("x", "one_way")
			e.follow("r", "follows_r")
			e.follow("x", "follows_r")
			e.advance(social.FriendsAfter)
		}},
		{name: "friends for a day", friends: 2, follows: 2, besides: func(e *env) {
			for _, planted := range ids("planted", 5) {
				e.mutual("r", planted)
				e.follow("x", planted)
			}
			e.advance(24 * time.Hour)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			friends := e.network("r", tt.friends)
			e.follow("x", friends[:tt.follows]...)
			e.follow(social.Server, friends...)
			e.follow(social.Server, "r")
			if tt.besides != nil {
				tt.besides(e)
			}
			got := e.suggested("r")
			if tt.want == 0 {
				require.Empty(t, got)
				return
			}
			require.Equal(t, []social.Suggestion{{Author: "x", Count: tt.want}}, got)
		})
	}
}

// refuses has an agent refuse that its follows are a reason for suggestions.
func (e *env) refuses(agent string) {
	e.t.Helper()
	no := false
	require.NoError(e.t, e.store.PutAuthor(e.ctx, social.Author{ID: agent, SuggestFromFollows: &no}, zero))
}

// muting is profiles that mute the same authors.
type muting []string

func (m muting) Profile(context.Context, string) (feed.Profile, error) {
	return feed.Profile{MutedAuthors: m}, nil
}

// imported has agents follow authors, in few transactions.
func (e *env) imported(authors []string, agents ...string) {
	e.t.Helper()
	for _, agent := range agents {
		for some := range slices.Chunk(authors, social.MaxEdges) {
			edges := make([]social.Edge, len(some))
			for i, author := range some {
				edges[i] = social.Edge{Agent: agent, Author: author}
			}
			_, rejected, err := e.store.FollowAll(e.ctx, edges, zero)
			require.NoError(e.t, err)
			require.Empty(e.t, rejected)
		}
	}
}

// Authors who are followed or muted are left out before the list is cut.
func TestSuggestionsFilteredBeforeCut(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	friends := e.network("r", 2*social.SuggestionEvidence)
	first, second := ids("x", ofEach), ids("y", ofEach) // of each friend no more are read
	e.imported(first, friends[:social.SuggestionEvidence]...)
	e.imported(second, friends[social.SuggestionEvidence:]...)
	e.imported(first, "r")
	muted := ofEach - 10
	require.Greater(t, len(first)+muted, 3*social.MaxSuggestions)
	e.a.d.Profiles = muting(second[:muted])
	var got []string
	for _, s := range e.suggested("r") {
		got = append(got, s.Author)
	}
	require.Equal(t, second[muted:], got)
}

func must(_ bool, err error) {
	if err != nil {
		panic(err)
	}
}

// Suggestions do not change for a day, whomever the reader follows meanwhile.
func TestSuggestionsStableForADay(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	friends := e.network("r", 20)
	e.mutual("r", "one_more")
	e.follow("x", friends[:3]...)
	e.follow("y", friends[:2]...)
	want := []social.Suggestion{{Author: "x", Count: 3}}
	require.Equal(t, want, e.suggested("r"))
	e.follow("y", "one_more")
	e.advance(social.SuggestionsLive - time.Second)
	require.Equal(t, want, e.suggested("r"))
	e.advance(social.FriendsAfter)
	require.Equal(t, []social.Suggestion{{Author: "x", Count: 3}, {Author: "y", Count: 3}}, e.suggested("r"))
}

type followsCounted struct {
	social.Store
	rows int
}

func (s *followsCounted) Following(ctx context.Context, agent, reader, after string, n int) ([]string, error) {
	list, err := s.Store.Following(ctx, agent, reader, after, n)
	s.rows += len(list)
	return list, err
}

func (s *followsCounted) Friends(ctx context.Context, agent, after string, n int) ([]string, error) {
	list, err := s.Store.Friends(ctx, agent, after, n)
	s.rows += len(list)
	return list, err
}

// The number of rows read is bounded, however many friends a reader has, and however many authors
// these follow.
func TestSuggestionsReadFewRows(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	e := newEnv(t)
	friends := ids("f", social.MaxFollowees)
	e.imported(friends, "r")
	e.imported([]string{"r"}, friends...)
	e.advance(social.FriendsAfter)
	for _, friend := range sampleOf("r", slices.Clone(friends)) {
		e.imported(ids("x_of_"+friend+"_", 2*ofEach), friend)
	}
	counting := &followsCounted{Store: e.a.d.Store}
	e.a.d.Store = counting
	require.Empty(t, e.suggested("r"), "each follows others")
	require.LessOrEqual(t, counting.rows, social.MaxFollowees+sampled*ofEach)
	require.Greater(t, counting.rows, sampled*ofEach/2)
}
