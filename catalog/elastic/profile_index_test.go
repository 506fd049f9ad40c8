package elastic_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog/catalogtest"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// TestProfileIndexRecreated deletes the index of profiles while the catalog is in use: the
// next write must recreate it with the right mapping.
func TestProfileIndexRecreated(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	_, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema()})
	require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_0", feed.Profile{}))
	agents := esindex.Agents(index)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodDelete, "/"+agents, "", nil, nil))

	dotted := feed.Profile{Interests: map[string]float64{"a.b": 1, "a.b.c": 2}, Keywords: feed.Keywords("x")}
	require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", dotted))
	require.NoError(t, c.MuteItems(t.Context(), "u_1", []string{"doc_1"}))
	p, err := c.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	require.Equal(t, dotted.Interests, p.Interests)
	require.Equal(t, []string{"doc_1"}, p.MutedItems)
	var mapping map[string]struct {
		Mappings struct{ Properties map[string]json.RawMessage }
	}
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodGet, "/"+agents+"/_mapping", "", nil, func(data []byte) error { return json.Unmarshal(data, &mapping) }))
	require.Contains(t, mapping, agents)
	require.Empty(t, mapping[agents].Mappings.Properties, "Elasticsearch made a field of what it was given")
}
