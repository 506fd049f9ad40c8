package sqlitefile_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/sqlitefile"
)

// TestUnused deletes what a file has: it keeps its size, and a copy of it is small.
func TestUnused(t *testing.T) {
	path, _ := filled(t)
	unused, size, err := sqlitefile.Unused(t.Context(), path)
	require.NoError(t, err)
	assert.Less(t, unused, size/10)
	file, err := sqlitefile.Catalog.Open(t.Context(), path)
	require.NoError(t, err)
	_, err = file.Writer.ExecContext(t.Context(), "DELETE FROM items")
	require.NoError(t, err)
	require.NoError(t, file.Close())

	left, still, err := sqlitefile.Unused(t.Context(), path)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, still, size)
	assert.Greater(t, left, size/2)
	require.NoError(t, sqlitefile.Copy(t.Context(), path, path+".copy"))
	left, small, err := sqlitefile.Unused(t.Context(), path+".copy")
	require.NoError(t, err)
	assert.Zero(t, left)
	assert.Less(t, small, size/2)
	_, _, err = sqlitefile.Unused(t.Context(), path+".none")
	require.Error(t, err)
}
