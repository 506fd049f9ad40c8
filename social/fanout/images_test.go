package fanout

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

type fakeFiles struct {
	err      error
	released []string
}

func (f *fakeFiles) Release(_ context.Context, post string) error {
	if f.err == nil {
		f.released = append(f.released, post)
	}
	return f.err
}

// The images of a post that was never created, and of one that was deleted, are removed. While
// their store is down the job waits without a limit.
func TestOrphanedImagesRemoved(t *testing.T) {
	e := newEnv(t)
	files := &fakeFiles{err: errors.New("no route")}
	require.ErrorIs(t, e.a.images(e.ctx, jobs.Job{Key: "post:x"}), jobs.ErrWait, "no image store is configured any more")
	e.a.d.Files = files
	require.NoError(t, e.store.ReserveFiles(e.ctx, "post:left", []string{"k1"}))
	require.NoError(t, e.store.ReserveFiles(e.ctx, "post:1", []string{"k2"}))
	p := post(e, "1", "x", 1, everybody)
	p.Images = []social.Image{{URL: "/media/k2"}}
	_, _, err := e.store.CreatePost(e.ctx, p, social.Creation{Files: 1})
	require.NoError(t, err)
	left := row{jobs.Images, "post:left"}
	require.Contains(t, e.open(), left)
	for range jobs.MaxAttempts + 1 {
		require.ErrorIs(t, e.run(e.a, e.ctx, left.kind, left.key), jobs.ErrWait)
	}
	require.Equal(t, jobs.Failed, e.open()[left].State, "the job never becomes dead")
	files.err = nil
	e.drain()
	require.Equal(t, []string{"post:left"}, files.released)
	require.NoError(t, e.a.Store().DeletePost(e.ctx, "post:1", "x", zero))
	e.drain()
	assert.Equal(t, []string{"post:left", "post:1"}, files.released)
}
