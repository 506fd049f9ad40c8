package connect

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// TestImageFolder checks that the folder of an address is created, whatever characters its name
// has.
func TestImageFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder?", "50%")
	address, err := FolderURL(dir)
	require.NoError(t, err)
	u, err := url.Parse(address)
	require.NoError(t, err)
	assert.Equal(t, dir, FolderOf(u))
	assert.NoDirExists(t, dir)
	store, err := Images(u)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	assert.DirExists(t, dir)
}

// TestImageFolderRelativePath checks that the address is absolute, independent of the working
// directory.
func TestImageFolderRelativePath(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	address, err := FolderURL("media")
	require.NoError(t, err)
	u, err := url.Parse(address)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(here, "media"), FolderOf(u))
}

func TestImageStoreInvalidAddress(t *testing.T) {
	for _, address := range []string{"file://host/folder", "file:///folder?x=1", "s3://bucket?region=x&nonsense=1"} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		_, err = Images(u)
		assert.ErrorContains(t, err, "media.url: ", address)
	}
}

// TestUnfinishedImagesRemoved has files as a killed server leaves them. If there are other
// servers, only files that are too old to be still in progress are removed.
func TestUnfinishedImagesRemoved(t *testing.T) {
	const whole, old, young = "b614c9cea7bc946a3702861695974d8a", "b614c9cea7bc946a3702861695974d8a.18eaabc26ea3fc47.tmp", "b6ef53a5a001c0a5af77edc347d74ac8.18eaabc26ea3fc48.tmp"
	for shared, left := range map[bool][]string{false: {whole}, true: {whole, young}} {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "b6"), 0o750))
		for _, name := range []string{whole, old, young} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "b6", name), []byte("x"), 0o600))
		}
		long := time.Now().Add(-2 * social.ReservedFor)
		require.NoError(t, os.Chtimes(filepath.Join(dir, "b6", old), long, long))
		require.NoError(t, RemoveUnfinished(&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}, shared))
		var names []string
		entries, err := os.ReadDir(filepath.Join(dir, "b6"))
		require.NoError(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		assert.Equal(t, left, names)
	}
	require.NoError(t, RemoveUnfinished(&url.URL{Scheme: "s3", Host: "bucket"}, false))
}
