package handler_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// agentParameters lists the parameters of a path that hold an agent.
func agentParameters(path string) (names []string) {
	for _, name := range []string{"agent_id", "agent", "author"} {
		if strings.Contains(path, "{"+name+"}") && !strings.HasSuffix(path, "/muted/authors/{"+name+"}") { // an author of items
			names = append(names, name)
		}
	}
	if strings.HasPrefix(path, "/v1/authors/{id}") {
		names = append(names, "id")
	}
	return names
}

// TestTildeIsTheCaller makes each call whose path has an agent as an agent that names itself, by its
// id and by ~: both are answered alike, and the description allows both.
func TestTildeIsTheCaller(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	c := openContract(t, func(*configs.Config) {})
	seedSocial(t, c.social)
	cases := contractCases()
	tried := 0
	for _, op := range slices.Sorted(maps.Keys(c.operations())) {
		_, path, _ := strings.Cut(op, " ")
		for _, name := range agentParameters(path) {
			e := cases[op].good[0].with(asAgent)
			e.before, e.path = nil, maps.Clone(e.path)
			e.path[name] = "u_1"
			named := c.call(t, op, e)
			e.path[name] = "~"
			c.valid(t, op, e)
			got := c.call(t, op, e)
			assert.Equal(t, named.status, got.status, "%s with {%s}: %s", op, name, got.body)
			assert.Equal(t, named.code, got.code, "%s with {%s}: %s", op, name, got.body)
			if op != "DELETE /v1/agents/{agent_id}" {
				assert.NotContains(t, string(got.body), `"~"`, op)
			}
			assert.Equal(t, 40101, c.call(t, op, e.with()).code, "%s: nobody calls", op)
			tried++
		}
	}
	assert.Greater(t, tried, 30)
}

// TestTildeOfASubject checks that an app needs no agent id where it is derived from a token.
func TestTildeOfASubject(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	c := openContract(t, func(*configs.Config) {})
	seedSocial(t, c.social)
	agent, err := feed.AgentOf("auth0|42")
	require.NoError(t, err)
	as := func(method, path, body string, headers ...string) answered {
		return device(c, method, path, body, append([]string{"X-Agent-ID: " + agent}, headers...)...)
	}
	require.Equal(t, http.StatusOK, as("PUT", "/v1/agents/%7E/following/u_2", "").status)
	require.Contains(t, string(as("GET", "/v1/agents/"+agent+"/following", "").body), `"u_2"`)
	var card struct{ Data struct{ ID string } }
	require.NoError(t, json.Unmarshal(as("GET", "/v1/authors/~", "").body, &card))
	require.Equal(t, agent, card.Data.ID)
	require.Equal(t, http.StatusBadRequest, as("PUT", "/v1/circles/~", `{}`).status, "~ names no circle")
	require.Equal(t, http.StatusOK, as("PUT", "/v1/agents/~/muted/tags/~", "").status)
	require.Contains(t, string(as("GET", "/v1/agents/~/profile", "").body), `"muted_tags":["~"]`, "a tag is not a caller")

	require.Equal(t, http.StatusOK, as("GET", "/v1/agents/~/following", "", asAdmin).status, "an admin who names an agent")
}
