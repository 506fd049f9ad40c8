package app

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// TestAnIndexOfAnOlderVersion starts a server over one, has doctor bring it over
// while the server runs, and finds by Freshet's own words after that.
func TestAnIndexOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	ownIndices(t, &cfg)
	client, err := ConnectElastic(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	fields := indexFields(cfg)
	fields.TitleTokens, fields.SummaryTokens = esindex.None, esindex.None
	body, err := esindex.Definition{Fields: fields}.Items()
	require.NoError(t, err)
	index := "index " + cfg.Elasticsearch.Index
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+cfg.Elasticsearch.Index, "", body, nil))

	log := &lines{}
	a := open(t, cfg, WithClock(at(noon).Now), WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	assert.Contains(t, log.String(), "run freshet doctor --fix")
	becomesReady(t, a)
	put(t, a, feed.Item{ID: "c", Title: "C is enough", UpdateTime: noon.Unix()}, feed.Item{ID: "cpp", Title: "C++ is not", UpdateTime: noon.Unix()})
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Keywords: []feed.Keyword{{Term: "C++", Weight: 3}}}))
	gained := func() (ids []string) {
		x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 10})
		require.NoError(t, err)
		for _, c := range x.Candidates {
			if len(c.Relevance.Keywords) > 0 {
				ids = append(ids, c.ID)
			}
		}
		return ids
	}
	assert.ElementsMatch(t, []string{"c", "cpp"}, gained(), "to the standard analyzer C++ is C")

	findings := Doctor(t.Context(), cfg, false)
	assert.Contains(t, levels(findings, index), Warning)
	findings = Doctor(t.Context(), cfg, true)
	assert.Equal(t, []Level{OK, OK}, levels(findings, index), "%v", findings)
	a.visitElastic(t.Context())
	assert.Equal(t, []string{"cpp"}, gained())
	put(t, a, feed.Item{ID: "new", Title: "More C++", UpdateTime: noon.Unix()})
	assert.ElementsMatch(t, []string{"cpp", "new"}, gained())
	assert.Equal(t, []Level{OK}, levels(Doctor(t.Context(), cfg, true), index), "once is enough")
}
