package elastic_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// TestListExpensiveQueriesDisallowed: items are distinguished from posts even if Elasticsearch
// refuses prefix queries on ids, however many posts are in between.
func TestListExpensiveQueriesDisallowed(t *testing.T) {
	t.Parallel()
	client, name := connect(t)
	_, err := esindex.Ensure(t.Context(), client, name, esindex.Fields{})
	require.NoError(t, err)
	var items []feed.Item
	var want []string
	for i := range int64(40) {
		id := fmt.Sprint("post:", i)
		if i%13 == 0 {
			id = fmt.Sprint("item", i)
			want = append(want, id)
		}
		items = append(items, feed.Item{ID: id, Title: "T", UpdateTime: 100 - i})
	}
	for _, at := range []esindex.Client{client, testenv.Careful{Performer: client}} {
		c := catalogelastic.New(at, catalogelastic.Config{Index: name, Schema: ownSchema()})
		errs, err := c.Put(t.Context(), items)
		require.NoError(t, err)
		require.Empty(t, errs)
		require.NoError(t, c.Refresh(t.Context()))
		for limit := 1; limit < 6; limit++ {
			var got []string
			s := catalog.Selection{Limit: limit}
			for {
				page, err := c.List(t.Context(), s)
				require.NoError(t, err)
				for _, doc := range page.Items {
					got = append(got, doc.ID)
				}
				if s.Cursor = page.Next; s.Cursor == "" {
					break
				}
			}
			assert.Equal(t, want, got, "%d", limit)
		}
	}
}
