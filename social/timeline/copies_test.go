package timeline_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social/timeline"
	timelinememory "github.com/freshet/freshet/social/timeline/memory"
)

type counting struct {
	timeline.Reader
	lists int
}

func (c *counting) ReadMany(ctx context.Context, lists []string, below timeline.Position, n int) ([]timeline.Page, error) {
	c.lists += len(lists)
	return c.Reader.ReadMany(ctx, lists, below, n)
}

func TestCopiesEqualLists(t *testing.T) {
	t.Parallel()
	lists := timelinememory.New(timelinememory.Config{Cap: 7, Clock: time.Now})
	names := []string{"none", "empty", "short", "full"}
	for size, name := range names[1:] {
		token, _, err := lists.Begin(t.Context(), name)
		require.NoError(t, err)
		var c timeline.Content
		for i := range size * 5 {
			c.Entries = append(c.Entries, timeline.Position{At: int64(1000 - i/3), ID: fmt.Sprintf("post:%d", 9-i)})
		}
		_, err = lists.Commit(t.Context(), name, token, c)
		require.NoError(t, err)
	}
	behind, now := &counting{Reader: lists}, time.Now()
	kept := timeline.NewCopies(behind, 7, func() time.Time { return now })
	for _, below := range []timeline.Position{{}, {At: 2000}, {At: 1000, ID: "post:8"}, {At: 999, ID: "post:7"}, {At: 999}, {At: 1}} {
		for n := range 9 {
			want, err := lists.ReadMany(t.Context(), names, below, n)
			require.NoError(t, err)
			got, err := kept.ReadMany(t.Context(), names, below, n)
			require.NoError(t, err)
			for i := range want {
				if len(want[i].Entries) == 0 {
					want[i].Entries, got[i].Entries = nil, nil
				}
			}
			require.Equal(t, want, got, "below %v, %d entries", below, n)
		}
	}
	assert.Equal(t, 9*6+3, behind.lists, "a missing list is requested each time, the others once")
	heads, err := lists.Heads(t.Context(), []string{"empty"})
	require.NoError(t, err)
	_, err = lists.Push(t.Context(), []timeline.Addition{{List: "empty", Version: heads[0].Version, Entries: []timeline.Position{{At: 2000, ID: "post:new"}}}})
	require.NoError(t, err)
	pages, err := kept.ReadMany(t.Context(), []string{"empty"}, timeline.Position{}, 1)
	require.NoError(t, err)
	assert.Empty(t, pages[0].Entries)
	now = now.Add(timeline.CopyTTL)
	pages, err = kept.ReadMany(t.Context(), []string{"empty"}, timeline.Position{}, 1)
	require.NoError(t, err)
	assert.Len(t, pages[0].Entries, 1, "a copy lives for a second")
}
