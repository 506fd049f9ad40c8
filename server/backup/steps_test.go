package backup_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/backup"
)

var errKilled = errors.New("killed")

// killer ends a call at each step once, as a kill would; if few is set, not at each table of PostgreSQL, of which
// every attempt copies all.
type killer struct {
	killed map[string]bool
	few    bool
}

func (k *killer) with(ctx context.Context) context.Context {
	return backup.WithSteps(ctx, func(step string) error {
		oneOfMany := strings.Contains(step, " postgres/") && !strings.Contains(step, "/posts.copy")
		if k.killed[step] || k.few && oneOfMany {
			return nil
		}
		k.killed[step] = true
		return errKilled
	})
}

func (k *killer) last(t *testing.T, want ...string) {
	t.Helper()
	for _, prefix := range want {
		found := false
		for step := range k.killed {
			found = found || strings.HasPrefix(step, prefix)
		}
		assert.True(t, found, "no step is %s", prefix)
	}
}

// TestKilledAtEveryStep kills a backup at every step, and then a restoration at every step, in each kind of place: a
// kill of the backup never damages the one before it, no server starts on a part of a restoration, and the same
// call continues. In the end nothing differs.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for name, config := range modes {
		for kind, place := range targets {
			if !worthwhile(name, kind) {
				continue
			}
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				g := place(t)
				from, to := config(t), config(t)
				posts := killBackup(t, g, from)
				killRestore(t, g, to)
				assert.Empty(t, g.verify(t, to).Differences)
				b := start(t, to)
				_, err := b.agent("reader_0").Post(t.Context(), posts[1])
				require.NoError(t, err)
			})
		}
	}
}

// killBackup makes a backup, and then another, which is killed at every step. It returns the posts.
func killBackup(t *testing.T, g target, from configs.Config) []string {
	t.Helper()
	a := start(t, from)
	posts := a.fill(3, 2)
	a.read("reader_0")
	before := g.make(t, from)
	require.NoError(t, a.agent("author_0").DeletePost(t.Context(), posts[0]))
	_, err := a.agent("author_1").CreatePost(t.Context(), client.NewPost{Caption: "Another", Images: []client.NewImage{{Data: picture(t, 99)}}})
	require.NoError(t, err)
	a.read("reader_1")
	a.stop()

	k := &killer{map[string]bool{}, strings.HasPrefix(g.address, "s3://")}
	var m *backup.Manifest
	for err := errKilled; err != nil; {
		m, err = backup.Make(k.with(t.Context()), from, g.address, g.options, time.Now)
		if err == nil {
			break
		}
		require.ErrorIs(t, err, errKilled)
		if !k.killed["replaced manifest.json"] {
			g.intact(t, before.ID)
		}
	}
	assert.NotEqual(t, before.ID, m.ID)
	g.intact(t, m.ID)
	k.last(t, "begun", "create ", "made social", "made catalog", "copied an image", "made impressions", "replace progress.json", "replace manifest.json",
		"replaced manifest.json", "removed an earlier run", "remove an image")
	for _, name := range g.names(t) {
		folder, _, _ := strings.Cut(name, "/")
		assert.Contains(t, []string{"freshet-backup", "manifest.json", m.ID, "images"}, folder, "nothing is left of interrupted runs")
		assert.NotContains(t, name, ".part")
	}
	left, err := filepath.Glob(filepath.Join(from.DataDir, "backup-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "no copy of a database is left")
	return posts
}

// killRestore restores a backup, killed at every step.
func killRestore(t *testing.T, g target, to configs.Config) {
	t.Helper()
	k := &killer{map[string]bool{}, strings.HasPrefix(g.address, "s3://")}
	for !k.killed["released"] {
		_, err := backup.Restore(k.with(t.Context()), to, g.address, g.options)
		require.ErrorIs(t, err, errKilled)
		if k.killed["released"] {
			break
		}
		_, err = server.Open(t.Context(), to)
		require.ErrorContains(t, err, "run the freshet restore again")
	}
	k.last(t, "restored social", "restored catalog", "restore an image", "restored impressions", "replace state.json", "moved all")
}
