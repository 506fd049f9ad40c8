package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/backup"
	"github.com/freshet/freshet/server/datadir"
)

// command runs freshet as a process with settings (names without FRESHET_).
func command(t *testing.T, s map[string]string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = environ(s)
	return cmd
}

// runs returns what a command prints, which must succeed.
func runs(t *testing.T, s map[string]string, args ...string) string {
	t.Helper()
	out, err := command(t, s, args...).CombinedOutput()
	require.NoError(t, err, "%v: %s", args, out)
	return string(out)
}

// fails returns what a command prints, which must fail.
func fails(t *testing.T, s map[string]string, args ...string) string {
	t.Helper()
	out, err := command(t, s, args...).CombinedOutput()
	require.Error(t, err, "%v: %s", args, out)
	return string(out)
}

// TestOnlineBackup backs up a server that is written to, restores the backup, and compares the two: a reader
// is not shown again what was shown before the backup began.
func TestOnlineBackup(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backup")
	s := settings(t, "embedded")
	p := start(t, s)
	p.fill(t, 4000)
	searchable(t, p)
	r := newReaders(t, 4)
	r.read(t.Context(), p, 4) // what must not be shown again
	var writers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	writers.Go(func() {
		for ctx.Err() == nil {
			var report struct{ Accepted int }
			assert.NoError(t, p.post(t.Context(), http.DefaultClient, "/v1/items", "", `{"id":"doc_0","title":"Again","update_time":1}`, &report))
		}
	})
	assert.Contains(t, runs(t, s, "backup", dir), "has the backup")
	first, err := backup.ReadManifest(t.Context(), dir)
	require.NoError(t, err)
	runs(t, s, "backup", dir)
	second, err := backup.ReadManifest(t.Context(), dir)
	require.NoError(t, err)
	assert.NotEqual(t, first.ID, second.ID)
	assert.NoDirExists(t, filepath.Join(dir, first.ID), "the backup is replaced")
	stop()
	writers.Wait()
	assert.Contains(t, fails(t, s, "backup", filepath.Join(s["DATA_DIR"], "x")), "within data_dir")
	assert.Contains(t, fails(t, s, "restore", dir), "is not empty")
	p.kill(t)
	private(t, s["DATA_DIR"])
	private(t, dir)

	s["DATA_DIR"] = filepath.Join(t.TempDir(), "restored")
	assert.Contains(t, runs(t, s, "restore", dir), "is restored")
	out := runs(t, s, "restore", "--verify", dir)
	assert.Contains(t, out, "compared with the backup "+second.ID)
	private(t, s["DATA_DIR"])
	assert.NoDirExists(t, filepath.Join(s["DATA_DIR"], datadir.Restoring))
	p = start(t, s)
	before := r.delivered.Load()
	r.read(t.Context(), p, 20) // fails the test if an item is delivered twice
	assert.Greater(t, r.delivered.Load(), before)
}

// TestBackupOfStoppedServer backs up what a server has left after a stop, which is no journal.
func TestBackupOfStoppedServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backup")
	s := settings(t, "embedded")
	p := start(t, s)
	p.fill(t, 100)
	searchable(t, p)
	r := newReaders(t, 1)
	r.read(t.Context(), p, 1)
	p.signal(syscall.SIGTERM)
	p.ended(t)
	runs(t, s, "backup", dir)

	s["DATA_DIR"] = t.TempDir()
	runs(t, s, "restore", dir)
	filters, err := filepath.Glob(filepath.Join(s["DATA_DIR"], "impressions", "*.filter"))
	require.NoError(t, err)
	assert.NotEmpty(t, filters)
	r.read(t.Context(), start(t, s), 1) // fails the test if an item is delivered twice
}

// asAgent returns a client of an agent.
func asAgent(t *testing.T, p *process, agent string) *client.Client {
	t.Helper()
	c, err := client.New(p.url, client.WithAgent(agent))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// TestOnlineBackupHasItemsOfPosts publishes and follows while a server is backed up: the backup has what was
// answered before it began, for-you finds each post that it has, and the restored timelines are those of the
// backup.
func TestOnlineBackupHasItemsOfPosts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backup")
	s := settings(t, "embedded")
	p := start(t, s)
	var published []string
	publish := func() {
		a := asAgent(t, p, fmt.Sprintf("author_%d", len(published)))
		post, err := a.CreatePost(t.Context(), client.NewPost{Caption: "A post"})
		require.NoError(t, err)
		follower := fmt.Sprintf("u_%d", len(published)%7)
		_, err = asAgent(t, p, follower).Follow(t.Context(), follower, fmt.Sprintf("author_%d", len(published)))
		require.NoError(t, err)
		published = append(published, post.ID)
	}
	for range 20 {
		publish()
	}
	earlier := len(published)
	copying := command(t, s, "backup", dir)
	require.NoError(t, copying.Start())
	ended := make(chan error)
	go func() { ended <- copying.Wait() }()
	for running := true; running; {
		select {
		case err := <-ended:
			require.NoError(t, err)
			running = false
		default:
			publish()
		}
	}
	p.kill(t)

	s["DATA_DIR"] = filepath.Join(t.TempDir(), "restored")
	runs(t, s, "restore", dir)
	assert.Contains(t, runs(t, s, "restore", "--verify", dir), " 7 timelines")
	p = start(t, s)
	kept := published[:earlier]
	for _, id := range published[earlier:] {
		_, err := asAgent(t, p, "u_1").Post(t.Context(), id)
		if !errors.Is(err, feed.ErrNotFound) {
			require.NoError(t, err)
			kept = append(kept, id)
		}
	}
	poll := 0
	testenv.WaitFor(t, func() bool { // the backup may have jobs that were waiting
		poll++
		found := map[string]bool{}
		c := asAgent(t, p, fmt.Sprintf("u_new_%d", poll))
		page, err := c.Refresh(t.Context(), 100)
		for err == nil && len(page.Items) > 0 {
			for _, item := range page.Items {
				found[item.ID] = true
			}
			page, err = c.LoadMore(t.Context(), 100)
		}
		require.NoError(t, err)
		return !slices.ContainsFunc(kept, func(id string) bool { return !found[id] })
	}, "each post in for-you")
	follows := 0
	for i := range 7 {
		page, err := asAgent(t, p, fmt.Sprintf("u_%d", i)).Following(t.Context(), fmt.Sprintf("u_%d", i), "", 100)
		require.NoError(t, err)
		follows += len(page.Agents)
	}
	assert.GreaterOrEqual(t, follows, earlier)
}

// stoppedWithImages returns the settings of a server that was stopped and has an image, of some megabytes.
func stoppedWithImages(t *testing.T) map[string]string {
	t.Helper()
	s := settings(t, "embedded")
	p := start(t, s)
	p.fill(t, 200)
	p.signal(syscall.SIGTERM)
	p.ended(t)
	folder := filepath.Join(s["DATA_DIR"], "media", "aa")
	require.NoError(t, os.MkdirAll(folder, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "large"), make([]byte, 2<<20), 0o600))
	return s
}

// partsIn returns the names of the parts that an interrupted call has finished.
func partsIn(t *testing.T, pattern string) (names []string) {
	t.Helper()
	found, err := filepath.Glob(pattern)
	require.NoError(t, err)
	if len(found) == 0 {
		return nil
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return nil // it is being replaced
	}
	var m struct {
		Parts []struct{ Name string }
		Done  []string
	}
	require.NoError(t, json.Unmarshal(data, &m))
	for _, p := range m.Parts {
		names = append(names, p.Name)
	}
	return append(names, m.Done...)
}

// killOnce runs a command slowly and kills it once a part is finished.
func killOnce(t *testing.T, s map[string]string, pattern, part string, args ...string) {
	t.Helper()
	slow := command(t, s, append(args, "--rate", "0.1")...)
	require.NoError(t, slow.Start())
	testenv.WaitFor(t, func() bool { return slices.Contains(partsIn(t, pattern), part) }, "the part %s", part)
	require.NoError(t, slow.Process.Kill())
	require.Error(t, slow.Wait())
}

// TestBackupKilled kills a backup and continues it: until then there is none to restore, and a finished one
// stays as it was.
func TestBackupKilled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backup")
	s := stoppedWithImages(t)
	progress := filepath.Join(dir, "*", "progress.json")
	killOnce(t, s, progress, "co-readers", "backup", dir)
	to := map[string]string{"DATA_DIR": filepath.Join(t.TempDir(), "restored")}
	out := fails(t, to, "restore", dir)
	assert.Contains(t, out, "the backup is not finished")
	assert.Contains(t, out, "freshet backup "+dir)
	assert.NoDirExists(t, to["DATA_DIR"])

	made := time.Now()
	runs(t, s, "backup", dir)
	m, err := backup.ReadManifest(t.Context(), dir)
	require.NoError(t, err)
	assert.True(t, m.Started.Before(made), "it was continued")
	entries, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	assert.Len(t, entries, 4, "nothing is left of the interrupted run: %v", entries)

	require.NoError(t, os.WriteFile(filepath.Join(s["DATA_DIR"], "media", "aa", "second"), make([]byte, 1<<20), 0o600))
	killOnce(t, s, progress, "co-readers", "backup", dir)
	runs(t, to, "restore", dir)
	runs(t, to, "restore", "--verify", dir)
	assert.NoFileExists(t, filepath.Join(to["DATA_DIR"], "media", "aa", "second"), "the earlier backup is restored")

	runs(t, s, "backup", dir)
	to["DATA_DIR"] = filepath.Join(t.TempDir(), "second")
	runs(t, to, "restore", dir)
	assert.FileExists(t, filepath.Join(to["DATA_DIR"], "media", "aa", "second"))
	runs(t, s, "backup", "--skip-images", dir)
	assert.FileExists(t, filepath.Join(dir, "images", "aa", "large"), "they are left as they are")
	require.NoError(t, os.Remove(filepath.Join(s["DATA_DIR"], "media", "aa", "large")))
	runs(t, s, "backup", dir)
	assert.NoFileExists(t, filepath.Join(dir, "images", "aa", "large"), "what no backup needs is removed")
	assert.FileExists(t, filepath.Join(dir, "images", "aa", "second"))
}

// TestRestoreKilled kills a restoration: no server starts on its part of the data, and the same command
// continues it.
func TestRestoreKilled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backup")
	s := stoppedWithImages(t)
	runs(t, s, "backup", dir)
	to := map[string]string{"DATA_DIR": filepath.Join(t.TempDir(), "restored")}
	killOnce(t, to, filepath.Join(to["DATA_DIR"], datadir.Restoring, "state.json"), "co-readers", "restore", dir)
	assert.Contains(t, fails(t, to, "serve"), "run the freshet restore again")
	assert.Contains(t, fails(t, to, "restore", "--verify", dir), "run the freshet restore again")
	runs(t, to, "restore", dir)
	runs(t, to, "restore", "--verify", dir)
	start(t, to)
}

// TestRestoreRefuses restores backups that cannot be used: each error says why, and data_dir stays empty.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backup")
	s := stoppedWithImages(t)
	runs(t, s, "backup", dir)
	m, err := backup.ReadManifest(t.Context(), dir)
	require.NoError(t, err)
	to := map[string]string{"DATA_DIR": filepath.Join(t.TempDir(), "restored")}
	edit := func(name string, change func([]byte) []byte) (undo func()) {
		path := filepath.Join(dir, name)
		old, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, change(slices.Clone(old)), 0o600))
		return func() { require.NoError(t, os.WriteFile(path, old, 0o600)) }
	}
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	replace := func(old, with string) func(b []byte) []byte {
		return func(b []byte) []byte { return []byte(strings.Replace(string(b), old, with, 1)) }
	}
	for _, c := range []struct {
		name   string
		change func([]byte) []byte
		says   string
	}{
		{m.ID + "/catalog.db", flip, "the backup is damaged: " + filepath.Join(dir, m.ID, "catalog.db")},
		{m.ID + "/social.db", cut, "the backup is damaged: " + filepath.Join(dir, m.ID, "social.db")},
		{"images/aa/large", flip, "the backup is damaged: " + filepath.Join(dir, "images", "aa", "large")},
		{"manifest.json", cut, "is damaged"},
		{"manifest.json", replace(`"format": 1`, `"format": 2`), "in format 2, and this version reads up to format 1"},
		{"manifest.json", replace(`"name": "catalog.db"`, `"name": "../catalog.db"`), "not within the backup"},
		{"manifest.json", replace(`"items": "sqlite"`, `"items": "elasticsearch"`), "use the configuration of the servers that were backed up"},
		{"manifest.json", replace(`"name": "events.db"`, `"name": "event.db"`), `has the file "event.db"`},
	} {
		undo := edit(c.name, c.change)
		assert.Contains(t, fails(t, to, "restore", dir), c.says)
		undo()
		entries, err := filepath.Glob(filepath.Join(to["DATA_DIR"], "*"))
		require.NoError(t, err)
		for _, name := range entries {
			assert.Contains(t, []string{datadir.Restoring, "lock"}, filepath.Base(name))
		}
		require.NoError(t, os.RemoveAll(to["DATA_DIR"])) // what is restored already would not be read again
	}
	events := filepath.Join(dir, m.ID, "events.db")
	require.NoError(t, os.Rename(events, events+".away"))
	assert.Contains(t, fails(t, to, "restore", dir), "the backup lacks a file")
	require.NoError(t, os.Rename(events+".away", events))
	runs(t, to, "restore", dir)
	runs(t, to, "restore", "--verify", dir)
	for name, says := range map[string]string{
		"media/aa/large": "the image aa/large is missing", "events.db": "events.db is missing",
	} {
		require.NoError(t, os.Rename(filepath.Join(to["DATA_DIR"], name), filepath.Join(to["DATA_DIR"], "aside")))
		assert.Contains(t, fails(t, to, "restore", "--verify", dir), says)
		require.NoError(t, os.Rename(filepath.Join(to["DATA_DIR"], "aside"), filepath.Join(to["DATA_DIR"], name)))
	}
	p := start(t, to)
	p.fill(t, 1)
	out := fails(t, to, "restore", "--verify", dir)
	assert.Contains(t, out, "catalog: the 200 rows of items are not those of the backup")

	assert.Contains(t, fails(t, s, "restore", t.TempDir()), "is not a backup")
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "thesis.txt"), nil, 0o600))
	assert.Contains(t, fails(t, s, "backup", full), "has files that are not a backup's, such as thesis.txt")
	assert.Contains(t, fails(t, map[string]string{"DATA_DIR": filepath.Join(full, "none")}, "backup", filepath.Join(full, "x")), "data_dir must be that of the server")
	assert.Contains(t, fails(t, s, "backup", dir, "--rate", "0"), "--rate must be")
	assert.Contains(t, fails(t, s, "backup"), "give one directory")
	assert.Contains(t, fails(t, to, "restore", "--verify", "--rate", "1", dir), "leave it out with --verify")
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

// TestErasedAgain erases an agent after a backup, whose id the server notes. With that file the agent is erased
// again after the restore, and nobody else.
func TestErasedAgain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, file := filepath.Join(root, "backup"), filepath.Join(root, "erased.ndjson")
	s := settings(t, "embedded")
	s["ERASURES_FILE"] = file
	p := start(t, s)
	posts := map[string]string{}
	for _, author := range []string{"ann", "bob"} {
		post, err := asAgent(t, p, author).CreatePost(t.Context(), client.NewPost{Caption: "A post"})
		require.NoError(t, err)
		posts[author] = post.ID
	}
	runs(t, s, "backup", dir)
	require.NoError(t, asAgent(t, p, "ann").DeleteAgent(t.Context(), "ann"))
	p.kill(t)

	s["DATA_DIR"] = filepath.Join(root, "restored")
	assert.Contains(t, runs(t, s, "restore", dir), "erase again who was erased since")
	runs(t, s, "restore", "--verify", dir)
	assert.Contains(t, fails(t, s, "restore", "--erased", filepath.Join(root, "none"), dir), "no such file")
	assert.Contains(t, fails(t, s, "restore", "--verify", "--erased", file, dir), "first --verify, then --erased")
	assert.Contains(t, fails(t, s, "restore", "--rate", "1", "--erased", file, dir), "leave it out with --verify and --erased")
	assert.Contains(t, runs(t, s, "restore", "--erased", file, dir), "1 agents are erased again")
	assert.Contains(t, runs(t, s, "restore", "--erased", file, dir), "1 agents are erased again", "it can be repeated")
	p = start(t, s)
	_, err := asAgent(t, p, "reader").Post(t.Context(), posts["ann"])
	require.ErrorIs(t, err, feed.ErrNotFound)
	_, err = asAgent(t, p, "reader").Post(t.Context(), posts["bob"])
	require.NoError(t, err)
}

// TestRederiveAll restores posts of before beside the items of after, and makes items agree: a call that is
// interrupted says where to continue.
func TestRederiveAll(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := settings(t, "embedded")
	p := start(t, s)
	found := func() (n int) {
		t.Helper()
		page, err := asAgent(t, p, "nobody").Feed(t.Context(), client.Ask{Action: client.ActionRefresh, Silent: true, Limit: 100})
		require.NoError(t, err)
		return len(page.Items)
	}
	for range 30 {
		_, err := asAgent(t, p, "ann").CreatePost(t.Context(), client.NewPost{Caption: "Before"})
		require.NoError(t, err)
	}
	testenv.WaitFor(t, func() bool { return found() == 30 }, "the items of posts, so that no job is left")
	p.signal(syscall.SIGTERM)
	p.ended(t)
	earlier := filepath.Join(root, "social.db")
	data, err := os.ReadFile(filepath.Join(s["DATA_DIR"], "social.db"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(earlier, data, 0o600))
	p = start(t, s)
	admin := map[string]string{"SERVER": p.url, "AUTH_ADMIN_TOKEN": adminToken}
	for range 3 {
		_, err := asAgent(t, p, "bob").CreatePost(t.Context(), client.NewPost{Caption: "After"})
		require.NoError(t, err)
	}
	testenv.WaitFor(t, func() bool { return found() == 33 }, "the items of posts")
	p.signal(syscall.SIGTERM)
	p.ended(t)
	require.NoError(t, os.Remove(filepath.Join(s["DATA_DIR"], "catalog.db")))
	require.NoError(t, os.Rename(earlier, filepath.Join(s["DATA_DIR"], "social.db")))
	p = start(t, s)
	admin["SERVER"] = p.url
	assert.Zero(t, found())

	assert.Contains(t, fails(t, admin, "jobs", "rederive"), "give --all")
	assert.Contains(t, fails(t, admin, "jobs", "rederive", "--all", "--rate", "0.5"), "--rate must be 1 to 100000")
	assert.Contains(t, fails(t, admin, "jobs", "rederive", "--all", "--after", "x"), "cursor must be the next_cursor")
	slow := command(t, admin, "jobs", "rederive", "--all", "--rate", "1")
	var out bytes.Buffer
	slow.Stderr = &out
	require.NoError(t, slow.Start())
	testenv.WaitFor(t, func() bool { return found() > 0 }, "the first items")
	require.NoError(t, slow.Process.Signal(syscall.SIGINT))
	require.Error(t, slow.Wait())
	_, position, ok := strings.Cut(strings.TrimSpace(out.String()), "freshet jobs rederive --all --after ")
	require.True(t, ok, out.String())
	position, _, _ = strings.Cut(position, "\n")
	require.Contains(t, position, "posts/post:")
	assert.Contains(t, runs(t, admin, "jobs", "rederive", "--all", "--after", position, "--rate", "10000"), "items of posts are made again, and 0 removed")
	testenv.WaitFor(t, func() bool { return found() == 30 }, "all items")
	assert.Contains(t, runs(t, admin, "jobs", "rederive", "--all", "--json"), `"posts"`)
}

// TestEncryptedBackup encrypts a backup for two recipients: each identity restores it, others do not, and no
// message has an identity.
func TestEncryptedBackup(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "backup")
	s := stoppedWithImages(t)
	keys := map[string]string{} // the files of identities, by their recipients
	var to []string
	for _, name := range []string{"one", "two", "other"} {
		own, err := age.GenerateX25519Identity()
		require.NoError(t, err)
		file := filepath.Join(root, name)
		require.NoError(t, os.WriteFile(file, []byte("# made for a test\n"+own.String()+"\n"), 0o600))
		keys[name], to = file, append(to, own.Recipient().String())
	}
	recipients := filepath.Join(root, "recipients")
	require.NoError(t, os.WriteFile(recipients, []byte("# an operator\n"+to[1]+"\n"), 0o600))
	secret, err := os.ReadFile(keys["one"])
	require.NoError(t, err)
	_, secretKey, _ := strings.Cut(strings.TrimSpace(string(secret)), "\n")
	for says, args := range map[string][]string{
		"--encrypt-to has an identity, which is secret":       {"--encrypt-to", secretKey},
		"--encrypt-to must be a recipient of age":             {"--encrypt-to", "bob"},
		"must be a recipient of age: age1":                    {"--encrypt-to", ""},
		"--encrypt-to-file " + keys["one"]:                    {"--encrypt-to-file", keys["one"]},
		"--encrypt-to-file " + filepath.Join(root, "nowhere"): {"--encrypt-to-file", filepath.Join(root, "nowhere")},
	} {
		out := fails(t, s, append([]string{"backup", dir}, args...)...)
		assert.Contains(t, out, says)
		assert.NotContains(t, out, secretKey)
	}
	assert.NoDirExists(t, dir)
	runs(t, s, "backup", dir, "--encrypt-to", to[0], "--encrypt-to-file", recipients)
	private(t, dir)
	assert.Contains(t, fails(t, s, "backup", dir), "give --encrypt-to")
	large, err := filepath.Glob(filepath.Join(dir, "images", "*", "*.age"))
	require.NoError(t, err)
	require.Len(t, large, 1)
	before, err := os.ReadFile(large[0])
	require.NoError(t, err)
	runs(t, s, "backup", dir, "--encrypt-to", to[1], "--encrypt-to", to[0])
	after, err := os.ReadFile(large[0])
	require.NoError(t, err)
	assert.True(t, bytes.Equal(before, after), "an image that was there is not encrypted again")

	restored := map[string]string{"DATA_DIR": filepath.Join(root, "restored")}
	assert.Contains(t, fails(t, restored, "restore", dir), "is encrypted to ")
	out := fails(t, restored, "restore", dir, "--identity", keys["other"])
	assert.Contains(t, out, "none of theirs")
	assert.Contains(t, out, to[0])
	assert.Contains(t, out, to[1])
	assert.Contains(t, fails(t, restored, "restore", dir, "--identity", recipients), "with AGE-SECRET-KEY-")
	assert.Contains(t, fails(t, restored, "restore", dir, "--identity", ""), "no such file")
	assert.Contains(t, fails(t, restored, "restore", dir, "--erased", recipients, "--identity", keys["one"]), "--erased needs no --identity")
	assert.NoDirExists(t, restored["DATA_DIR"])
	for _, name := range []string{"one", "two"} {
		restored["DATA_DIR"] = filepath.Join(root, "restored by "+name)
		runs(t, restored, "restore", dir, "--identity", keys["other"], "--identity", keys[name])
		assert.Contains(t, fails(t, restored, "restore", "--verify", dir), "is encrypted to ")
		runs(t, restored, "restore", "--verify", dir, "--identity", keys[name])
		assert.FileExists(t, filepath.Join(restored["DATA_DIR"], "media", "aa", "large"))
	}
	start(t, restored)
}

// TestBackupInBucket backs up into a real bucket and restores from it, encrypted.
func TestBackupInBucket(t *testing.T) {
	t.Parallel()
	bucket, parameters, _ := strings.Cut(testenv.S3(t), "?")
	address := bucket + "/" + testenv.Unique() + "?" + parameters
	own, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "identity")
	require.NoError(t, os.WriteFile(file, []byte(own.String()), 0o600))
	s := stoppedWithImages(t)
	for range 2 {
		out := runs(t, s, "backup", address, "--encrypt-to", own.Recipient().String(), "--rate", "100")
		assert.Contains(t, out, address+" has the backup ")
		assert.NotContains(t, out, "freshet-for-tests")
	}
	to := map[string]string{"DATA_DIR": filepath.Join(t.TempDir(), "restored")}
	runs(t, to, "restore", address, "--identity", file)
	assert.Contains(t, runs(t, to, "restore", "--verify", address, "--identity", file), "1 images")
	erased := filepath.Join(t.TempDir(), "erased")
	require.NoError(t, os.WriteFile(erased, nil, 0o600))
	assert.Contains(t, runs(t, to, "restore", "--erased", erased, address), "0 agents are erased again")
	start(t, to)
	cut := command(t, s, "backup", address, "--encrypt-to", own.Recipient().String())
	cut.Env = append(cut.Env, "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "AWS_SHARED_CREDENTIALS_FILE="+filepath.Join(t.TempDir(), "none"))
	out, err := cut.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "there are no credentials: set AWS_ACCESS_KEY_ID")
}
