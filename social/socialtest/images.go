package socialtest

import (
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// photo reserves files for a post and creates the post with them.
func (e *env) photo(id, author string, keys ...string) (social.Written, bool, error) {
	e.Helper()
	e.ok(e.ReserveFiles(e.ctx, id, keys))
	p := social.Post{ID: id, Author: author, Audience: public(), CreatedAt: e.clock().Unix(), Images: []social.Image{{URL: social.ImagePath + keys[0]}}}
	return e.CreatePost(e.ctx, p, social.Creation{Files: len(keys)})
}

func (e *env) fileOwner(key string) string {
	e.Helper()
	return must[string](e)(e.FileOwner(e.ctx, key))
}

func (e *env) noFile(key string) {
	e.Helper()
	_, err := e.FileOwner(e.ctx, key)
	require.ErrorIs(e, err, feed.ErrNotFound)
}

func (e *env) unused(post string) []string {
	e.Helper()
	return must[[]string](e)(e.UnusedFiles(e.ctx, post))
}

func files(e *env) {
	e.noFile("k1")
	require.Empty(e, e.unused("post:1"))
	e.ok(e.ReserveFiles(e.ctx, "post:1", []string{"k1", "k2"}))
	e.noFile("k1")
	require.ErrorIs(e, e.ReserveFiles(e.ctx, "post:2", []string{"k3", "k1"}), feed.ErrInvalid, "a file belongs to only one post")
	require.ErrorIs(e, e.ReserveFiles(e.ctx, "x", []string{"k4"}), feed.ErrBadID)
	require.Empty(e, e.unused("post:2"), "a failed call reserves nothing")

	p := social.Post{ID: "post:1", Author: "a", Audience: public(), CreatedAt: e.clock().Unix(), Images: []social.Image{{URL: "/media/k1"}}}
	_, _, err := e.CreatePost(e.ctx, p, social.Creation{Files: 3})
	require.ErrorIs(e, err, social.ErrUnavailable, "one file is not reserved")
	require.Empty(e, e.row("post:1").ID, "the post is not created")
	_, created, err := e.CreatePost(e.ctx, p, social.Creation{Files: 2})
	require.NoError(e, err)
	require.True(e, created)
	require.Equal(e, "post:1", e.fileOwner("k1"))
	require.Equal(e, "post:1", e.again().fileOwner("k2"), "as another server reads it")
	require.Empty(e, e.unused("post:1"), "the files belong to the post")
	e.ok(e.DropFiles(e.ctx, []string{"k1", "k2", "unknown"}))
	require.Equal(e, "post:1", e.fileOwner("k1"), "used files cannot be dropped")

	e.ok(e.DeletePost(e.ctx, "post:1", "a", here))
	e.noFile("k1")
	require.ElementsMatch(e, []string{"k1", "k2"}, e.unused("post:1"))
	require.ElementsMatch(e, []string{"k1", "k2"}, e.unused("post:1"), "unused until they are dropped")
	e.ok(e.DropFiles(e.ctx, []string{"k1", "k2"}))
	require.Empty(e, e.unused("post:1"))
	e.ok(e.ReserveFiles(e.ctx, "post:3", []string{"k1"}))
}

// filesGivenUp checks that a post cannot be created with files that [social.Images.UnusedFiles] has
// returned: they may be removed at any moment.
func filesGivenUp(e *env) {
	e.ok(e.ReserveFiles(e.ctx, "post:1", []string{"k1"}))
	require.Equal(e, []string{"k1"}, e.unused("post:1"))
	p := social.Post{ID: "post:1", Author: "a", Audience: public(), CreatedAt: e.clock().Unix(), Images: []social.Image{{URL: "/media/k1"}}}
	_, _, err := e.CreatePost(e.ctx, p, social.Creation{Files: 1})
	require.ErrorIs(e, err, social.ErrUnavailable)
	require.Empty(e, e.row("post:1").ID)
	e.noFile("k1")
}

// filesJobs checks that a job removes unused files: an hour after they were reserved unless their
// post was created, and after the post was deleted in any way.
func filesJobs(e *env) {
	reserved := func() []jobs.Job {
		return must[[]jobs.Job](e)(e.List(e.ctx, jobs.Filter{Kind: jobs.Images}))
	}
	e.ok(e.ReserveFiles(e.ctx, "post:left", []string{"left"}))
	list := reserved()
	require.Len(e, list, 1)
	require.Equal(e, "post:left", list[0].Key)
	require.Equal(e, e.clock().Add(social.ReservedFor).Unix(), list[0].RunAt.Unix())
	mustCreate(e)(e.photo("post:1", "a", "k1"))
	require.Len(e, reserved(), 1, "an existing post needs no job")
	mustCreate(e)(e.photo("post:2", "b", "k2"))
	mustCreate(e)(e.photo("post:3", "b", "k3"))
	e.create(social.Post{Author: "b", Caption: "without", Audience: public()})
	e.dirty()
	e.ok(e.DeletePost(e.ctx, "post:1", "", here))
	require.Contains(e, e.dirty(), "images post:1")
	e.ok(e.EraseAuthor(e.ctx, "b"))
	for !must[bool](e)(e.EraseSome(e.ctx, "b", 100, nil)) {
		continue
	}
	dirty := e.dirty()
	require.Contains(e, dirty, "images post:2")
	require.Contains(e, dirty, "images post:3")
	require.Equal(e, []string{"k3"}, e.unused("post:3"))
	e.pass(social.ReservedFor)
	require.Contains(e, e.dirty(), "images post:left")
}

// filesKey checks that an idempotency key identifies a post by the content of its images, not by
// their random names.
func filesKey(e *env) {
	try := func(id, digest string) (social.Written, bool, error) {
		e.ok(e.ReserveFiles(e.ctx, id, []string{id + "-key"}))
		p := social.Post{ID: id, Author: "a", Audience: public(), CreatedAt: e.clock().Unix(), Images: []social.Image{{URL: "/media/" + id, Thumbnail: "/media/t" + id, Width: 2, Height: 1, Color: "#000000", Alt: "x", Digest: digest}}}
		return e.CreatePost(e.ctx, p, social.Creation{Key: "key", Files: 1})
	}
	first, created, err := try("post:1", "same")
	require.NoError(e, err)
	require.True(e, created)
	e.pass(social.ReservedFor)
	second, created, err := try("post:2", "same")
	require.NoError(e, err)
	require.False(e, created)
	require.Equal(e, first.ID, second.ID)
	require.Equal(e, "/media/post:1", second.Images[0].URL)
	require.Empty(e, second.Images[0].Digest, "it is not kept")
	require.Equal(e, []string{"post:2-key"}, e.unused("post:2"), "the second call's file is unused")
	_, _, err = try("post:3", "other")
	require.ErrorIs(e, err, feed.ErrConflict)
}

// mustCreate fails the test unless the post was created.
func mustCreate(e *env) func(social.Written, bool, error) {
	return func(_ social.Written, created bool, err error) {
		e.Helper()
		require.NoError(e, err)
		require.True(e, created)
	}
}
