package elastic_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// TestLearnedAges lists records page by page, in an index with several shards, in which numbers of writes
// are not unique.
func TestLearnedAges(t *testing.T) {
	t.Parallel()
	address, index := testenv.Elastic(t)
	client := clientOf(t, address)
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema()})
	list, next, err := c.LearnedAges(t.Context(), "", 10)
	require.NoError(t, err)
	assert.Empty(t, list, "there is no index")
	assert.Empty(t, next)

	body := `{"settings": {"number_of_shards": 3}, "mappings": {"dynamic": false}, "aliases": {"` + esindex.WriteAlias(esindex.Agents(index)) + `": {}}}`
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+esindex.Agents(index), "", []byte(body), nil))
	at := time.Unix(1_772_791_200, 0)
	var agents []string
	for i := range 25 {
		agent := fmt.Sprintf("u_%02d", i)
		agents = append(agents, agent)
		one := feed.LearningAct{Kind: feed.Liked, Group: "i", At: at, Features: []feed.WeightedFeature{{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "go"}, Weight: 1}}}
		require.NoError(t, c.Learn(t.Context(), agent, func(l *feed.Learning) bool { return l.Add([]feed.LearningAct{one}, 0, at) }))
	}
	_, err = c.EditProfile(t.Context(), "declared", func(p *feed.Profile) (bool, error) { p.MutedTags = []string{"mud"}; return true, nil })
	require.NoError(t, err)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+esindex.Agents(index)+"/_refresh", "", nil, nil))
	for _, n := range []int{1, 2, 4, 7, 100} {
		var found []string
		pages := 0
		for after, more := "", true; more; pages++ {
			list, next, err := c.LearnedAges(t.Context(), after, n)
			require.NoError(t, err)
			for _, one := range list {
				assert.Equal(t, catalog.LearnedAge{Agent: one.Agent, At: at.Unix(), Acts: true}, one)
				found = append(found, one.Agent)
			}
			require.Less(t, pages, 100)
			after, more = next, next != ""
		}
		slices.Sort(found)
		if n >= 4 { // with fewer than shards, some of those with one number may be left out
			assert.Equal(t, agents, slices.Compact(found), "pages of %d", n)
		}
	}
}
