package fanout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

func TestIndex(t *testing.T) {
	e := newEnv(t)
	p, _, err := e.store.CreatePost(e.ctx, social.Post{
		ID: "post:p", Author: "x", CreatedAt: 1000, Caption: "First line\nand #More", Tags: []string{"given"}, Audience: everybody,
	}, social.Creation{})
	require.NoError(t, err)
	e.publish("hidden", "x", 1, social.Audience{Followers: true})
	e.drain()
	want := feed.Item{
		ID: "post:p", Title: "First line", Summary: p.Caption, Tags: []string{"given", "More"}, AuthorID: "x", UpdateTime: 1000,
	}
	assert.Equal(t, map[string]feed.Item{"post:p": want}, e.items.byID)

	_, _, err = e.store.Like(e.ctx, "f", "post:p")
	require.NoError(t, err)
	require.NoError(t, e.store.SetCounts(e.ctx, "post:p", social.Counts{Likes: 10, Comments: 3}, zero))
	_, due := e.open()[row{jobs.Count, "post:p"}]
	require.True(t, due)
	e.drain()
	want.Likes, want.Comments = 11, 3
	assert.Equal(t, want, e.items.byID["post:p"])

	caption := "edited"
	_, err = e.store.EditPost(e.ctx, "post:p", "x", social.Edit{Caption: &caption}, zero)
	require.NoError(t, err)
	e.drain()
	want.Title, want.Summary, want.Tags = caption, caption, []string{"given"}
	assert.Equal(t, want, e.items.byID["post:p"], "the item's time does not change")

	require.NoError(t, e.store.DeletePost(e.ctx, "post:p", "x", zero))
	e.drain()
	assert.Empty(t, e.items.byID)
	require.NoError(t, e.store.Enqueue(e.ctx, jobs.Spec{Kind: jobs.Index, Key: "post:p"}, jobs.Spec{Kind: jobs.Index, Key: "post:hidden"},
		jobs.Spec{Kind: jobs.Count, Key: "post:unknown"}))
	e.drain()
	assert.Empty(t, e.items.byID)
}

// TestIndexRecreatedPost deletes a post and creates it again before a job runs, and
// checks that the first post's item is removed together with its counts.
func TestIndexRecreatedPost(t *testing.T) {
	e := newEnv(t)
	p := social.Post{ID: "post:p", Author: "x", CreatedAt: e.now.Unix() - 100, Caption: "first", Audience: everybody}
	create := func() {
		t.Helper()
		_, _, err := e.store.CreatePost(e.ctx, p, social.Creation{At: time.Unix(p.CreatedAt, 0)})
		require.NoError(t, err)
	}
	create()
	e.drain()
	require.NoError(t, e.store.DeletePost(e.ctx, p.ID, "", time.Unix(p.CreatedAt+50, 0)))
	p.CreatedAt, p.Caption = p.CreatedAt+60, "second"
	create()
	e.drain()
	require.Equal(t, []string{p.ID}, e.items.removed)
	require.Equal(t, "second", e.items.byID[p.ID].Title)
	_, _, err := e.store.Like(e.ctx, "f", p.ID)
	require.NoError(t, err)
	e.drain()
	require.Equal(t, int64(1), e.items.byID[p.ID].Likes)
	require.Len(t, e.items.removed, 1, "the item of the second post stays")
}

// TestIndexNotRecommended checks that posts of an author who does not want to be recommended have no items, new ones
// included, and that all have one again when the author does.
func TestIndexNotRecommended(t *testing.T) {
	e := newEnv(t)
	var ids []string
	for i := range itemBatch + 2 { // more than one batch
		ids = append(ids, e.publish(fmt.Sprint(i), "x", int64(i+1), everybody).ID)
	}
	e.publish("hidden", "x", 1, social.Audience{Followers: true})
	other := e.publish("other", "y", 1, everybody).ID
	e.drain()
	require.ElementsMatch(t, append([]string{other}, ids...), slices.Collect(maps.Keys(e.items.byID)))
	recommend := func(yes bool) {
		t.Helper()
		require.NoError(t, e.store.PutAuthor(e.ctx, social.Author{ID: "x", Recommend: &yes}, zero))
		e.drain()
	}
	recommend(false)
	require.Equal(t, []string{other}, slices.Collect(maps.Keys(e.items.byID)))
	ids = append(ids, e.publish("new", "x", 0, everybody).ID)
	e.drain()
	require.Len(t, e.items.byID, 1)
	recommend(true)
	require.ElementsMatch(t, append([]string{other}, ids...), slices.Collect(maps.Keys(e.items.byID)))

	e.items.err = fmt.Errorf("%w: no route", catalog.ErrUnavailable)
	require.NoError(t, e.store.PutAuthor(e.ctx, social.Author{ID: "x", Recommend: new(bool)}, zero))
	require.ErrorIs(t, e.run(e.a, e.ctx, jobs.Recommend, "x"), jobs.ErrWait)
}

func indexJobs(ids ...string) (list []jobs.Job) {
	for _, id := range ids {
		list = append(list, jobs.Job{Kind: jobs.Index, Key: id})
	}
	return list
}

func TestIndexInOneBatch(t *testing.T) {
	e := newEnv(t)
	var ids []string
	for i := range 5 {
		ids = append(ids, e.publish(fmt.Sprint(i), "x", 1, everybody).ID)
	}
	e.items.refuse = map[string]bool{ids[3]: true}
	h := e.a.Handlers()[jobs.Index]
	require.Equal(t, 200, h.Batch)
	errs := h.Run(e.ctx, indexJobs(append(ids, "post:unknown")...))
	assert.Equal(t, []error{nil, nil, nil, errors.New("the catalog refuses the item"), nil, nil}, errs)
	assert.Equal(t, []int{5}, e.items.batches)
	assert.Equal(t, sorted(ids[0], ids[1], ids[2], ids[4]), slices.Sorted(maps.Keys(e.items.byID)))
}

func TestIndexCatalogDown(t *testing.T) {
	e := newEnv(t)
	a, b := e.publish("a", "x", 1, everybody), e.publish("b", "x", 1, everybody)
	require.NoError(t, e.store.DeletePost(e.ctx, b.ID, "x", zero))
	e.items.err = fmt.Errorf("%w: no route", catalog.ErrUnavailable)
	for _, err := range e.a.Handlers()[jobs.Index].Run(e.ctx, indexJobs(a.ID, b.ID)) {
		require.ErrorIs(t, err, jobs.ErrWait)
	}
	e.items.err = nil
	e.drain()
	assert.Contains(t, e.items.byID, a.ID)
}

// TestIndexConcurrentChange changes a post after the job has read it and before the job writes
// its item.
func TestIndexConcurrentChange(t *testing.T) {
	for name, change := range map[string]func(*env){
		"edit": func(e *env) {
			caption := "edited"
			_, err := e.store.EditPost(e.ctx, "post:p", "x", social.Edit{Caption: &caption}, zero)
			require.NoError(e.t, err)
		},
		"delete": func(e *env) { require.NoError(e.t, e.store.DeletePost(e.ctx, "post:p", "x", zero)) },
		"like": func(e *env) {
			_, _, err := e.store.Like(e.ctx, "f", "post:p")
			require.NoError(e.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.publish("p", "x", 1, everybody)
			e.items.before = func() {
				e.items.before = nil
				change(e)
			}
			require.Equal(t, []error{nil}, e.a.Handlers()[jobs.Index].Run(e.ctx, indexJobs("post:p")))
			got := e.items.byID
			e.items.byID = map[string]feed.Item{}
			require.NoError(t, e.store.Enqueue(e.ctx, jobs.Spec{Kind: jobs.Index, Key: "post:p"}))
			e.drain()
			assert.Equal(t, e.items.byID, got)
		})
	}
}

type damagedStore struct {
	social.Store
	bad string
}

func (s damagedStore) PostsByID(ctx context.Context, ids []string) ([]social.Post, error) {
	if slices.Contains(ids, s.bad) {
		return nil, fmt.Errorf("%w: the content of %s", social.ErrDamaged, s.bad)
	}
	return s.Store.PostsByID(ctx, ids)
}

func (s damagedStore) Receivers(ctx context.Context, pages []social.ReceiverPage, n int) ([]social.Receivers, error) {
	if slices.ContainsFunc(pages, func(p social.ReceiverPage) bool { return p.Post == s.bad }) {
		return nil, fmt.Errorf("%w: the content of %s", social.ErrDamaged, s.bad)
	}
	return s.Store.Receivers(ctx, pages, n)
}

// TestIndexDamagedPost checks that the jobs of a damaged post count failed attempts until
// they are dead, and that the other jobs of the batch are done.
func TestIndexDamagedPost(t *testing.T) {
	e := newEnv(t)
	e.publish("good", "x", 1, everybody)
	e.publish("bad", "x", 1, everybody)
	e.publish("fine", "x", 1, everybody)
	e.a.d.Store = damagedStore{e.a.d.Store, "post:bad"}
	var list []jobs.Job
	for _, key := range []string{"post:good", "post:bad", "post:fine"} {
		list = append(list, jobs.Job{Kind: jobs.Index, Key: key})
	}
	errs := e.a.handlers[jobs.Index].Run(e.ctx, list)
	require.NoError(t, errs[0])
	require.NoError(t, errs[2])
	require.ErrorIs(t, errs[1], social.ErrDamaged)
	require.NotErrorIs(t, errs[1], jobs.ErrWait)
	require.Len(t, e.items.byID, 2)
	for range jobs.MaxAttempts {
		require.Error(t, e.run(e.a, e.ctx, jobs.Deliver, "post:bad"))
		e.advance(time.Minute)
	}
	require.Equal(t, jobs.Dead, e.open()[row{jobs.Deliver, "post:bad"}].State)
}
