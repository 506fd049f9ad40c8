package server

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/server/doctor"
)

// plainIndex creates the index of a configuration with the fields of Freshet's own index, except
// for the fields that Freshet fills in, and with the given mapping of the time.
func plainIndex(t *testing.T, cfg configs.Config, kept string) (mapping func() string) {
	t.Helper()
	client, err := connect.Elastic(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	body := `{"mappings":{"dynamic":false,"properties":{"id":{"type":"keyword"},"title":{"type":"text"},` +
		`"update_time":` + kept + `}}}`
	path := "/" + cfg.Elasticsearch.Index
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, path, "", []byte(body), nil))
	return func() (found string) {
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodGet, path+"/_mapping", "", nil,
			func(b []byte) error { found = string(b); return nil }))
		return found
	}
}

// inSeconds is the mapping of the time in Freshet's own index.
const inSeconds = `{"type":"date","format":"epoch_second"}`

// TestAnUnusableIndexIsRefused checks that a server does not start over an index managed by Freshet
// that has no token fields, nor over an external one with a time that cannot be decayed. The index
// is not changed.
func TestAnUnusableIndexIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kept string
		managed    bool
		says       string
	}{
		{"Freshet's, without tokens", inSeconds, true, "name another one in elasticsearch.index"},
		{"yours, with its time as text", `{"type":"text"}`, false, "a date or a number is required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := services(t)
			ownIndices(t, &cfg)
			cfg.Elasticsearch.ManageIndex = c.managed
			mapping := plainIndex(t, cfg, c.kept)
			before := mapping()
			_, err := Open(t.Context(), cfg, WithLogger(slog.New(slog.DiscardHandler)))
			require.ErrorIs(t, err, esindex.ErrUnusable)
			require.ErrorContains(t, err, c.says)
			for _, fix := range []bool{false, true} {
				said := map[doctor.Level][]string{}
				for _, f := range doctor.Check(t.Context(), cfg, doctor.Options{Fix: fix}) {
					if f.What == "index "+cfg.Elasticsearch.Index {
						said[f.Level] = append(said[f.Level], f.Detail)
					}
				}
				require.Len(t, said[doctor.Broken], 1, "%v", said)
				assert.Contains(t, said[doctor.Broken][0], c.says)
				for _, m := range said[doctor.OK] {
					assert.Contains(t, m, "created", "the indices beside it")
				}
			}
			assert.Equal(t, before, mapping())
		})
	}
}

// TestAnIndexWithoutTokensOfYours checks that an external index without token fields is used with
// its own analyzer.
func TestAnIndexWithoutTokensOfYours(t *testing.T) {
	t.Parallel()
	t.Run("not Freshet's", func(t *testing.T) {
		t.Parallel()
		cfg := services(t)
		ownIndices(t, &cfg)
		cfg.Elasticsearch.ManageIndex = false
		plainIndex(t, cfg, inSeconds)
		becomesReady(t, open(t, cfg))
	})
}
