package elastic

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// TestOwnFieldsOffset checks that the fields added by Freshet are found after the item's
// own JSON, whatever it contains.
func TestOwnFieldsOffset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		own, ours string // ours is "" if none must be found
	}{
		{`{"id":"a","title":"A","update_time":1`, `,"freshet_popularity":0}`},
		{`{"id":"a","title":",\"freshet_popularity\":0}\\"`, `,"freshet_tag_keys":["x","\"]"],"freshet_site":"a\\","freshet_popularity":-1}`},
		{`{"id":"a","x":{"a":[1,{"b":2}],"freshet_site":"x"},"y":["z","freshet_site",{"freshet_tag":1}]`, `,"freshet_lang_keys":["*"],"freshet_popularity":0}`},
		{`{"id":"a"`, `,"freshet_title":"a","freshet_popularity":0,"freshet_sum_2h":1.5e+2,"freshet_epoch_2h":2,"freshet_sum_2d":3,"freshet_epoch_2d":4}`},
		{`{"id":"a b","title":"A\n\t"`, `,"freshet_site":" ","freshet_popularity":0}`},
		{`{"id":"a","freshet_other":1`, `,"freshet_popularity":0}`},
		{`{"id":"a","freshet_tag_keys":["x"],"price":1,"freshet_site":"x","freshet_popularity":0}`, ""}, // rewritten by a server that does not know folded tags
		{`{"freshet_popularity":0,"id":"a"}`, ""},
		// Edited by hand: formatted differently, or with a combination of added fields that Freshet
		// does not write.
		{"{\n  \"id\": \"a\",\n  \"freshet_popularity\": 0\n}", ""},
		{`{"id" : "a","freshet_popularity":0}`, ""},
		{`{"id":"a","x":[1, 2],"freshet_popularity":0}`, ""},
		{`{"id":"a","freshet_popularity": 0}`, ""},
		{"{\"id\":\"a\",\"freshet_popularity\":0\r}", ""},
		{"{\"id\":\"a\",\"freshet_popularity\":0\t}", ""},
		{"{\"id\":\"a\",\"freshet_popularity\":0}\n", ""},
		{`{"id":"a","freshet_site":"x"}`, ""},
		{`{"id":"a","freshet_sum_2h":1,"freshet_epoch_2h":2,"freshet_sum_2d":3,"freshet_epoch_2d":4}`, ""},
		{`{"id":"a","freshet_popularity":0,"freshet_site":"x"}`, ""},
		{`{"id":"a","freshet_popularity":0,"freshet_popularity":0}`, ""},
		{`{"id":"a","freshet_popularity":0,"freshet_sum_2h":1}`, ""},
		{`{"id":"a","freshet_popularity":0,"freshet_sum_2d":3,"freshet_epoch_2d":4}`, ""},
		{`{"id":"a","freshet_sum_2h":1,"freshet_epoch_2h":2,"freshet_sum_2d":3,"freshet_epoch_2d":4,"freshet_popularity":0}`, ""},
		{`{"freshet_popularity":0}`, ""},
		{`{"id":"a"}`, ""},
		{`{}`, ""},
		{``, ""},
	} {
		want := -1
		if c.ours != "" {
			want = len(c.own)
		}
		assert.Equal(t, want, ownAt([]byte(c.own+c.ours)), "%s%s", c.own, c.ours)
	}
}

// TestCountsAreLastFields checks that counts are at the end of a document and can be replaced
// there.
func TestCountsAreLastFields(t *testing.T) {
	t.Parallel()
	s := esindex.OwnSchema(esindex.Fields{})
	it := feed.Item{ID: "a", Title: "A <b>", UpdateTime: 1, Tags: []string{"Go"}, Lang: "en", URL: "https://a.example/x"}
	first, second := feed.Counts{}.Add(1_772_798_400), feed.Counts{}.Add(1_772_998_400)
	none, err := encode(&s, &it, feed.Counts{})
	require.NoError(t, err)
	want, err := encode(&s, &it, second)
	require.NoError(t, err)
	counted, err := withCounts(&s, none, first)
	require.NoError(t, err)
	again, err := withCounts(&s, counted, second)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(again))
	gone, err := withCounts(&s, again, feed.Counts{})
	require.NoError(t, err)
	assert.Equal(t, string(none), string(gone))

	s.More = 1 | 1<<3
	more := feed.AllHalfLives.Add(feed.Counts{}, 1_772_998_400)
	want, err = encode(&s, &it, more)
	require.NoError(t, err)
	for _, field := range []string{"freshet_sum_1h", "freshet_epoch_1h", "freshet_count_1h", "freshet_count_7d"} {
		assert.Contains(t, string(want), `,"`+field+`":`)
	}
	assert.NotContains(t, string(want), "freshet_sum_6h", "a field that the index does not have")
	assert.Equal(t, ownAt(none), ownAt(want))
	counted, err = withCounts(&s, again, more)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(counted))
	s.More = 0
	again, err = withCounts(&s, counted, second)
	require.NoError(t, err)
	counted, err = encode(&s, &it, second)
	require.NoError(t, err)
	assert.Equal(t, string(counted), string(again), "one that is not kept any more goes with the next write")
}
