package fanout

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

func (e *env) suggested(agent string) []social.Suggestion {
	e.t.Helper()
	require.NoError(e.t, e.store.Mark(e.ctx, jobs.Dirty{Kind: jobs.Suggest, Key: agent, Priority: jobs.PriorityUpkeep, Lazy: true}))
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

// network has a reader follow n people, each of whom follows one agent.
func (e *env) network(reader string, n int) []string {
	e.t.Helper()
	people := ids(reader+"_f", n)
	for _, p := range people {
		e.follow(p, reader)
		e.follow(reader+"_filler", p)
	}
	return people
}

// known gives an author the number of followers required to be suggested.
func (e *env) known(author string) {
	e.t.Helper()
	e.follow(author, ids("fan", social.SuggestionFollowers)...)
}

func TestSuggestions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		follows, vouch int
		unknown        bool // the author has few followers
		want           int  // 0: not suggested
		besides        func(e *env)
	}{
		{name: "two are no evidence", follows: 20, vouch: 2},
		{name: "three are", follows: 20, vouch: 3, want: 3},
		{name: "a number is rounded down", follows: 20, vouch: 4, want: 3},
		{name: "five", follows: 20, vouch: 5, want: 5},
		{name: "nine", follows: 20, vouch: 9, want: 5},
		{name: "half of them", follows: 20, vouch: 10, want: 10},
		{name: "more than half would tell of each", follows: 20, vouch: 11},
		{name: "all would tell of each", follows: 3, vouch: 3},
		{name: "three of five", follows: 5, vouch: 3},
		{name: "three of six", follows: 6, vouch: 3, want: 3},
		{name: "an author of few", follows: 20, vouch: 3, unknown: true},
		{name: "twenty of fifty", follows: 50, vouch: 22, want: 20},
		{name: "who is blocked", follows: 20, vouch: 5, besides: func(e *env) { must(e.store.Block(e.ctx, "r", "x")) }},
		{name: "who blocks", follows: 20, vouch: 5, besides: func(e *env) { must(e.store.Block(e.ctx, "x", "r")) }},
		{name: "who is followed", follows: 20, vouch: 5, besides: func(e *env) { e.follow("x", "r") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			people := e.network("r", tt.follows)
			e.follow("x", people[:tt.vouch]...)
			e.follow("r", people...) // agents are not suggested to themselves
			e.follow(social.Server, people...)
			e.follow(social.Server, "r")
			if !tt.unknown {
				e.known("x")
				e.known("r")
			}
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

func must(_ bool, err error) {
	if err != nil {
		panic(err)
	}
}

// Suggestions do not change for a day, whomever the reader follows meanwhile.
func TestSuggestionsStayForADay(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	people := e.network("r", 20)
	e.follow("x", people[:3]...)
	e.follow("y", people[:2]...)
	e.known("x")
	e.known("y")
	want := []social.Suggestion{{Author: "x", Count: 3}}
	require.Equal(t, want, e.suggested("r"))
	e.follow("one_more", "r")
	e.follow("y", "one_more")
	e.advance(social.SuggestionsLive - time.Second)
	require.Equal(t, want, e.suggested("r"))
	e.advance(time.Second)
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

// The number of rows read is bounded, however many follows a reader and the people they follow
// have.
func TestSuggestionsReadFewRows(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	imported := func(agent string, authors []string) {
		var edges []social.Edge
		for _, author := range authors {
			edges = append(edges, social.Edge{Agent: agent, Author: author})
		}
		for len(edges) > 0 {
			n := min(len(edges), social.MaxEdges)
			_, rejected, err := e.store.FollowAll(e.ctx, edges[:n], zero)
			require.NoError(t, err)
			require.Empty(t, rejected)
			edges = edges[n:]
		}
	}
	people := ids("f", social.MaxFollowees)
	imported("r", people)
	for _, p := range sampleOf("r", append([]string(nil), people...)) {
		imported(p, ids("x_of_"+p+"_", 2*ofEach))
	}
	counting := &followsCounted{Store: e.a.d.Store}
	e.a.d.Store = counting
	require.Empty(t, e.suggested("r"), "each follows others")
	require.LessOrEqual(t, counting.rows, social.MaxFollowees+sampled*ofEach)
	require.Greater(t, counting.rows, sampled*ofEach/2)
}
