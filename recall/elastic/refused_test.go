package elastic_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	recallelastic "github.com/freshet/freshet/recall/elastic"
)

// TestRefused checks that Refused reports the items that a recall with the same profile excludes,
// for fields whose values only the index knows.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		properties, document string // fields of every second document
		refuses              feed.Profile
	}{
		"tags with a normalizer": {`"tags": {"type": "keyword", "normalizer": "lower"}`, `"tags": "CATS"`, feed.Profile{MutedTags: []string{"cats"}}},
		"tags by copy_to":        {`"tags": {"type": "keyword"}, "section": {"type": "keyword", "copy_to": "tags"}`, `"section": "cats"`, feed.Profile{MutedTags: []string{"cats"}}},
		"tags in a text":         {`"tags": {"type": "text"}`, `"tags": "Cats and dogs"`, feed.Profile{MutedTags: []string{"cats"}}},
		"authors by null_value":  {`"author_id": {"type": "keyword", "null_value": "nobody"}`, `"author_id": null`, feed.Profile{MutedAuthors: []string{"nobody"}}},
		"languages by copy_to":   {`"lang": {"type": "keyword"}, "locale": {"type": "keyword", "copy_to": "lang"}`, `"locale": "de"`, feed.Profile{Langs: []string{"en"}}},
		"groups by copy_to":      {`"group_id": {"type": "keyword"}, "story": {"type": "keyword", "copy_to": "group_id"}`, `"story": "s"`, feed.Profile{MutedItems: []string{"s"}}},
		"what the content tells": {`"tags": {"type": "keyword"}`, `"tags": "cats"`, feed.Profile{MutedTags: []string{"cats"}}},
		"nothing":                {`"tags": {"type": "text"}`, `"tags": "cats"`, feed.Profile{}},
	} {
		for _, id := range []string{"id", esindex.MetaID} {
			t.Run(name+" by "+id, func(t *testing.T) {
				client, at := connect(t)
				body := `{"settings": {"analysis": {"normalizer": {"lower": {"type": "custom", "filter": ["lowercase"]}}}}, "mappings": {"properties": {
					"id": {"type": "keyword"}, "title": {"type": "text"}, "update_time": ` + epochSeconds + `, ` + test.properties + `}}}`
				require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+at, "", []byte(body), nil))
				var ids []string
				for n := range 6 {
					ids = append(ids, fmt.Sprint("d", n))
					document := fmt.Sprintf(`{"id": "d%d", "title": "T", "update_time": %d`, n, origin-n)
					if n%2 == 0 {
						document += ", " + test.document
					}
					require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, fmt.Sprintf("/%s/_doc/d%d", at, n), "refresh=true", []byte(document+"}"), nil))
				}
				report, err := esindex.Inspect(t.Context(), client, at, esindex.Fields{ID: id})
				require.NoError(t, err)
				require.NoError(t, report.Err())
				s := recallelastic.New(client, recallelastic.Config{Index: at, Schema: esindex.Known(report.Schema)})
				refused, err := s.Refused(t.Context(), &test.refuses, append(ids, "none"))
				require.NoError(t, err)
				if report.Schema.ContentDecides(&test.refuses) {
					require.Nil(t, refused)
					return
				}
				require.Len(t, refused, 3)
				shown := recalled(t, s, ask(test.refuses)).Candidates
				require.Len(t, shown, 3)
				for _, c := range shown {
					assert.False(t, refused[c.ID], c.ID)
				}
			})
		}
	}
}
