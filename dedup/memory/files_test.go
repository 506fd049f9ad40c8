package memory

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestForeignFilesKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTimeline(t)
		l.kill()
		for _, n := range []string{"notes.aside", "copy.filter.tmp", "20260303.journal.tmp"} {
			require.NoError(t, os.WriteFile(filepath.Join(l.dir, n), []byte("x"), 0o600))
		}
		l.start()
		assert.FileExists(t, filepath.Join(l.dir, "notes.aside"))
		assert.FileExists(t, filepath.Join(l.dir, "copy.filter.tmp"))
		assert.NoFileExists(t, filepath.Join(l.dir, "20260303.journal.tmp"))
	})
}

func TestDayDeleteFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTimeline(t)
		l.jump(l.now.AddDate(0, 0, 21))
		l.show()
		l.run(foldAfter + lookEvery)
		// os.Remove fails for a directory that is not empty, even for root.
		p := filepath.Join(l.dir, "20260301.filter")
		require.NoError(t, os.Remove(p))
		require.NoError(t, os.MkdirAll(filepath.Join(p, "x"), 0o700))
		l.log.Reset()
		l.run(aDay)
		require.NotContains(t, l.log.String(), "are deleted", "%v", l.files())
	})
}
