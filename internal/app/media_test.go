package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// TestUnfinishedFilesAreRemoved starts over files as fileblob leaves them when it is
// killed. Beside other servers only those are removed that nobody writes any more.
func TestUnfinishedFilesAreRemoved(t *testing.T) {
	t.Parallel()
	const whole, old, young = "b614c9cea7bc946a3702861695974d8a", "b614c9cea7bc946a3702861695974d8a.18eaabc26ea3fc47.tmp", "b6ef53a5a001c0a5af77edc347d74ac8.18eaabc26ea3fc48.tmp"
	fill := func(dir string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "b6"), 0o750))
		for _, name := range []string{whole, old, young} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "b6", name), []byte("x"), 0o600))
		}
		long := time.Now().Add(-2 * social.ReservedFor)
		require.NoError(t, os.Chtimes(filepath.Join(dir, "b6", old), long, long))
	}
	cfg := embedded(t)
	dir := filepath.Join(cfg.DataDir, "media")
	fill(dir)
	open(t, cfg)
	assert.FileExists(t, filepath.Join(dir, "b6", whole))
	assert.NoFileExists(t, filepath.Join(dir, "b6", old))
	assert.NoFileExists(t, filepath.Join(dir, "b6", young))
}
