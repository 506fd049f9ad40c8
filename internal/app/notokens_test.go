package app

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
)

// plainIndex makes the index of a configuration with the fields of Freshet's own,
// except for those of tokens and what [esindex.Extend] adds.
func plainIndex(t *testing.T, cfg configs.Config) (mapping func() string) {
	t.Helper()
	client, err := ConnectElastic(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	body := `{"mappings":{"dynamic":false,"properties":{"id":{"type":"keyword"},"title":{"type":"text"},` +
		`"update_time":{"type":"date","format":"epoch_second"}}}}`
	path := "/" + cfg.Elasticsearch.Index
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, path, "", []byte(body), nil))
	return func() (found string) {
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodGet, path+"/_mapping", "", nil,
			func(b []byte) error { found = string(b); return nil }))
		return found
	}
}

// TestAnIndexWithoutTokensIsRefused: where the index is Freshet's no server starts
// over one that has no fields of tokens, which is left as it is.
func TestAnIndexWithoutTokensIsRefused(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	ownIndices(t, &cfg)
	mapping := plainIndex(t, cfg)
	before := mapping()
	const what = "name another one in elasticsearch.index"
	_, err := Open(t.Context(), cfg, WithLogger(slog.New(slog.DiscardHandler)))
	require.ErrorIs(t, err, esindex.ErrUnusable)
	require.ErrorContains(t, err, what)
	for _, fix := range []bool{false, true} {
		said := map[Level][]string{}
		for _, f := range Doctor(t.Context(), cfg, fix) {
			if f.What == "index "+cfg.Elasticsearch.Index {
				said[f.Level] = append(said[f.Level], f.Detail)
			}
		}
		require.Len(t, said[Broken], 1, "%v", said)
		assert.Contains(t, said[Broken][0], what)
		for _, m := range said[OK] {
			assert.Contains(t, m, "created", "the indices beside it")
		}
	}
	assert.Equal(t, before, mapping())
}

// TestAnIndexWithoutTokensOfYours is used by its own analyzer, as is one of Freshet's
// whose configuration wants no fields of tokens.
func TestAnIndexWithoutTokensOfYours(t *testing.T) {
	t.Parallel()
	t.Run("not Freshet's", func(t *testing.T) {
		t.Parallel()
		cfg := services(t)
		ownIndices(t, &cfg)
		cfg.Elasticsearch.ManageIndex = false
		plainIndex(t, cfg)
		becomesReady(t, open(t, cfg))
	})
	t.Run("without the names", func(t *testing.T) {
		t.Parallel()
		cfg := services(t)
		ownIndices(t, &cfg)
		cfg.Elasticsearch.Fields.TitleTokens, cfg.Elasticsearch.Fields.SummaryTokens = "", ""
		plainIndex(t, cfg)
		becomesReady(t, open(t, cfg))
	})
}
