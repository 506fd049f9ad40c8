package itemindex

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// TestLanguagesPolled checks that the languages are read periodically, and at
// once when the name refers to another index.
func TestLanguagesPolled(t *testing.T) {
	t.Parallel()
	address, index := testenv.Elastic(t)
	s := at(t, address, index)
	s.cfg.Elasticsearch.ManageIndex, s.watch.cfg.Elasticsearch.ManageIndex = false, false
	const mapping = `{"mappings": {"properties": {"id": {"type": "keyword"}, "title": {"type": "text"}, "lang": {"type": "keyword"}, "update_time": {"type": "date", "format": "epoch_second"}}}}`
	send := func(path, query, body string) {
		require.NoError(t, esindex.Do(t.Context(), s.client, http.MethodPut, "/"+index+path, query, []byte(body), nil))
	}
	put := func(id, lang string) {
		send("/_doc/"+id, "refresh=true", `{"id": "`+id+`", "title": "T", "update_time": 1, "lang": "`+lang+`"}`)
	}
	send("", "", mapping)
	put("a", "en")
	require.NoError(t, s.watch.Try(t.Context()))
	s.begin()
	known := func() string {
		require.NoError(t, s.watch.checkMapping(t.Context()))
		schema, err := s.watch.Schema().Get()
		require.NoError(t, err)
		return schema.Langs
	}
	s.watch.langs = rate.Sometimes{Interval: time.Hour}
	assert.Equal(t, "en", known())
	put("b", "en-GB")
	assert.Equal(t, "en", known())
	s.watch.langs = rate.Sometimes{Interval: time.Hour}
	assert.Equal(t, "en\nen-GB", known())
	s.send(http.MethodDelete, "")
	send("", "", mapping)
	put("c", "fr")
	assert.Equal(t, "fr", known())
}
