package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// TestOnlineBackup runs what docs/operations.md shows on a server that is written to, and restores
// the copy: it ends, has everything, and only its owner can read it.
func TestOnlineBackup(t *testing.T) {
	t.Parallel()
	script, _ := onlineBackup(t)
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
	out, err = copying(dir)
	require.Error(t, err, "there is a backup")
	assert.Contains(t, out, "backup exists")
	_, err = copying(t.TempDir())
	require.Error(t, err, "there is nothing to copy")
	require.NoError(t, os.Rename(filepath.Join(dir, "backup"), filepath.Join(dir, "kept")))
	require.NoError(t, os.Rename(filepath.Join(s["DATA_DIR"], "social.db"), filepath.Join(dir, "social.db")))
	_, err = copying(dir)
	require.Error(t, err, "a database is missing")
	assert.NoFileExists(t, filepath.Join(s["DATA_DIR"], "social.db"), "the data of the server is not changed")
	assert.NoDirExists(t, filepath.Join(dir, "backup"), "what is not whole has another name")
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

// TestBackupOfStoppedServer runs the documented script after a stop, which leaves no journal.
func TestBackupOfStoppedServer(t *testing.T) {
	t.Parallel()
	script, _ := onlineBackup(t)
	dir := t.TempDir()
	s := settings(t, "embedded")
	s["DATA_DIR"] = filepath.Join(dir, "freshet-data")
	p := start(t, s)
	p.fill(t, 100)
	searchable(t, p)
	r := newReaders(t, 1)
	r.read(t.Context(), p, 1)
	p.signal(syscall.SIGTERM)
	p.ended(t)
	command := exec.CommandContext(t.Context(), "sh", "-c", script)
	command.Dir = dir
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	filters, err := filepath.Glob(filepath.Join(dir, "backup", "impressions", "*.filter"))
	require.NoError(t, err)
	assert.NotEmpty(t, filters)

	s["DATA_DIR"] = filepath.Join(dir, "backup")
	r.read(t.Context(), start(t, s), 1) // fails the test if an item is delivered twice
}

// onlineBackup returns the documented script, and the path of the program that it needs.
func onlineBackup(t *testing.T) (script, sqlite string) {
	t.Helper()
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("sqlite3 is not installed")
	}
	raw, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(raw), "\n### Embedded\n")
	return regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(section)[1], sqlite
}

// TestOnlineBackupHasItemsOfPosts publishes posts while the documented script copies one database after
// the other: for-you finds each post that is in the copy.
func TestOnlineBackupHasItemsOfPosts(t *testing.T) {
	t.Parallel()
	script, sqlite := onlineBackup(t)
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	require.NoError(t, os.Mkdir(bin, 0o755))
	slow := "#!/bin/sh\n'" + sqlite + "' \"$@\" && sleep 0.5\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "sqlite3"), []byte(slow), 0o755))
	s := settings(t, "embedded")
	s["DATA_DIR"] = filepath.Join(dir, "freshet-data")
	p := start(t, s)
	var published []string
	publish := func() {
		author, err := client.New(p.url, client.WithAgent(fmt.Sprintf("author_%d", len(published))))
		require.NoError(t, err)
		post, err := author.CreatePost(t.Context(), client.NewPost{Caption: "A post"})
		require.NoError(t, err)
		published = append(published, post.ID)
	}
	publish()
	command := exec.CommandContext(t.Context(), "sh", "-c", script)
	command.Dir, command.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	require.NoError(t, command.Start())
	ended := make(chan error)
	go func() { ended <- command.Wait() }()
	for copying := true; copying; {
		select {
		case err := <-ended:
			require.NoError(t, err)
			copying = false
		case <-time.After(100 * time.Millisecond):
			publish()
		}
	}
	p.kill(t)

	s["DATA_DIR"] = filepath.Join(dir, "backup")
	p = start(t, s)
	reader := func(agent string) *client.Client {
		c, err := client.New(p.url, client.WithAgent(agent))
		require.NoError(t, err)
		return c
	}
	var kept []string
	for _, id := range published {
		_, err := reader("u_1").Post(t.Context(), id)
		if !errors.Is(err, feed.ErrNotFound) {
			require.NoError(t, err)
			kept = append(kept, id)
		}
	}
	require.NotEmpty(t, kept)
	poll := 0
	testenv.WaitFor(t, func() bool { // the copy may have jobs that were waiting
		poll++
		page, err := reader(fmt.Sprintf("u_new_%d", poll)).Refresh(t.Context(), 100)
		require.NoError(t, err)
		found := map[string]bool{}
		for _, item := range page.Items {
			found[item.ID] = true
		}
		return !slices.ContainsFunc(kept, func(id string) bool { return !found[id] })
	}, "each post in for-you")
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
