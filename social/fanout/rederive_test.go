package fanout

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// listed lists the items of posts that fakeItems has.
type listed struct{ *fakeItems }

// List implements [catalog.Lister].
func (l listed) List(_ context.Context, s catalog.Selection) (page catalog.Page, err error) {
	var ids []string
	for id := range l.byID {
		if s.Posts == feed.IsPost(id) && id > s.Cursor {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for i, id := range ids {
		if i == s.Limit {
			page.Next = ids[i-1]
			break
		}
		page.Items = append(page.Items, feed.Doc{ID: id})
	}
	return page, nil
}

// TestRederive makes items that belong to another time than the posts: some are missing, some outdated, some
// belong to posts that are deleted, not public or unknown. Step by step all agree with the posts again, and
// other items stay. A step that is repeated changes nothing.
func TestRederive(t *testing.T) {
	e := newEnv(t)
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		e.publish(id, "x", 10, everybody)
	}
	e.publish("followers", "x", 10, social.Audience{Followers: true})
	e.publish("deleted", "x", 10, everybody)
	e.drain()
	right := map[string]feed.Item{}
	for id, it := range e.items.byID {
		right[id] = it
	}
	require.NoError(t, e.store.DeletePost(e.ctx, "post:deleted", "x", zero))
	e.drain()
	delete(right, "post:deleted")
	require.Len(t, right, 5)

	old := right["post:b"]
	old.Title = "of before the edit"
	e.items.byID["post:b"] = old
	delete(e.items.byID, "post:c")
	for _, id := range []string{"post:deleted", "post:followers", "post:unknown"} {
		e.items.byID[id] = feed.Item{ID: id, Title: "x", AuthorID: "x", UpdateTime: 1}
	}
	e.items.byID["item"], right["item"] = feed.Item{ID: "item"}, feed.Item{ID: "item"}

	dropped := 0
	d := Derived{Items: listed{e.items}, DistrustLists: func(context.Context) error { dropped++; return nil }}
	var total Rederived
	steps := 0
	for cursor, more := "", true; more; steps++ {
		done, err := e.a.Rederive(e.ctx, d, cursor, 2)
		require.NoError(t, err)
		again, err := e.b.Rederive(e.ctx, d, cursor, 2)
		require.NoError(t, err)
		assert.Equal(t, done, again)
		total.Posts, total.Items = total.Posts+done.Posts, total.Items+done.Items
		cursor, more = done.Next, done.Next != ""
	}
	assert.Equal(t, 2, dropped)
	assert.Equal(t, Rederived{Posts: 5, Items: 3}, total)
	assert.Greater(t, steps, 6)
	for row, j := range e.open() {
		assert.Equal(t, jobs.Index, row.kind)
		assert.Equal(t, jobs.PriorityUpkeep, j.Priority)
	}
	e.drain()
	assert.Equal(t, right, e.items.byID)

	// Items of others, and lists of this process.
	done, err := e.a.Rederive(e.ctx, Derived{}, "", 2)
	require.NoError(t, err)
	assert.Equal(t, "posts/", done.Next)
	done, err = e.a.Rederive(e.ctx, Derived{}, "items/", 2)
	require.NoError(t, err)
	assert.Equal(t, Rederived{}, done)
	for _, cursor := range []string{"x", "post", "lists/"} {
		_, err = e.a.Rederive(e.ctx, d, cursor, 2)
		require.ErrorIs(t, err, feed.ErrInvalid)
	}
	down := errors.New("down")
	_, err = e.a.Rederive(e.ctx, Derived{DistrustLists: func(context.Context) error { return down }}, "", 2)
	require.ErrorIs(t, err, down)
}
