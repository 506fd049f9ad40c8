package recalltest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// popularItems returns items with few different times and counts, so that many are equal in
// both, and a few very large counts.
func popularItems() []feed.Item {
	draw := rand.New(rand.NewPCG(7, 7))
	items := make([]feed.Item, 300)
	for i := range items {
		items[i] = feed.Item{
			ID: fmt.Sprintf("p%03d", draw.IntN(1000)), Title: "An item", UpdateTime: origin.Unix() - draw.Int64N(40), Likes: draw.Int64N(6), Comments: draw.Int64N(3),
		}
		if i%3 == 0 {
			items[i].GroupID = fmt.Sprint("group", i%9)
		}
		if i%50 == 0 {
			items[i].Likes = 1<<40 + int64(i)
		}
	}
	slices.SortFunc(items, func(a, b feed.Item) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(items, func(a, b feed.Item) bool { return a.ID == b.ID })
}

// Popular returns the list that [recall.Popular] must return for these items.
func Popular(items []feed.Item, span recall.Span, n int) []recall.PopularItem {
	var list []recall.PopularItem
	for _, it := range items {
		if it.Popularity() > 0 && it.UpdateTime > span.After && it.UpdateTime <= span.Until {
			list = append(list, recall.PopularItem{ID: it.ID, Group: it.Group(), UpdateTime: it.UpdateTime, Reactions: float64(it.Popularity())})
		}
	}
	slices.SortFunc(list, func(a, b recall.PopularItem) int {
		return cmp.Or(cmp.Compare(b.Reactions, a.Reactions), cmp.Compare(b.UpdateTime, a.UpdateTime), strings.Compare(a.ID, b.ID))
	})
	return list[:min(n, len(list))]
}

// popular tests sources that list popular items.
func popular(t *testing.T, open Open) {
	items := popularItems()
	source := open(t, items)
	s, ok := source.(recall.Popular)
	if !ok {
		t.Skipf("%s lists no popular items", source.Name())
	}
	now := origin.Unix()
	spans := []recall.Span{
		{After: now - 100, Until: now},
		{After: now - 10, Until: now - 5},
		{After: now - 5, Until: now - 5},
		{After: now, Until: now + 10},
		{After: now - 1, Until: now},
		{After: now - 41, Until: now - 39},
		{After: 0, Until: 1},
	}
	for _, n := range []int{1, 2, 10, 1000} {
		lists, err := s.Popular(context.Background(), spans, n)
		require.NoError(t, err)
		require.Len(t, lists, len(spans))
		for i, span := range spans {
			want := Popular(items, span, n)
			require.Len(t, lists[i], len(want), "%v of %v", n, span)
			for j := range want {
				assert.Equal(t, want[j], lists[i][j], "place %d of %d of %v", j, n, span)
			}
		}
	}
	none, err := s.Popular(context.Background(), nil, 5)
	require.NoError(t, err)
	assert.Empty(t, none)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = s.Popular(ctx, spans, 5)
	require.ErrorIs(t, err, context.Canceled)
}
