package server

import (
	"bytes"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/doctor"
)

// TestOwnIndexExample runs the example of an external index in examples/own-index, changing only
// the address and the name.
func TestOwnIndexExample(t *testing.T) {
	t.Parallel()
	const dir = "../examples/own-index/"
	read := func(name string) []byte {
		data, err := os.ReadFile(dir + name)
		require.NoError(t, err)
		return data
	}
	cfg, err := configs.Load(configs.Options{Path: dir + "freshet.yaml"})
	require.NoError(t, err)
	address, index := testenv.Elastic(t)
	cfg.Elasticsearch.Addresses, cfg.Elasticsearch.Index = []string{address}, index
	cfg.DataDir = t.TempDir()
	send := func(method, path, contentType string, body []byte) {
		req, err := http.NewRequestWithContext(t.Context(), method, address+"/"+index+path, bytes.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", contentType)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_ = res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	send(http.MethodPut, "", "application/json", read("mapping.json"))
	send(http.MethodPost, "/_bulk?refresh=true", "application/x-ndjson", read("posts.ndjson"))

	for _, f := range doctor.Check(t.Context(), cfg, doctor.Options{Fix: true}) {
		if strings.HasPrefix(f.What, "index ") { // the test Elasticsearch is a single node
			assert.Equal(t, doctor.OK, f.Level, "%s: %s", f.What, f.Detail)
		}
	}
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	cfg.Ranking.PopularityWeight = 1
	a := open(t, cfg, WithClock(at(now).Now))
	answer := ask(t, a, refresh("u_1", 10))
	assert.Equal(t, []string{"art-3", "art-1"}, ids(answer), "one story is shown once, by its better document")
	assert.JSONEq(t, `{"id":"art-1","group_id":"storm","title":"Storm closes the harbour","update_time":1772697600,
		"author_id":"lee","tags":["weather"],"paywall":false}`, string(answer.Docs[1].JSON))

	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_2", feed.Profile{MutedAuthors: []string{"lee"}, Keywords: feed.Keywords("harbour"), Langs: []string{"en"}}))
	assert.Equal(t, []string{"art-2", "art-3"}, ids(ask(t, a, refresh("u_2", 10))))
}
