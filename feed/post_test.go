package feed_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// A page of a feed has posts among its items. Decoding a post as an item yields the fields that
// items have, and the others as business fields.
func TestPostDecodesAsItem(t *testing.T) {
	t.Parallel()
	const doc = `{"id":"post:1","created_at":1772791200,"caption":"\n Snow on the pass \nMore of it","tags":["ski"],"url":"https://a.example/1",` +
		`"audience":{"public":true},"author":{"id":"ann","name":"Ann"},"likes":3,"comments":1,"in_feed":{"source":"discovery"}}`
	var it feed.Item
	require.NoError(t, json.Unmarshal([]byte(doc), &it))
	assert.JSONEq(t, `{"source":"discovery"}`, string(it.Business["in_feed"]))
	assert.JSONEq(t, `{"id":"ann","name":"Ann"}`, string(it.Business["author"]))
	assert.NotContains(t, it.Business, "likes")
	it.Business = nil
	want := feed.Item{
		ID: "post:1", Title: "Snow on the pass", Summary: "\n Snow on the pass \nMore of it", UpdateTime: 1772791200, AuthorID: "ann",
		URL: "https://a.example/1", Tags: []string{"ski"}, Likes: 3, Comments: 1,
	}
	assert.Equal(t, want, it)
	got, err := feed.Doc{ID: "post:1", JSON: json.RawMessage(doc)}.Item()
	require.NoError(t, err)
	got.Business = nil
	assert.Equal(t, want, got)
	group, at, err := feed.Doc{ID: "post:1", JSON: json.RawMessage(doc)}.Head()
	require.NoError(t, err)
	assert.Equal(t, "post:1", group)
	assert.EqualValues(t, 1772791200, at)

	photo := `{"id":"post:2","created_at":1772791200,"caption":"","images":[{"url":"k","alt":"A lake"}],"author":{"id":"ann"}}`
	require.NoError(t, json.Unmarshal([]byte(photo), &it))
	assert.Equal(t, "A lake", it.Title)
	require.NoError(t, json.Unmarshal([]byte(`{"id":"post:3","created_at":1,"caption":"","author":{"id":"ann"}}`), &it))
	assert.Equal(t, "Photo", it.Title)
	// The indexed form of a post is an item.
	require.NoError(t, json.Unmarshal([]byte(`{"id":"post:4","title":"T","update_time":5}`), &it))
	assert.Equal(t, feed.Item{ID: "post:4", Title: "T", UpdateTime: 5}, feed.Item{ID: it.ID, Title: it.Title, UpdateTime: it.UpdateTime})
}
