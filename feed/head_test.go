package feed

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		doc   string
		group string
		time  int64
	}{
		"as written":              {`{"id":"a","title":"t","update_time":7}`, "a", 7},
		"a group":                 {`{"id":"a","group_id":"g/1","title":"t","update_time":7,"likes":3}`, "g/1", 7},
		"quotes in the title":     {`{"id":"a","title":"\",\"update_time\":1,\"group_id\":\"x\\","update_time":7,"summary":"s"}`, "a", 7},
		"another order":           {`{"title":"t","update_time":7,"id":"a","group_id":"g"}`, "g", 7},
		"a group behind the time": {`{"id":"a","title":"t","summary":"s","update_time":7,"group_id":"g"}`, "g", 7},
		"spaces":                  {`{ "id": "a", "group_id": "g", "title": "t", "update_time": 7 }`, "g", 7},
		"an escaped group":        {`{"id":"a","group_id":"\u0067","title":"t","update_time":7}`, "g", 7},
		"a null group":            {`{"id":"a","group_id":null,"title":"t","update_time":7}`, "a", 7},
		"an empty group":          {`{"id":"a","group_id":"","title":"t","update_time":7}`, "a", 7},
		"an author":               {`{"id":"a","title":"t","update_time":7,"author_id":"ann"}`, "a", 7},
		"an author behind all":    {`{"id":"a","title":"t","update_time":7,"summary":"\",\"author_id\":\"eve\"","url":"u","image_url":"i","author_id":"ann","lang":"en"}`, "a", 7},
		"an author out of place":  {`{"id":"a","title":"t","update_time":7,"lang":"en","author_id":"ann"}`, "a", 7},
		"an escaped author":       {`{"id":"a","title":"t","update_time":7,"author_id":"\u00e9ve"}`, "a", 7},
		"an escaped name":         {`{"id":"a","title":"t","update_time":7,"lang":"en","author\u005fid":"ann"}`, "a", 7},
		"an empty author":         {`{"id":"a","title":"t","update_time":7,"author_id":""}`, "a", 7},
		"another object's author": {`{"id":"a","title":"t","update_time":7,"meta":{"author_id":"x"}}`, "a", 7},
		"a nested group":          {`{"id":"a","title":"t","update_time":7,"meta":{"group_id":"x"}}`, "a", 7},
	} {
		t.Run(name, func(t *testing.T) {
			doc := Doc{ID: "a", JSON: json.RawMessage(c.doc)}
			group, at, err := doc.Head()
			require.NoError(t, err)
			assert.Equal(t, c.group, group)
			assert.Equal(t, c.time, at)
			it, err := doc.Item()
			require.NoError(t, err)
			assert.Equal(t, it.Group(), group, "as the whole item has it")
			author, at, err := doc.Origin()
			require.NoError(t, err)
			assert.Equal(t, it.AuthorID, string(author))
			assert.Equal(t, c.time, at)
		})
	}
	for _, broken := range []string{``, `{`, `{"id":"a`, `{"id":"a","title":"t\`, `{"id":"a","title":"t","update_time":7`, `{"id":"a","title":"t","update_time":x}`} {
		_, _, err := Doc{ID: "a", JSON: json.RawMessage(broken)}.Head()
		assert.Error(t, err, "%q", broken)
	}
}

// TestHeadAllocations: reading the head of an item that is its own group, as most are, copies nothing.
func TestHeadAllocations(t *testing.T) {
	doc := Doc{ID: "an_id_of_more_than_thirty_two_bytes", JSON: json.RawMessage(`{"id":"an_id_of_more_than_thirty_two_bytes","title":"t","update_time":7}`)}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		group, _, err := doc.Head()
		if group != doc.ID || err != nil {
			panic(err)
		}
	}))
}

// FuzzHead compares the partial parser with the full one.
func FuzzHead(f *testing.F) {
	f.Add([]byte(`{"id":"a","group_id":"g","title":"t","update_time":7,"x":{"group_id":"h"}}`))
	f.Add([]byte("{\"id\":\"a\",\"group_id\":\"\xf0\",\"title\":\"t\",\"update_time\":7}"))
	f.Add([]byte("{\"id\":\"a\",\"title\":\"t\",\"update_time\":7,\"author_id\":\"\xf0\"}"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		it, err := Doc{JSON: doc}.Item()
		if err != nil || it.ID == "" || it.UpdateTime == 0 {
			return
		}
		group, at, err := Doc{JSON: doc}.Head()
		require.NoError(t, err)
		assert.Equal(t, it.Group(), group)
		assert.Equal(t, it.UpdateTime, at)
		author, at, err := Doc{JSON: doc}.Origin()
		require.NoError(t, err)
		assert.Equal(t, it.AuthorID, string(author))
		assert.Equal(t, it.UpdateTime, at)
	})
}

func BenchmarkOrigin(b *testing.B) {
	doc := Doc{ID: "a", JSON: json.RawMessage(`{"id":"doc_4711","group_id":"story_12","title":"A title of quite the usual length, about something","update_time":1772798400,"summary":"Two lines of text that say what is in it, as long as most are, and perhaps a word more","url":"https://example.com/a/b","author_id":"ann","tags":["go","data"]}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := doc.Origin(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHead(b *testing.B) {
	doc := Doc{ID: "a", JSON: json.RawMessage(`{"id":"doc_4711","group_id":"story_12","title":"A title of quite the usual length, about something","update_time":1772798400,"summary":"s"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := doc.Head(); err != nil {
			b.Fatal(err)
		}
	}
}
