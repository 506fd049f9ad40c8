package elastic_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// TestFoldedFieldsAreNotTheItems: what is written for comparing is cut off again, whatever the
// item holds.
func TestFoldedFieldsAreNotTheItems(t *testing.T) {
	t.Parallel()
	c := own(t)
	items := []feed.Item{
		{ID: "plain", Title: "A", UpdateTime: 1},
		{ID: "tags", Title: "A", UpdateTime: 1, Tags: []string{"Go", "go", `a "quote" ]`, `,"freshet_lang_keys":["x"]`}, Lang: "zh-TW"},
		{ID: "title", Title: `,"freshet_tag_keys":["x"]`, UpdateTime: 1, Lang: "Klingon!"},
		{ID: "business", Title: "A", UpdateTime: 1, Business: map[string]json.RawMessage{"x": json.RawMessage(`{"a":1,"freshet_lang_keys":["x"]}`), "y": json.RawMessage(`[",\"freshet_tag_keys\":",["x"]]`)}},
	}
	errs, err := c.Put(t.Context(), items)
	require.NoError(t, err)
	require.Empty(t, errs)
	counts := map[string]feed.Counts{}
	for i := range 2 {
		for _, it := range items {
			docs, err := c.Docs(t.Context(), []string{it.ID})
			require.NoError(t, err)
			want, err := it.MarshalJSON()
			require.NoError(t, err)
			assert.Equal(t, string(want), string(docs[0].JSON), "%d", i)
			counts[it.ID] = feed.Counts{}.Add(1000)
		}
		_, _, err := c.SetCounts(t.Context(), counts)
		require.NoError(t, err)
	}
}
