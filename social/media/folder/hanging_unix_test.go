//go:build unix

package folder

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/media"
)

// TestDiskHangs uses pipes without a writer, which block every call that opens them as a
// network disk with an unreachable server does. Each call ends at its deadline, also when no
// further call may begin, and all calls work again when the disk answers.
func TestDiskHangs(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a"), 0o750))
	for i := range maxCalls {
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "a", fmt.Sprint(i)), 0o600))
	}
	f := media.File{Type: "image/png", Data: []byte("x")}
	for i := range maxCalls {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := s.Open(ctx, fmt.Sprint("a/", i))
			ended <- err
		}()
		testenv.WaitFor(t, func() bool { return len(s.calls) == i+1 }, "the call to be held")
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Put(ctx, "b/1", f), context.DeadlineExceeded)
	require.ErrorIs(t, s.Delete(ctx, "b/1"), context.DeadlineExceeded)
	_, err := s.Keys(ctx, 1)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	for i := range maxCalls {
		w, err := os.OpenFile(filepath.Join(dir, "a", fmt.Sprint(i)), os.O_WRONLY, 0)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	testenv.WaitFor(t, func() bool { return len(s.calls) == 0 }, "the calls that were held to end")
	require.NoError(t, s.Put(t.Context(), "b/1", f))
	r, err := s.Open(t.Context(), "b/1")
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, f.Data, data)
	require.NoError(t, r.Close())
}

// TestReadHangs checks that a read ends at the deadline of the call that opened the file.
func TestReadHangs(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "a"), 0o600))
	w := make(chan *os.File, 1)
	go func() {
		f, err := os.OpenFile(filepath.Join(dir, "a"), os.O_WRONLY, 0)
		assert.NoError(t, err)
		w <- f
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Open(ctx, "a") // reads the head of the file
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, (<-w).Close())
}
