package feed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStoredRefs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Ref{
		"a":       {ID: "a", Group: "a"},
		"g|a":     {ID: "a", Group: "g"},
		"a||e":    {ID: "a", Group: "a", Source: SourceExplore},
		"g:/|a|e": {ID: "a", Group: "g:/", Source: SourceExplore},
		"a||s":    {ID: "a", Group: "a", ShownBefore: true},
		"g|a|s":   {ID: "a", Group: "g", ShownBefore: true},
		"g|a|es":  {ID: "a", Group: "g", Source: SourceExplore, ShownBefore: true},
	} {
		require.Equal(t, want, ParseRef(text), text)
		require.Equal(t, text, want.String())
		require.Equal(t, []Ref{want}, Detached([]Ref{want}))
	}
	for _, newer := range []string{"g|a|?", "g|a|", "g|a|1", "g|a||x"} {
		require.Equal(t, Ref{ID: "a", Group: "g"}, ParseRef(newer), newer)
	}
	require.Equal(t, Ref{ID: "a", Group: "g", ShownBefore: true}, ParseRef("g|a|?s"), "one mark is not known")
}

func TestSources(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "explore", SourceExplore.String())
	assert.Empty(t, SourceScore.String())
}

func TestMarked(t *testing.T) {
	t.Parallel()
	assert.False(t, Ref{ID: "a", Group: "b"}.Marked())
	assert.True(t, Ref{ID: "a", Source: SourceExplore}.Marked())
	assert.True(t, Ref{ID: "a", ShownBefore: true}.Marked())
}

func TestExploreParameters(t *testing.T) {
	t.Parallel()
	stored := `{"decay":{"scale":"24h","offset":"1h","decay":0.5,"floor":0},"base":0.1}`
	var r Ranking
	require.NoError(t, r.UnmarshalJSON([]byte(stored)))
	require.Zero(t, r.Explore, "a ranking from before keeps what it was")
	text, err := r.MarshalJSON()
	require.NoError(t, err)
	require.Contains(t, string(text), `"explore":{"share":0}`, "what is left out of a change stays as it is")
	require.Contains(t, r.String(), ",explore.share=0,")

	on, err := r.With("explore.share=0.1")
	require.NoError(t, err)
	require.Equal(t, Explore{Share: 0.1}, on.Explore)
	require.Equal(t, "explore.share=0.1", on.Changes(r))
	require.Equal(t, "explore.share=0", r.Changes(on))
	require.Contains(t, on.String(), ",explore.share=0.1")
	text, err = on.MarshalJSON()
	require.NoError(t, err)
	var again Ranking
	require.NoError(t, again.UnmarshalJSON(text))
	require.Empty(t, on.Changes(again))
	require.Equal(t, on.Explore, again.Explore)
	for _, bad := range []string{"explore.share=-0.1", "explore.share=1.1", "explore.share=NaN"} {
		_, err := r.With(bad)
		require.ErrorIs(t, err, ErrInvalid, bad)
	}
}
