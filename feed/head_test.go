package feed

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHead(t *testing.T) {
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
		})
	}
	for _, broken := range []string{``, `{`, `{"id":"a`, `{"id":"a","title":"t\`, `{"id":"a","title":"t","update_time":7`, `{"id":"a","title":"t","update_time":x}`} {
		_, _, err := Doc{ID: "a", JSON: json.RawMessage(broken)}.Head()
		assert.Error(t, err, "%q", broken)
	}
}

// FuzzHead compares the short reading with the whole one.
func FuzzHead(f *testing.F) {
	f.Add([]byte(`{"id":"a","group_id":"g","title":"t","update_time":7,"x":{"group_id":"h"}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		it, err := Doc{JSON: doc}.Item()
		if err != nil || it.ID == "" || it.UpdateTime == 0 {
			return
		}
		group, at, err := Doc{JSON: doc}.Head()
		require.NoError(t, err)
		assert.Equal(t, it.Group(), group)
		assert.Equal(t, it.UpdateTime, at)
	})
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
