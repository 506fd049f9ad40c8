package demo_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/server/demo"
	"github.com/freshet/freshet/social"
)

func TestNetwork(t *testing.T) {
	n := demo.NewNetwork(7)
	require.Equal(t, n, demo.NewNetwork(7))
	known, followers, following := map[string]bool{}, map[string]int{}, map[string]int{}
	for _, a := range n.Authors {
		require.NoError(t, social.CheckAgent(a.ID))
		require.NotEmpty(t, a.Name)
		require.NotEmpty(t, a.Bio)
		require.False(t, known[a.ID], "%s is there twice", a.ID)
		known[a.ID] = true
	}
	require.Len(t, slices.Compact(n.Follows), len(n.Follows))
	for _, f := range n.Follows {
		require.NotEqual(t, f[0], f[1])
		require.True(t, known[f[1]], "%s is an author", f[1])
		following[f[0]]++
		followers[f[1]]++
	}
	for agent := range demo.Profiles() {
		require.True(t, known[agent], "%s has a card", agent)
		require.Greater(t, following[agent], 1, agent)
		require.Greater(t, followers[agent], 3, agent)
	}
	require.Greater(t, followers[n.Authors[0].ID], 1000, "some are celebrities")
}
