package fanout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// weave is a random network: who follows whom and since when, and who refuses to be a reason.
type weave struct {
	agents   []string
	follows  map[social.Edge]time.Duration // age
	refusing []string
}

// newWeave returns a random network. The last of the agents are planted: they follow many, and
// nobody has followed them for long.
func newWeave(r *rand.Rand) *weave {
	const agents, honest = 12, 8
	w := &weave{agents: ids("p", agents), follows: map[social.Edge]time.Duration{}}
	for i, agent := range w.agents {
		planted := i >= honest
		for j, author := range w.agents {
			if i == j {
				continue
			}
			age := time.Duration(r.IntN(8)) * 5 * 24 * time.Hour
			if planted || j >= honest {
				age = min(age, social.FriendsAfter-time.Hour)
			}
			if r.IntN(10) < 9 {
				w.follows[social.Edge{Agent: agent, Author: author}] = age
			}
		}
		for _, author := range ids("x", 8) {
			if planted || r.IntN(2) == 0 {
				w.follows[social.Edge{Agent: agent, Author: author}] = time.Hour
			}
		}
		if r.IntN(5) == 0 {
			w.refusing = append(w.refusing, agent)
		}
	}
	return w
}

// friends returns who may be a reason for suggestions to an agent.
func (w *weave) friends(agent string) (list []string) {
	for _, other := range w.agents {
		to, follows := w.follows[social.Edge{Agent: agent, Author: other}]
		back, followed := w.follows[social.Edge{Agent: other, Author: agent}]
		if follows && followed && min(to, back) >= social.FriendsAfter && !slices.Contains(w.refusing, other) {
			list = append(list, other)
		}
	}
	return list
}

// expected returns the suggestions to an agent that follow from its friends' follows alone.
func (w *weave) expected(agent string) []social.Suggestion {
	counts := map[string]int{}
	for e := range w.follows {
		if slices.Contains(w.friends(agent), e.Agent) {
			counts[e.Author]++
		}
	}
	return slices.DeleteFunc(evidence(counts), func(s social.Suggestion) bool {
		_, followed := w.follows[social.Edge{Agent: agent, Author: s.Author}]
		return followed || s.Author == agent
	})
}

// without returns the network without an agent's follows.
func (w *weave) without(agent string) *weave {
	less := &weave{agents: w.agents, follows: map[social.Edge]time.Duration{}, refusing: w.refusing}
	for e, age := range w.follows {
		if e.Agent != agent {
			less.follows[e] = age
		}
	}
	return less
}

// suggested stores the network and returns the suggestions to each agent.
func (w *weave) suggested(t *testing.T) map[string][]social.Suggestion {
	t.Helper()
	e := newEnv(t)
	byAge := map[time.Duration][]social.Edge{}
	for edge, age := range w.follows {
		byAge[age] = append(byAge[age], edge)
	}
	for age, edges := range byAge {
		_, rejected, err := e.store.FollowAll(e.ctx, edges, e.now.Add(-age))
		require.NoError(t, err)
		require.Empty(t, rejected)
	}
	for _, agent := range w.refusing {
		e.refuses(agent)
	}
	all := map[string][]social.Suggestion{}
	for _, agent := range w.agents {
		require.NoError(t, e.a.suggest(e.ctx, jobs.Job{Key: agent}))
		list, _, err := e.store.Suggested(e.ctx, agent)
		require.NoError(t, err)
		all[agent] = list
	}
	return all
}

// TestSuggestionsPrivacy checks over random networks with planted accounts that the
// suggestions to a reader follow from its friends' follows alone: they stay the same without the
// follows of any agent who is not one of at least three friends of the reader.
func TestSuggestionsPrivacy(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	compared, suggested := 0, 0
	for seed := range uint64(3) {
		w := newWeave(rand.New(rand.NewPCG(seed, 44)))
		all := w.suggested(t)
		for _, reader := range w.agents {
			require.ElementsMatch(t, w.expected(reader), all[reader], "seed %d: %s", seed, reader)
			suggested += len(all[reader])
		}
		for _, agent := range w.agents {
			less := w.without(agent).suggested(t)
			for _, reader := range w.agents {
				friends := w.friends(reader)
				reason := len(friends) >= social.SuggestionEvidence && slices.Contains(friends, agent)
				if reason || reader == agent {
					continue
				}
				compared++
				require.Equal(t, all[reader], less[reader], fmt.Sprintf("seed %d: %s learns of %s", seed, reader, agent))
			}
		}
	}
	require.Greater(t, compared, 300)
	require.Greater(t, suggested, 10, "some suggestions are made")
}
