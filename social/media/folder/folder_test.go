package folder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/media"
	"github.com/freshet/freshet/social/media/mediatest"
)

func store(t *testing.T) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s, err := Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s, dir
}

func TestConformance(t *testing.T) {
	t.Parallel()
	mediatest.Run(t, func(t *testing.T) media.Store { s, _ := store(t); return s })
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			list = append(list, path)
		}
		return err
	}))
	return list
}

func TestWriteFailureLeavesNothing(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	f := media.File{Type: "image/png", Data: []byte("x")}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "1"), 0o750))
	require.Error(t, s.Put(t.Context(), "a/1", f), "a folder has its name")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), nil, 0o600))
	require.Error(t, s.Put(t.Context(), "b/1", f), "a file has the folder's name")
	assert.Equal(t, []string{filepath.Join(dir, "b")}, names(t, dir))
	_, err := s.Open(t.Context(), "b/1")
	require.Error(t, err)
	require.NotErrorIs(t, err, feed.ErrNotFound, "a retry may find it")
}

func TestPathTraversalRefused(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	outside := filepath.Join(filepath.Dir(dir), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("x"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "link")))
	for _, key := range []string{"../outside", "link", outside} {
		_, err := s.Open(t.Context(), key)
		require.Error(t, err, key)
		if key != "link" {
			require.Error(t, s.Put(t.Context(), key, media.File{}), key)
			require.Error(t, s.Delete(t.Context(), key), key)
		}
	}
	assert.FileExists(t, outside)
}

func TestUnfinishedFilesNotListed(t *testing.T) {
	t.Parallel()
	s, dir := store(t)
	require.NoError(t, s.Put(t.Context(), "a/1", media.File{Data: []byte("x")}))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "0.ABC"+Unfinished), nil, 0o600))
	got, err := s.Keys(t.Context(), 9)
	require.NoError(t, err)
	assert.Equal(t, []string{"a/1"}, got)
}

func TestOpenMissingFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Open(file)
	require.Error(t, err)
}
