package erasures

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// TestLog notes erasures from several servers at once: each is in the file, whole, and is read once for each
// agent. What was erased before a time is left out.
func TestLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "erased.ndjson")
	var writers sync.WaitGroup
	for _, prefix := range []string{"a", "b", "c"} {
		l, err := Open(path)
		require.NoError(t, err)
		writers.Go(func() {
			for i := range 50 {
				assert.NoError(t, l.Note(prefix+string(rune('A'+i%25)), Agent, noon.Add(time.Duration(i)*time.Minute)))
			}
		})
	}
	writers.Wait()
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077)
	all, err := Read([]string{path}, time.Time{})
	require.NoError(t, err)
	assert.Len(t, all, 75)
	late, err := Read([]string{path}, noon.Add(45*time.Minute))
	require.NoError(t, err)
	assert.Len(t, late, 15)

	// The file is renamed while servers run, and both are read.
	l, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, os.Rename(path, path+".1"))
	require.NoError(t, l.Note("later", Author, noon))
	require.NoError(t, l.Note("later", Agent, noon))
	require.NoError(t, l.Note("later", Author, noon))
	all, err = Read([]string{path + ".1", path}, time.Time{})
	require.NoError(t, err)
	require.Len(t, all, 76)
	assert.Equal(t, Erasure{"later", Agent, noon}, all[75], "what erases more")
}

// TestRead reads lines that no server has confirmed, or that somebody has written.
func TestRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "erased.ndjson")
	require.NoError(t, os.WriteFile(path, []byte(`{"agent":"u_1","wh`), 0o600))
	l, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, l.Note("u_2", Agent, noon))
	_, err = Read([]string{path}, time.Time{})
	require.ErrorContains(t, err, path+":1: the line is no erasure")
	for text, says := range map[string]string{
		`{"agent":"","what":"agent","at":"2026-03-06T12:00:00Z"}`:    "agent: ",
		`{"agent":"u_1","what":"all","at":"2026-03-06T12:00:00Z"}`:   "what must be agent or author",
		`{"agent":"u_1","what":"agent"}`:                             "at, the time of the erasure",
		`{"agent":"u_1","what":"agent","at":"2026-03-06T12:00:00Z"}`: "",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Read([]string{path}, time.Time{})
		if says == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, says)
		}
	}
	_, err = Read([]string{path + ".none"}, time.Time{})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(filepath.Join(path, "x"))
	require.ErrorContains(t, err, "erasures.file")
	gone := &Log{filepath.Join(path, "x")}
	require.ErrorIs(t, gone.Note("u_1", Agent, noon), feed.ErrUnavailable)
}
