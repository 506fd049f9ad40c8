package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRoomScarce(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for want, has := range map[string]room{
		"30 of 1000 inodes are free":       {gib, gib, 1000, 30},
		"49999 of 9000000 inodes are free": {gib, gib, 9_000_000, 49_999},
		"50 of 1024 MiB are free":          {gib, 50 << 20, 1000, 1000},
		"1023 of 1048576 MiB are free":     {1024 * gib, gib - 1, 0, 0},
		"0 of 1024 MiB are free":           {gib, 0, 0, 0},
		"0 of 1000 inodes are free":        {gib, 0, 1000, 0},
	} {
		assert.Equal(t, want, has.scarce())
	}
	for _, has := range []room{{}, {gib, gib, 0, 0}, {1024 * gib, gib, 9_000_000, 50_000}, {gib, gib / 20, 60, 3}} {
		assert.Empty(t, has.scarce())
	}
	has, err := roomAt(t.TempDir())
	require.NoError(t, err)
	assert.LessOrEqual(t, has.freeBytes, has.bytes)
	assert.LessOrEqual(t, has.freeInodes, has.inodes)
}

func TestNetworkFileSystemReported(t *testing.T) {
	t.Parallel()
	var d doctor
	d.reportNetwork("")
	assert.Empty(t, d.findings)
	d.reportNetwork("nfs")
	require.Len(t, d.findings, 1)
	assert.Equal(t, Warning, d.findings[0].Level)
	assert.Contains(t, d.findings[0].Detail, "which damages SQLite's databases (nfs)")
	assert.Contains(t, d.findings[0].Fix, "a disk of this machine")
}

// TestUnusedSpaceOfDatabases: a database that has much space without data says so, as its file does not shrink.
func TestUnusedSpaceOfDatabases(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		unused, size int64
		says         string
	}{
		{0, 0, ""},
		{10 << 20, 11 << 20, ""},
		{100 << 20, 1 << 30, ""},
		{300 << 20, 1 << 30, "; of its 1.0 GiB, 300.0 MiB hold no data and are kept for new data (docs/operations.md: Old items)"},
	} {
		assert.Equal(t, tt.says, describeUnused(tt.unused, tt.size))
	}
}
