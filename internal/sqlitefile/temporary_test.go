package sqlitefile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTakesFiles(t *testing.T) {
	dir := t.TempDir()
	assert.True(t, takesFiles(dir))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.False(t, takesFiles(""))
	assert.False(t, takesFiles(filepath.Join(dir, "absent")))
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.False(t, takesFiles(file))
	assert.Contains(t, temporaryDirs(), os.TempDir())
	assert.False(t, noTemporaryFiles(), "tests have such a directory")
}
