package elastic_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/ranking"
	rankingelastic "github.com/freshet/freshet/ranking/elastic"
	"github.com/freshet/freshet/ranking/rankingtest"
)

func TestMain(m *testing.M) { os.Exit(testenv.Reuse(m).Run()) }

func connect(t *testing.T, address string) esindex.Client {
	t.Helper()
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	return client
}

func TestConformance(t *testing.T) {
	rankingtest.Run(t, func(t *testing.T) ranking.Store {
		address, index := testenv.ReusedElastic(t, "")
		return rankingelastic.New(connect(t, address), index)
	})
}

// Someone deletes the index while servers run, or restores an older state.
func TestIndexRecreated(t *testing.T) {
	address, index := testenv.Elastic(t)
	client := connect(t, address)
	s := rankingelastic.New(client, index)
	v := ranking.Version{Version: 1, By: "ana", Live: feed.Live{Ranking: feed.DefaultRanking()}}
	for version := 1; version <= 3; version++ {
		v.Version = version
		require.NoError(t, s.Append(t.Context(), v))
	}
	newest, err := s.Newest(t.Context())
	require.NoError(t, err)
	require.Equal(t, v, newest)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodDelete, "/"+esindex.Rankings(index), "", nil, nil))
	_, err = s.Newest(t.Context())
	require.ErrorIs(t, err, feed.ErrNotFound)
	v.Version = 1
	require.NoError(t, s.Append(t.Context(), v))
	require.NoError(t, s.Append(t.Context(), v), "the same once more: the answer before was lost")
	newest, err = s.Newest(t.Context())
	require.NoError(t, err)
	require.Equal(t, v, newest)
	var mapping map[string]struct {
		Mappings struct{ Properties map[string]json.RawMessage }
	}
	path := "/" + esindex.Rankings(index) + "/_mapping"
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodGet, path, "", nil, func(data []byte) error { return json.Unmarshal(data, &mapping) }))
	require.Contains(t, mapping, esindex.Rankings(index))
	require.Empty(t, mapping[esindex.Rankings(index)].Mappings.Properties, "Elasticsearch made a field of what it was given")
}

// gone deletes the index before the second read.
type gone struct {
	esindex.Client
	reads  int
	remove func()
}

func (g *gone) Perform(req *http.Request) (*http.Response, error) {
	if g.reads++; g.reads == 2 {
		g.remove()
	}
	return g.Client.Perform(req)
}

func TestVersionsIndexDeleted(t *testing.T) {
	address, index := testenv.Elastic(t)
	client := connect(t, address)
	v := ranking.Version{Version: 1, By: "ana", Live: feed.Live{Ranking: feed.Ranking{Decay: feed.Decay{Scale: 1e12, Decay: 0.5}, Base: 1}}}
	require.NoError(t, rankingelastic.New(client, index).Append(t.Context(), v))
	remove := func() {
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodDelete, "/"+esindex.Rankings(index), "", nil, nil))
	}
	s := rankingelastic.New(&gone{client, 0, remove}, index)
	_, err := s.Versions(t.Context(), 10)
	require.ErrorIs(t, err, ranking.ErrUnavailable)
	list, err := s.Versions(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, list)
}
