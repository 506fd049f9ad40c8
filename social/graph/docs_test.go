package graph_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social/graph"
)

// TestDocumentedEventsDecode checks that the examples in the documentation decode and cover each
// type.
func TestDocumentedEventsDecode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/timelines.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "## Events of other systems\n")
	require.True(t, found)
	_, examples, _ := strings.Cut(section, "```json\n")
	examples, _, _ = strings.Cut(examples, "```")
	shown := map[graph.Type]bool{}
	s := openStore(t)
	for line := range strings.Lines(examples) {
		e, err := graph.Decode([]byte(line))
		require.NoError(t, err, line)
		shown[e.Type] = true
		require.NoError(t, e.Apply(t.Context(), s), line)
	}
	for _, typ := range []graph.Type{
		graph.PostCreated, graph.PostUpdated, graph.PostDeleted, graph.FollowCreated, graph.FollowRemoved,
		graph.ConnectionsAccepted, graph.ConnectionsRemoved, graph.CircleChanged, graph.Engagement,
	} {
		require.True(t, shown[typ], "%s is not shown", typ)
	}
}
