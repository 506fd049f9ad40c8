package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOwnerNamed names the owner of the nearest folder that exists, unless the cause is another.
func TestOwnerNamed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	dir := filepath.Join(t.TempDir(), "volume")
	require.NoError(t, os.Mkdir(dir, 0o750))
	require.NoError(t, os.Chown(dir, 4711, 4711))
	refused := func(path string) error {
		return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrPermission}
	}
	for _, path := range []string{filepath.Join(dir, "data"), filepath.Join(dir, "data", "impressions", "new")} {
		says := OrMount("the advice", refused(path))
		assert.Contains(t, says, dir+" belongs to user 4711 (-rwxr-x---), and this process runs as user 0")
		assert.Contains(t, says, "chown -R 0 "+dir)
	}
	own := filepath.Join(t.TempDir(), "own")
	for _, err := range []error{refused(own), errors.New("permission denied"), &fs.PathError{Op: "mkdir", Path: dir + "/x", Err: fs.ErrExist}} {
		assert.Equal(t, "the advice", OrMount("the advice", err))
	}
}
