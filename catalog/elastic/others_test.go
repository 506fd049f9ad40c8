package elastic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// TestSeveralIndices reads items through an alias of one index that a second joins,
// and through a pattern: of an item that stands in both the latest document.
func TestSeveralIndices(t *testing.T) {
	t.Parallel()
	for _, names := range []esindex.Fields{mapped, {ID: esindex.MetaID, GroupID: "story", Title: "headline", UpdateTime: "published_at"}} {
		t.Run(names.ID, func(t *testing.T) {
			client, name := connect(t)
			for n := range 2 {
				index := fmt.Sprintf("%s-%d", name, n)
				body := `{"mappings": {"dynamic": false, "properties": ` + fmt.Sprintf(mappedProperties, `{"type": "date"}`) + `}}`
				require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index, "", []byte(body), nil))
				for _, id := range []string{fmt.Sprint("only-", n), "both"} {
					put(t, client, index, id, fmt.Sprintf(`{"doc_id": %q, "headline": "of %d", "published_at": %d}`, id, n, 1000*(n+1)))
				}
			}
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+name+"-*/_refresh", "", nil, nil))
			join := func(n int) {
				require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, fmt.Sprintf("/%s-%d/_alias/%s", name, n, name), "", nil, nil))
			}
			join(0)
			report, err := esindex.Inspect(t.Context(), client, name, names, "")
			require.NoError(t, err)
			c := elastic.New(client, elastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
			read := func(c *elastic.Catalog) (titles []string) {
				docs, _, err := c.Hydrate(t.Context(), "u_1", []string{"only-0", "both", "only-1", "none"})
				require.NoError(t, err)
				for _, d := range docs {
					var it struct{ Title string }
					if !d.Missing() {
						require.NoError(t, json.Unmarshal(d.JSON, &it))
					}
					titles = append(titles, it.Title)
				}
				return titles
			}
			require.Equal(t, []string{"of 0", "of 0", "", ""}, read(c))
			join(1)
			require.Equal(t, []string{"of 0", "of 1", "of 1", ""}, read(c))
			pattern := elastic.New(client, elastic.Config{Index: name + "-*", Schema: esindex.Known(report.Schema)})
			require.Equal(t, []string{"of 0", "of 1", "of 1", ""}, read(pattern))
		})
	}
}

// TestOneDocumentStopsNoOther: Elasticsearch takes comments in a document, and dates
// in a list.
func TestOneDocumentStopsNoOther(t *testing.T) {
	t.Parallel()
	c, client, index := existing(t, mapped, `{"type": "date"}`)
	put(t, client, index, "good", `{"doc_id": "good", "headline": "A", "published_at": 5000, "price": 1.50}`)
	put(t, client, index, "remark", `{"doc_id": "remark", /* not JSON */ "headline": "B", "published_at": [5000, null, ["1970-01-01T00:00:07Z"]]}`)
	put(t, client, index, "other", `{"doc_id": "C", /* read by a search */ "headline": "C", "published_at": []}`)
	require.NoError(t, c.Refresh(t.Context()))
	docs, err := c.Docs(t.Context(), []string{"good", "remark", "C"})
	require.NoError(t, err)
	for i, want := range []feed.Item{{ID: "good", UpdateTime: 5}, {ID: "remark", UpdateTime: 7}, {ID: "C"}} {
		var it feed.Item
		require.NoError(t, it.UnmarshalJSON(docs[i].JSON))
		require.Equal(t, want.ID, it.ID)
		require.Equal(t, want.UpdateTime, it.UpdateTime)
	}
	page, err := c.List(t.Context(), catalog.Selection{Limit: 10})
	require.NoError(t, err)
	require.Len(t, page.Items, 2, "one has no date")
	docs, err = c.Docs(t.Context(), []string{"good"})
	require.NoError(t, err)
	require.Contains(t, string(docs[0].JSON), "1.50", "bytes stay as they are where all is JSON")
}
