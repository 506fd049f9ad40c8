package main

import (
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOnlineBackup runs what docs/operations.md shows on a server that is written to, and restores
// the copy: it ends, has everything, and only its owner can read it.
func TestOnlineBackup(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("sqlite3 is not installed")
	}
	raw, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(raw), "\n### Embedded\n")
	script := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(section)[1]
	dir := t.TempDir()
	s := settings(t, "embedded")
	s["DATA_DIR"] = filepath.Join(dir, "freshet-data")
	p := start(t, s)
	p.fill(t, 4000)
	searchable(t, p)
	r := newReaders(t, 4)
	r.read(t.Context(), p, 4) // what must not be shown again
	var writers sync.WaitGroup
	stop := make(chan struct{})
	writers.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				var report struct{ Accepted int }
				assert.NoError(t, p.post(t.Context(), http.DefaultClient, "/v1/items", "", `{"id":"doc_0","title":"Again","update_time":1}`, &report))
			}
		}
	})
	copying := func(dir string) (output string, err error) {
		command := exec.CommandContext(t.Context(), "sh", "-c", script)
		command.Dir = dir
		out, err := command.CombinedOutput()
		return string(out), err
	}
	out, err := copying(dir)
	close(stop)
	writers.Wait()
	require.NoError(t, err, out)
	assert.Empty(t, out)
	_, err = copying(t.TempDir())
	require.Error(t, err, "there is nothing to copy")
	require.NoError(t, os.Rename(filepath.Join(dir, "backup"), filepath.Join(dir, "kept")))
	require.NoError(t, os.Rename(filepath.Join(s["DATA_DIR"], "social.db"), filepath.Join(dir, "social.db")))
	_, err = copying(dir)
	require.Error(t, err, "a database is missing")
	assert.NoFileExists(t, filepath.Join(s["DATA_DIR"], "social.db"), "the data of the server is not changed")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "backup")))
	require.NoError(t, os.Rename(filepath.Join(dir, "kept"), filepath.Join(dir, "backup")))
	p.kill(t)
	private(t, s["DATA_DIR"])
	private(t, filepath.Join(dir, "backup"))

	s["DATA_DIR"] = filepath.Join(dir, "backup")
	p = start(t, s)
	before := r.delivered.Load()
	r.read(t.Context(), p, 20) // fails the test if an item is delivered twice
	assert.Greater(t, r.delivered.Load(), before)
}

// private checks that only the owner can read the files in a directory.
func private(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		if !d.IsDir() {
			assert.Zero(t, info.Mode().Perm()&0o077, path)
		}
		return nil
	}))
}
