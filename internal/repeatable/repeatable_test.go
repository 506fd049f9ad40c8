package repeatable

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("content"), 0o600))
	data, err := ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "content", string(data))

	_, err = ReadFile(path + ".absent")
	require.ErrorIs(t, err, os.ErrNotExist)

	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	_, err = ReadFile(fmt.Sprintf("/dev/fd/%d", r.Fd())) // nothing is ever written to it
	require.ErrorContains(t, err, "is a pipe, and must be a file")
}
