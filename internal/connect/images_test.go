package connect

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImagesInAFolder makes the folder that the address names, whatever is in its name.
func TestImagesInAFolder(t *testing.T) {
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

// TestFolderURLOfARelativeDirectory is the same wherever the process goes on.
func TestFolderURLOfARelativeDirectory(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	address, err := FolderURL("media")
	require.NoError(t, err)
	u, err := url.Parse(address)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(here, "media"), FolderOf(u))
}

func TestImagesAtABadAddress(t *testing.T) {
	for _, address := range []string{"file://host/folder", "file:///folder?x=1", "s3://bucket?region=x&nonsense=1"} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		_, err = Images(u)
		assert.ErrorContains(t, err, "media.url: ", address)
	}
}
