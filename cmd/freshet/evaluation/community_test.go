package evaluation

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

func TestReadItems(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"lines": `{"id":"a","title":"A","update_time":5}` + "\n\n" + `{"id":"b","title":"B","update_time":4,"likes":3,"x":[1]}` + "\n" + `{"id":"a","title":"Anew","update_time":6}`,
		"array": `[{"id":"a","title":"A","update_time":5},{"id":"b","title":"B","update_time":4,"likes":3,"x":[1]},{"id":"a","title":"Anew","update_time":6}]`,
	} {
		items, err := ReadItems(t.Context(), strings.NewReader(text))
		require.NoError(t, err, name)
		require.Len(t, items, 2, name)
		assert.Equal(t, []any{"Anew", int64(6), "b"}, []any{items[0].Title, items[0].UpdateTime, items[1].ID}, name)
		assert.Empty(t, items[1].Business, name)
	}
	_, err := ReadItems(t.Context(), strings.NewReader(`{"id":"a","title":"A","update_time":5}`+"\n"+`{"id":"b"`))
	require.ErrorContains(t, err, "line 2")
}

func TestCommunityInOrderOfTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(2_000_000, 0)
	items := []feed.Item{{ID: "new", UpdateTime: 500_000, Likes: 7}, {ID: "old", UpdateTime: 10}}
	var clicks []offline.Click
	for i := range 100 { // unsorted: the days go back
		at := feed.Moment{Time: now.Add(-time.Duration(i) * 3 * time.Hour)}
		clicks = append(clicks, offline.Click{Agent: "u_" + string(rune('a'+i%25)), ID: "old", At: at})
	}
	clicks = append(clicks, offline.Click{Agent: "u", ID: "new", At: feed.Moment{Time: time.Unix(499_999, 0)}}, offline.Click{Agent: "u", ID: "new", At: feed.Moment{Time: now.Add(time.Second)}})
	var p Proposed
	c, err := p.Community(items, clicks, now)
	require.NoError(t, err)
	assert.Equal(t, Unused{Early: 1, Future: 1}, p.LeftOut)
	assert.Equal(t, []int{100, 25, 2}, []int{p.Clicks, p.Readers, p.Items})
	assert.Equal(t, "old", c.Items[0].ID)
	assert.Zero(t, c.Items[1].Likes, "they were counted later")
	assert.Equal(t, int64(7), items[0].Likes, "the caller's items stay")
	for i := 1; i < len(c.Clicks); i++ {
		assert.LessOrEqual(t, c.Clicks[i-1].At, c.Clicks[i].At)
	}
	assert.Equal(t, now.UTC(), p.Until)
}
