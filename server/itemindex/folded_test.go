package itemindex

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// TestOlderIndexGetsNewFields checks that Freshet's own index gets the fields,
// and that an external one does not.
func TestOlderIndexGetsNewFields(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{true, false} {
		address, index := testenv.Elastic(t)
		s := at(t, address, index)
		_, err := esindex.Ensure(t.Context(), s.client, index, Fields(s.cfg))
		require.NoError(t, err)
		var found map[string]struct {
			Mappings map[string]any `json:"mappings"`
		}
		read := func(body []byte) error { return json.Unmarshal(body, &found) }
		require.NoError(t, esindex.Do(t.Context(), s.client, http.MethodGet, "/"+index+"/_mapping", "", nil, read))
		properties := found[index].Mappings["properties"].(map[string]any)
		for _, added := range []string{esindex.FoldedTags, esindex.LangKeys, esindex.DefaultLastAct, esindex.DefaultCount2h, esindex.DefaultCount2d} {
			require.Contains(t, properties, added)
			delete(properties, added)
		}
		body, err := json.Marshal(map[string]any{"mappings": found[index].Mappings})
		require.NoError(t, err)
		s.send(http.MethodDelete, "")
		require.NoError(t, esindex.Do(t.Context(), s.client, http.MethodPut, "/"+index, "", body, nil))

		s.cfg.Elasticsearch.ManageIndex, s.watch.cfg.Elasticsearch.ManageIndex = own, own
		before, err := Inspect(t.Context(), s.client, s.cfg)
		require.NoError(t, err)
		require.False(t, before.Schema.Folds())
		require.False(t, before.Schema.Acts)
		require.True(t, before.Schema.Live)
		require.NoError(t, s.watch.Try(t.Context()))
		s.begin()
		schema, err := s.watch.Schema().Get()
		require.NoError(t, err)
		assert.Equal(t, own, schema.Folds())
		assert.Equal(t, own, schema.Acts)
	}
}
