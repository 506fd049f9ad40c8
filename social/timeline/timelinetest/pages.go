package timelinetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social/timeline"
)

var none timeline.Position // no floor, or no bound of a page

func noList(t *testing.T, open Open) {
	f := open10(t, open)
	assert.Equal(t, timeline.Page{}, f.page(none, 10))
	assert.Equal(t, timeline.Head{}, f.head())
	assert.Zero(t, f.push(pos(1, "a")))
	f.remove("post:a")
	done, err := f.A.Replace(f.ctx, agent, timeline.Change{Add: at(1, "a")})
	require.NoError(t, err)
	assert.False(t, done)
	require.NoError(t, f.A.ClearToken(f.ctx, []string{agent}))
	assert.False(t, f.commit("token", none, pos(1, "a")))
	require.NoError(t, f.A.Abandon(f.ctx, agent, "token"))
	require.NoError(t, f.A.Drop(f.ctx, []string{agent}))
	assert.Equal(t, timeline.Head{}, f.head(), "none of these calls created a list")
}

func paging(t *testing.T, open Open) {
	f := open10(t, open)
	all := join(at(9, "c", "b", "a"), at(7, "x"), at(5, "z", "y"), at(4, "k"))
	f.build(pos(3, "f"), all...)
	for n := 1; n <= len(all)+1; n++ {
		var got []timeline.Position
		below := none
		for {
			page := f.page(below, n)
			require.LessOrEqual(t, len(page.Entries), n)
			assert.Equal(t, pos(3, "f"), page.Floor)
			got = append(got, page.Entries...)
			assert.Equal(t, len(got) < len(all), page.More, "pages of %d", n)
			if !page.More {
				break
			}
			require.NotEmpty(t, page.Entries)
			below = page.Entries[len(page.Entries)-1]
		}
		assert.Equal(t, all, got, "pages of %d", n)
	}
	page := f.page(none, 0)
	assert.Empty(t, page.Entries)
	assert.True(t, page.More)
	page = f.page(none, -1)
	assert.Empty(t, page.Entries)
}

// pagingBelow reads pages below positions without an entry: of a post that was deleted or removed
// from the list, and of posts that never existed.
func pagingBelow(t *testing.T, open Open) {
	f := open10(t, open)
	all := join(at(9, "d", "b"), at(7, "x"))
	f.build(pos(3, "f"), all...)
	for _, test := range []struct {
		below timeline.Position
		want  int // the first that is left
	}{
		{pos(10, "a"), 0},
		{pos(9, "e"), 0},
		{pos(9, "d"), 1},
		{pos(9, "c"), 1},
		{pos(9, "b"), 2},
		{pos(9, "a"), 2},
		{timeline.Position{At: 9}, 2},
		{timeline.Position{At: 9, ID: "~"}, 0},
		{pos(8, "x"), 2},
		{pos(7, "y"), 2},
		{pos(7, "x"), 3},
		{pos(7, "a"), 3},
		{pos(3, "f"), 3},
		{pos(1, "a"), 3},
	} {
		page := f.page(test.below, 10)
		assert.Equal(t, timeline.Ready, page.State)
		assert.Equal(t, fmt.Sprint(all[test.want:]), fmt.Sprint(page.Entries), "below %v", test.below)
		assert.Equal(t, pos(3, "f"), page.Floor)
		assert.False(t, page.More)
	}
	f.remove("post:d")
	assert.Equal(t, all[1:], f.page(pos(9, "d"), 10).Entries)
}

// byteOrder uses ids that a locale would sort in another order.
func byteOrder(t *testing.T, open Open) {
	f := opened(t, open, 100)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@-:/"
	var names []string
	for _, c := range alphabet {
		names = append(names, string(c), string(c)+"0", "a"+string(c))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	slices.Reverse(names)
	all := at(5, names...)
	f.build(none)
	held := f.push(all...)
	assert.Equal(t, 99, held, "a 64th less than the cap")
	floor := all[held]
	f.holds(floor, all[:held]...)
	for i, p := range all[:held-1] {
		assert.Equal(t, all[i+1], f.page(p, 1).Entries[0])
	}
	f.remove(ids(all[:held]...)...)
	for _, p := range all[held+1:] {
		assert.Zero(t, f.push(p), "%s is below the floor %s", p.ID, floor.ID)
	}
	assert.Equal(t, 1, f.push(all[held-1]))
}

func oneSecond(t *testing.T, open Open) {
	const posts = 10_000
	names := make([]string, posts)
	for i := range names {
		names[i] = fmt.Sprintf("%06d", (i*7919)%posts)
	}
	pushed := at(77, names...)
	sorted := slices.Clone(pushed)
	slices.SortFunc(sorted, func(a, b timeline.Position) int { return b.Compare(a) })
	for _, most := range []int{posts, 500} {
		f := opened(t, open, most)
		f.build(none)
		for part := range slices.Chunk(pushed, 1000) {
			f.push(part...)
		}
		var got []timeline.Position
		page := f.page(none, 499)
		for {
			got = append(got, page.Entries...)
			if !page.More {
				break
			}
			page = f.page(got[len(got)-1], 499)
		}
		left, floor := posts, none
		if most < posts {
			left = most - most/timeline.TrimMore
			floor = sorted[left]
		}
		require.Equal(t, sorted[:left], got)
		assert.Equal(t, floor, page.Floor)
	}
}

func extremes(t *testing.T, open Open) {
	f := opened(t, open, 3)
	far := int64(1) << 53
	long := strings.Repeat("x", 122)
	all := join(at(far, "a"+long), at(far-1, "b"+long), at(0, "zero"), at(-1, "minus"), at(-far, "c"+long))
	f.build(none, all[0])
	f.push(all[1:3]...)
	f.holds(none, all[:3]...)
	assert.Equal(t, all[1:3], f.page(all[0], 5).Entries)
	assert.Equal(t, all[2:3], f.page(all[1], 5).Entries)
	assert.Empty(t, f.page(all[2], 5).Entries)
	f.push(all[3])
	f.holds(all[3], all[:3]...)
	f.remove(ids(all[:3]...)...)
	assert.Zero(t, f.push(all[4]))
	f.holds(all[3])
}

func heads(t *testing.T, open Open) {
	f := open10(t, open)
	token := f.begin()
	f.push(pos(9, "a"))
	building := f.head()
	assert.Equal(t, timeline.Building, building.State)
	assert.Equal(t, none, building.Newest, "it is not ready")
	assert.Zero(t, building.Size)
	assert.NotEmpty(t, building.Version)
	f.commit(token, pos(1, "f"), pos(8, "b"))
	ready := f.head()
	assert.Equal(t, timeline.Head{State: timeline.Ready, Newest: pos(9, "a"), Size: 2, Floor: pos(1, "f"), Version: ready.Version}, ready)
	f.remove("post:a", "post:b")
	empty := f.head()
	assert.Equal(t, timeline.Head{State: timeline.Ready, Floor: pos(1, "f"), Version: empty.Version}, empty)
}

func manyLists(t *testing.T, open Open) {
	f := open10(t, open)
	const n = 1200 // more than fit in a pipeline
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("u_%d", i)
		if i%3 != 0 {
			continue
		}
		token, _, err := f.A.Begin(f.ctx, names[i])
		require.NoError(t, err)
		floor := none
		if i%2 == 0 {
			floor = pos(5, "a")
		}
		done, err := f.A.Commit(f.ctx, names[i], token, timeline.Content{Entries: at(int64(100+i), "own"), Floor: floor})
		require.NoError(t, err)
		require.True(t, done)
	}
	held := f.pushTo(names, at(5, "b", "a"))
	pages, err := f.A.ReadMany(f.ctx, names, none, 5)
	require.NoError(t, err)
	all, err := f.A.Heads(f.ctx, names)
	require.NoError(t, err)
	require.Len(t, held, n)
	require.Len(t, pages, n)
	require.Len(t, all, n)
	for i := range names {
		own := pos(int64(100+i), "own")
		switch {
		case i%3 != 0:
			assert.Zero(t, held[i])
			assert.Equal(t, timeline.Page{}, pages[i])
			assert.Equal(t, timeline.Head{}, all[i])
		case i%2 == 0:
			assert.Equal(t, 1, held[i])
			assert.Equal(t, timeline.Page{State: timeline.Ready, Entries: []timeline.Position{own, pos(5, "b")}, Floor: pos(5, "a")}, pages[i])
			assert.Equal(t, own, all[i].Newest)
		default:
			assert.Equal(t, 2, held[i])
			assert.Equal(t, timeline.Page{State: timeline.Ready, Entries: []timeline.Position{own, pos(5, "b"), pos(5, "a")}}, pages[i])
		}
	}
	require.NoError(t, f.A.Remove(f.ctx, names, []string{"post:b"}))
	pages, err = f.B.ReadMany(f.ctx, names, pos(50, "x"), 5)
	require.NoError(t, err)
	assert.Empty(t, pages[0].Entries)
	assert.Equal(t, at(5, "a"), pages[3].Entries)
	require.NoError(t, f.A.Drop(f.ctx, names[600:]))
	all, err = f.B.Heads(f.ctx, names)
	require.NoError(t, err)
	assert.Equal(t, timeline.Ready, all[597].State)
	assert.Equal(t, timeline.None, all[600].State)

	pages, err = f.A.ReadMany(f.ctx, nil, none, 5)
	require.NoError(t, err)
	assert.Empty(t, pages)
	assert.Equal(t, []int{0, 0}, f.pushTo(names[:2], nil))
}
