package backup_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server/backup"
)

// stopped returns the configuration of an embedded server that has been filled and stopped.
func stopped(t *testing.T) configs.Config {
	t.Helper()
	cfg := embedded(t)
	a := start(t, cfg)
	a.fill(2, 2)
	a.read("reader_0")
	a.stop()
	return cfg
}

// TestPlaces gives directories in which a backup would be lost with the data, or would remove some of it.
func TestPlaces(t *testing.T) {
	t.Parallel()
	cfg := stopped(t)
	fails := func(cfg configs.Config, dir, says string) {
		t.Helper()
		_, err := backup.Make(t.Context(), cfg, dir, backup.Options{}, time.Now)
		require.ErrorContains(t, err, says)
	}
	root := t.TempDir()
	fails(cfg, cfg.DataDir, "is within data_dir")
	fails(cfg, filepath.Join(cfg.DataDir, "a", "b"), "is within data_dir")
	link := filepath.Join(root, "link")
	require.NoError(t, os.Symlink(cfg.DataDir, link))
	fails(cfg, filepath.Join(link, "backup"), "is within data_dir")
	fails(cfg, filepath.Dir(cfg.DataDir), "data_dir, "+cfg.DataDir+", is within")
	linked := cfg
	linked.DataDir = link
	fails(linked, filepath.Join(cfg.DataDir, "backup"), "is within data_dir")
	fails(linked, filepath.Dir(cfg.DataDir), "is within")
	apart := cfg
	apart.Media.URL = (&url.URL{Scheme: "file", Path: filepath.Join(root, "backup", "images")}).String()
	fails(apart, filepath.Join(root, "backup"), "the folder of media.url, ")
	fails(apart, filepath.Join(root, "backup", "images", "of"), "is within the folder of media.url")
	assert.NoDirExists(t, filepath.Join(root, "backup"))

	// The root of a file system, relative paths, and names that patterns and URLs would read otherwise.
	for _, name := range []string{"plain", "a b", "[1] ü?%20#*", "-x"} {
		dir := filepath.Join(root, name, "backup")
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "lost+found"), 0o700))
		moved := cfg
		moved.DataDir = filepath.Join(root, name, "data [x] ä?#%41")
		require.NoError(t, os.CopyFS(moved.DataDir, os.DirFS(cfg.DataDir)))
		m := makeBackup(t, moved, dir)
		assert.True(t, slices.ContainsFunc(m.PartOf("impressions").Files, func(f backup.File) bool { return strings.HasPrefix(f.Name, "impressions/") }))
		to := cfg
		to.DataDir = filepath.Join(root, name, "restored [y] ö?#%41")
		_, err := backup.Restore(t.Context(), to, dir, backup.Options{})
		require.NoError(t, err)
		assert.Empty(t, verified(t, to, dir).Differences)
	}
}

// TestRunOfOtherServers interrupts a backup, and continues it with the settings of other servers: nothing of
// the first is in it.
func TestRunOfOtherServers(t *testing.T) {
	t.Parallel()
	one, two := stopped(t), stopped(t)
	dir := filepath.Join(t.TempDir(), "backup")
	ctx := backup.WithSteps(t.Context(), func(step string) error {
		if step == "create images.ndjson" {
			return errKilled
		}
		return nil
	})
	_, err := backup.Make(ctx, one, dir, backup.Options{}, time.Now)
	require.ErrorIs(t, err, errKilled)
	makeBackup(t, two, dir)
	assert.Empty(t, verified(t, two, dir).Differences)
}

// TestTwoAtOnce restores a backup twice at the same time, and makes two: one call of each is refused.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	cfg, to := stopped(t), embedded(t)
	dir := filepath.Join(t.TempDir(), "backup")
	_, err := backup.Make(t.Context(), cfg, dir, backup.Options{Progress: func(part string, _, _ int64) {
		if part == "social" {
			_, err := backup.Make(t.Context(), cfg, dir, backup.Options{}, time.Now)
			assert.ErrorContains(t, err, "another freshet backup writes to")
		}
	}}, time.Now)
	require.NoError(t, err)
	_, err = backup.Restore(t.Context(), to, dir, backup.Options{Progress: func(part string, _, _ int64) {
		if part == "social" {
			_, err := backup.Restore(t.Context(), to, dir, backup.Options{})
			assert.ErrorContains(t, err, "in use by another process")
		}
	}})
	require.NoError(t, err)
	assert.Empty(t, verified(t, to, dir).Differences)
}

// TestChangedManifests restores backups whose manifest was changed: each is refused, and nothing is written.
func TestChangedManifests(t *testing.T) {
	t.Parallel()
	cfg, root := stopped(t), t.TempDir()
	made := filepath.Join(root, "made")
	makeBackup(t, cfg, made)
	file := func(m map[string]any, part string) map[string]any {
		return partIn(m, part)["files"].([]any)[0].(map[string]any)
	}
	named := func(part, name string) func(map[string]any) {
		return func(m map[string]any) { file(m, part)["name"] = name }
	}
	for name, c := range map[string]struct {
		change func(m map[string]any)
		says   string
	}{
		"id with a path":         {func(m map[string]any) { m["id"] = "../made" }, "is no id of a run"},
		"no id":                  {func(m map[string]any) { m["id"] = "" }, "is no id of a run"},
		"path to above":          {named("catalog", "../catalog.db"), "not within the backup"},
		"path to above, within":  {named("catalog", "a/../../catalog.db"), "not within the backup"},
		"absolute path":          {named("catalog", "/etc/passwd"), "not within the backup"},
		"path that is not clean": {named("catalog", "./catalog.db"), "not within the backup"},
		"no name":                {named("catalog", ""), "not within the backup"},
		"state of a restoration": {named("catalog", "state.json"), `has the file "state.json"`},
		"another file":           {named("impressions", "freshet.yaml"), `has the file "freshet.yaml"`},
		"a folder of servers":    {named("impressions", "restoring/x.journal"), `has the file`},
		"a file twice":           {func(m map[string]any) { file(m, "events")["name"] = "catalog.db" }, "has the file"},
		"a part twice":           {func(m map[string]any) { m["parts"] = append(m["parts"].([]any), partIn(m, "catalog")) }, `has the part "catalog" twice`},
		"a part less":            {func(m map[string]any) { m["parts"] = m["parts"].([]any)[:2] }, "it lacks the part"},
		"no parts":               {func(m map[string]any) { m["parts"] = nil }, "it lacks the part settings"},
		"a part without files":   {func(m map[string]any) { partIn(m, "catalog")["files"] = nil }, "the part catalog has no file"},
		"images without a list":  {func(m map[string]any) { partIn(m, "images")["files"] = nil }, "lacks images.ndjson"},
		"a part of another kind": {func(m map[string]any) { partIn(m, "catalog")["kind"] = "images" }, `is of the kind "images"`},
		"an unknown part": {func(m map[string]any) {
			m["parts"] = append(m["parts"].([]any), map[string]any{"name": "graph", "kind": "new"})
		}, `has "graph", which this version does not know`},
		"a newer version": {func(m map[string]any) { partIn(m, "social")["schema"], m["freshet"] = 999, "9.9.9" }, "made by freshet 9.9.9: its social.db is of version 999"},
		"a newer format":  {func(m map[string]any) { m["format"] = 9 }, "in format 9"},
		"negative length": {func(m map[string]any) { file(m, "catalog")["bytes"] = -1 }, "has -1 bytes"},
		"huge length":     {func(m map[string]any) { file(m, "catalog")["bytes"] = 1 << 60 }, "the backup is damaged"},
		"files swapped": {func(m map[string]any) {
			one, two := file(m, "catalog"), file(m, "events")
			one["sha256"], two["sha256"], one["bytes"], two["bytes"] = two["sha256"], one["sha256"], two["bytes"], one["bytes"]
		}, "the backup is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, to := filepath.Join(t.TempDir(), "backup"), embedded(t)
			require.NoError(t, os.CopyFS(dir, os.DirFS(made)))
			editManifest(t, dir, c.change)
			_, err := backup.Restore(t.Context(), to, dir, backup.Options{})
			require.ErrorContains(t, err, c.says)
			entries, err := os.ReadDir(to.DataDir)
			if err == nil { // a file that is damaged is found when it is read
				for _, e := range entries {
					assert.Contains(t, []string{"restoring", "lock"}, e.Name())
				}
			}
		})
	}
}

// TestCursorsEndAtRestore hands out a cursor of changes after the backup was made: the restored server, which
// numbers other changes so, refuses it.
func TestCursorsEndAtRestore(t *testing.T) {
	t.Parallel()
	for name, config := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to, dir := config(t), config(t), filepath.Join(t.TempDir(), "backup")
			a := start(t, from)
			a.fill(1, 2)
			makeBackup(t, from, dir)
			a.publish(1)
			present, err := a.firstChange("")
			require.NoError(t, err)
			a.stop()
			_, err = backup.Restore(t.Context(), to, dir, backup.Options{})
			require.NoError(t, err)
			assert.Empty(t, verified(t, to, dir).Differences)
			b := start(t, to)
			b.publish(5) // numbers that changes after the backup had, and more
			_, err = b.firstChange(present.Cursor)
			var refused *client.Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, http.StatusGone, refused.Status)
			_, err = b.firstChange("")
			require.NoError(t, err)
		})
	}
}
