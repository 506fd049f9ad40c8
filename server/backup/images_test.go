package backup_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

// TestDamagedImageReplaced damages an image of a backup without changing its length, as a disk does: following runs find
// and replace it.
func TestDamagedImageReplaced(t *testing.T) {
	t.Parallel()
	cfg, dir := embedded(t), filepath.Join(t.TempDir(), "backup")
	a := start(t, cfg)
	_, err := a.agent("author").CreatePost(t.Context(), client.NewPost{Caption: "x", Images: []client.NewImage{{Data: picture(t, 7)}, {Data: picture(t, 8)}}})
	require.NoError(t, err)
	makeBackup(t, cfg, dir)
	paths, err := filepath.Glob(filepath.Join(dir, "images", "*", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	whole := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		whole[path] = data
		damaged := bytes.Clone(data)
		damaged[len(damaged)/2] ^= 1
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
	}
	const runs = 10
	for run := range runs {
		makeBackup(t, cfg, dir)
		var left int
		for path, want := range whole {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			if !bytes.Equal(data, want) {
				left++
			}
		}
		if left == 0 {
			require.Empty(t, verified(t, cfg, dir).Differences)
			return
		}
		require.Less(t, run, runs-1, "%d images are still damaged", left)
	}
}
