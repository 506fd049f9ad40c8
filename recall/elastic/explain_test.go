package elastic_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	recallelastic "github.com/freshet/freshet/recall/elastic"
)

// TestExplainExternalIndex explains items of an external index: fields that some documents or
// the whole index lack count as absent.
func TestExplainExternalIndex(t *testing.T) {
	t.Parallel()
	date := func(at time.Time) any { return at.UnixMilli() }
	bare := mapped
	bare.GroupID, bare.Popularity, bare.Summary = esindex.None, esindex.None, esindex.None
	for name, names := range map[string]esindex.Fields{"all fields": mapped, "few fields": bare} {
		t.Run(name, func(t *testing.T) {
			docs := stories(date)
			docs[1]["hits"] = 999.5 // an integer field indexes it as 999
			s := openExisting(t, names, `{"type": "date"}`, docs)
			q := ask(feed.Profile{Interests: map[string]float64{"New York": 1.9, "rust": 3}, Keywords: feed.Keywords("about", "c")})
			q.Ranking.PopularityWeight = 1
			f, err := s.Explain(t.Context(), q, []string{"a", "b", "c", "later", "other"})
			require.NoError(t, err)
			require.False(t, f[4].Known)
			require.Equal(t, []feed.Gain{{Name: "New York", Score: 1.9}}, f[0].Tags)
			require.Equal(t, []feed.Gain{{Name: "rust", Score: 3}}, f[2].Tags)
			require.ElementsMatch(t, []string{"about", "c"}, []string{f[2].Keywords[0].Name, f[2].Keywords[1].Name})
			require.InEpsilon(t, 0.5, f[1].Decay, 1e-12)
			require.InDelta(t, 1, f[3].Decay, 0)

			groups, popularity := []string{"a", "s", "s", "later"}, []float64{9, 999, 0, 0}
			if names == bare {
				groups, popularity = []string{"a", "b", "c", "later"}, []float64{0, 0, 0, 0}
			}
			for i := range groups {
				require.True(t, f[i].Known)
				require.Equal(t, groups[i], f[i].Group)
				require.InDelta(t, popularity[i], f[i].Popularity, 0)
			}
			for _, c := range recalled(t, s, q).Candidates {
				i := map[string]int{"a": 0, "b": 1, "c": 2}[c.ID]
				require.InEpsilon(t, c.Score, f[i].Score, 1e-5, c.ID)
			}
		})
	}
}

// TestExplainMetaID explains items whose id is the document's _id, more than fit in one search.
func TestExplainMetaID(t *testing.T) {
	t.Parallel()
	names := mapped
	names.ID = esindex.MetaID
	client, name := connect(t)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name, "", fmt.Appendf(nil, mapping, `{"type": "date"}`), nil))
	report, err := esindex.Inspect(t.Context(), client, name, names)
	require.NoError(t, err)
	var ids []string
	var bulk []byte
	for i := range 1205 {
		ids = append(ids, fmt.Sprintf("doc-%d", i))
		bulk = fmt.Appendf(bulk, "{\"index\":{\"_id\":%q}}\n{\"headline\":\"x\",\"published_at\":%d,\"hits\":%d}\n", ids[i], int64(origin)*1000, i)
	}
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+name+"/_bulk", "refresh=true", bulk, nil))
	s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
	f, err := s.Explain(t.Context(), ask(feed.Profile{Keywords: feed.Keywords("x")}), ids)
	require.NoError(t, err)
	for i := range f {
		require.True(t, f[i].Known, ids[i])
		require.Equal(t, ids[i], f[i].Group)
		require.InDelta(t, i, f[i].Popularity, 0)
		require.Len(t, f[i].Keywords, 1)
	}
}
