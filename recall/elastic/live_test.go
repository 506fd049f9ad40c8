package elastic_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
	recallelastic "github.com/freshet/freshet/recall/elastic"
)

// counting is a source with a catalog that writes items and counts into the same index, as servers
// do. Written items are searchable at once.
type counting struct {
	*recallelastic.Source
	t       testing.TB
	catalog *catalogelastic.Catalog
	counts  map[string]feed.Counts // of the items in the index
}

var (
	_ recall.Counter = (*counting)(nil)
	_ recall.Indexer = (*counting)(nil)
)

func newCounting(t testing.TB, s *recallelastic.Source, client esindex.Client, index string) *counting {
	c := &counting{Source: s, t: t, counts: map[string]feed.Counts{}}
	c.catalog = catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema(), Counts: func(context.Context, []string) (map[string]feed.Counts, error) { return c.counts, nil }})
	return c
}

func (c *counting) SetCounts(counts map[string]feed.Counts) {
	unknown, again, err := c.catalog.SetCounts(c.t.Context(), counts)
	require.NoError(c.t, err)
	require.Empty(c.t, again)
	for id, n := range counts {
		c.counts[id] = n
	}
	for _, id := range unknown {
		delete(c.counts, id)
	}
	require.NoError(c.t, c.catalog.Refresh(c.t.Context()))
}

func (c *counting) Upsert(items []feed.Item) {
	refused, err := c.catalog.Put(c.t.Context(), items)
	require.NoError(c.t, err)
	require.Nil(c.t, refused)
	require.NoError(c.t, c.catalog.Refresh(c.t.Context()))
}

func (c *counting) Delete(id string) {
	require.NoError(c.t, c.catalog.Remove(c.t.Context(), id))
	delete(c.counts, id)
	require.NoError(c.t, c.catalog.Refresh(c.t.Context()))
}

// spy records the body of the last search.
type spy struct {
	esindex.Client
	asked []byte
}

func (s *spy) Perform(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.asked, req.Body = body, io.NopCloser(bytes.NewReader(body))
	return s.Client.Perform(req)
}

// TestLivePopularityQueryFunctions checks the query: it has a function for each weight and live
// epoch and one for each weight and acts after the origin, and none if live popularity is unused.
func TestLivePopularityQueryFunctions(t *testing.T) {
	t.Parallel()
	_, client, index := open(t, []feed.Item{item("a", 0, "a")})
	seen := &spy{Client: client}
	for _, c := range []struct {
		weight2h, weight2d float64
		live               bool
		want               int
	}{{0, 0, true, 0}, {1, 0, true, 3}, {0, 1, true, 3}, {1, 1, true, 6}, {1, 1, false, 0}} {
		schema := esindex.OwnSchema(esindex.Fields{})
		schema.Live = c.live
		s := recallelastic.New(seen, recallelastic.Config{Index: index, Schema: esindex.Known(schema)})
		q := ask(feed.Profile{})
		q.Ranking.Popularity2h, q.Ranking.Popularity2d = c.weight2h, c.weight2d
		recalled(t, s, q)
		assert.Equal(t, c.want, bytes.Count(seen.asked, []byte("field_value_factor")), "%+v", c)
		assert.NotContains(t, string(seen.asked), "script")
	}
}
