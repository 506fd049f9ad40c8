package catalogtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
)

// Listed is a catalog that can list its items.
type Listed interface {
	catalog.Catalog
	catalog.Lister
	catalog.Census
}

// RunLister checks a catalog that implements [catalog.Lister], which must be empty. refresh
// makes writes visible in lists; nil if they are visible at once.
func RunLister(t *testing.T, open func(t *testing.T) Listed, refresh func(t *testing.T, c Listed)) {
	runLister(t, open, refresh, "ＴＡＧ-1", "CAFÉ", "café \"Bar\"", "cafe")
}

// RunListerAsWritten is RunLister for a catalog that matches a tag only in the exact spelling
// of the selection.
func RunListerAsWritten(t *testing.T, open func(t *testing.T) Listed, refresh func(t *testing.T, c Listed)) {
	runLister(t, open, refresh)
}

func runLister(t *testing.T, open func(t *testing.T) Listed, refresh func(t *testing.T, c Listed), tags ...string) {
	if refresh == nil {
		refresh = func(*testing.T, Listed) {}
	}
	c := open(t)
	got, err := c.List(t.Context(), catalog.Selection{Limit: 3})
	require.NoError(t, err)
	require.Equal(t, catalog.Page{}, got, "of an empty catalog")
	items := listed()
	put(t, c, items...)
	put(t, c, item(feed.PostPrefix+"1", "A post"))
	refresh(t, c)
	posts, err := c.List(t.Context(), catalog.Selection{Posts: true, Limit: 3})
	require.NoError(t, err)
	require.Len(t, posts.Items, 1, "the posts alone")
	require.Equal(t, feed.PostPrefix+"1", posts.Items[0].ID)
	require.Empty(t, posts.Next)
	t.Run("List/selections", func(t *testing.T) { selections(t, c, items) })
	t.Run("List/spellings", func(t *testing.T) {
		for _, tag := range tags {
			requireSelected(t, c, items, tag, catalog.Selection{Tag: tag})
		}
	})
	t.Run("List/words", func(t *testing.T) { titles(t, c, items) })
	t.Run("CountItems", func(t *testing.T) { census(t, c) })
	t.Run("List/cursors of others", func(t *testing.T) {
		for _, cursor := range []string{"x", "!", "bnVsbA", "e30", "W10", "WzEsMl0", strings.Repeat("A", 1000)} {
			_, err := c.List(t.Context(), catalog.Selection{Limit: 1, Cursor: cursor})
			require.ErrorIs(t, err, feed.ErrInvalid, cursor)
		}
	})
	t.Run("List/changes meanwhile", func(t *testing.T) { listedMeanwhile(t, c, items, refresh) })
	t.Run("List/cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.List(ctx, catalog.Selection{Limit: 1})
		require.ErrorIs(t, err, context.Canceled)
	})
}

// listed returns items in the order of a list. Many have the same time.
func listed() []feed.Item {
	items := make([]feed.Item, 40)
	for i := range items {
		it := item(fmt.Sprintf("list/%d", i), fmt.Sprintf("Item %d", i))
		it.UpdateTime = 1_772_791_200 + int64(i/8)*60
		it.AuthorID = fmt.Sprintf("author %d \"é", i%3)
		it.Tags = []string{"all", fmt.Sprintf("tag-%d", i%2), []string{"Café", "cafe\u0301", "CAFÉ \"bar\""}[i%3]}
		if i%5 == 0 {
			it.AuthorID, it.Tags = "", nil
		}
		items[i] = it
	}
	slices.SortFunc(items, func(a, b feed.Item) int {
		return -cmp.Or(cmp.Compare(a.UpdateTime, b.UpdateTime), strings.Compare(a.ID, b.ID))
	})
	return items
}

func selections(t *testing.T, c Listed, items []feed.Item) {
	const at = 1_772_791_200
	for name, s := range map[string]catalog.Selection{
		"all":                {},
		"an author":          {Author: "author 1 \"é"},
		"a tag":              {Tag: "tag-1"},
		"since":              {Since: at + 120},
		"before":             {Before: at + 120},
		"everything at once": {Author: "author 2 \"é", Tag: "tag-0", Since: at + 60, Before: at + 240},
		"nobody":             {Author: "author"},
		"no tag":             {Tag: "tag"},
	} {
		requireSelected(t, c, items, name, s)
	}
}

// titles selects items by words of their titles.
func titles(t *testing.T, c Listed, items []feed.Item) {
	for _, n := range []int{7, 39} {
		want := slices.DeleteFunc(slices.Clone(items), func(it feed.Item) bool { return it.ID != fmt.Sprintf("list/%d", n) })
		requireListed(t, want, all(t, c, catalog.Selection{Words: words.Of(fmt.Sprintf("%d ITEM", n)), Limit: 3}), "two words")
	}
	requireListed(t, items, all(t, c, catalog.Selection{Words: []string{"item"}, Limit: 7}), "a word of all")
	requireListed(t, nil, all(t, c, catalog.Selection{Words: []string{"item", "absent"}, Limit: 7}), "all words must be there")
	both := catalog.Selection{Words: []string{"item"}, Tag: "tag-1", Author: "author 1 \"é", Limit: 7}
	want := slices.DeleteFunc(slices.Clone(items), func(it feed.Item) bool { return it.AuthorID != `author 1 "é` || !slices.Contains(it.Tags, "tag-1") })
	requireListed(t, want, all(t, c, both), "with an author and a tag")
}

// census counts the items of listed, eight in each minute, and the post, which is dated as [item] dates it.
func census(t *testing.T, c Listed) {
	const at = 1_772_791_200
	got, err := c.CountItems(t.Context(), []int64{at, at + 60, at + 180, at + 181, at + 300})
	require.NoError(t, err)
	require.Equal(t, []int64{8, 16, 8, 8}, got)
	got, err = c.CountItems(t.Context(), []int64{0, feed.MaxItemTime})
	require.NoError(t, err)
	require.Equal(t, []int64{41}, got)
	got, err = c.CountItems(t.Context(), []int64{at})
	require.NoError(t, err)
	require.Empty(t, got)
}

func requireSelected(t *testing.T, c Listed, items []feed.Item, name string, s catalog.Selection) {
	t.Helper()
	want := slices.DeleteFunc(slices.Clone(items), func(it feed.Item) bool {
		return s.Author != "" && it.AuthorID != s.Author || s.Tag != "" && !slices.ContainsFunc(it.Tags, func(tag string) bool { return terms.Same(tag, s.Tag) }) ||
			it.UpdateTime < s.Since || s.Before != 0 && it.UpdateTime >= s.Before
	})
	for _, limit := range []int{1, 7, 40, 1000} {
		s.Limit, s.Cursor = limit, ""
		requireListed(t, want, all(t, c, s), fmt.Sprintf("%s, limit %d", name, limit))
	}
}

// all reads all pages of a selection.
func all(t *testing.T, c Listed, s catalog.Selection) (docs []feed.Doc) {
	t.Helper()
	for {
		page, err := c.List(t.Context(), s)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Items), s.Limit)
		docs = append(docs, page.Items...)
		if page.Next == "" {
			return docs
		}
		require.Len(t, page.Items, s.Limit, "only the last page is not full")
		s.Cursor = page.Next
	}
}

func requireListed(t *testing.T, want []feed.Item, got []feed.Doc, what string) {
	t.Helper()
	ids := func(n int, id func(i int) string) (ids []string) {
		for i := range n {
			ids = append(ids, id(i))
		}
		return ids
	}
	require.Equal(t, ids(len(want), func(i int) string { return want[i].ID }), ids(len(got), func(i int) string { return got[i].ID }), what)
	for i := range want {
		requireItem(t, want[i], got[i])
	}
}

// listedMeanwhile changes items of earlier and later pages between two pages.
func listedMeanwhile(t *testing.T, c Listed, items []feed.Item, refresh func(t *testing.T, c Listed)) {
	s := catalog.Selection{Limit: 10}
	first, err := c.List(t.Context(), s)
	require.NoError(t, err)
	gone, touched := items[20], items[30]
	touched.UpdateTime = items[0].UpdateTime + 60
	require.NoError(t, c.Remove(t.Context(), gone.ID))
	require.NoError(t, c.Remove(t.Context(), items[9].ID))
	put(t, c, touched, func() feed.Item { it := item("list/new", "New"); it.UpdateTime = touched.UpdateTime; return it }())
	refresh(t, c)
	s.Cursor = first.Next
	rest := slices.DeleteFunc(slices.Clone(items[10:]), func(it feed.Item) bool { return it.ID == gone.ID || it.ID == touched.ID })
	requireListed(t, rest, all(t, c, s), "what has not changed comes once")
}
