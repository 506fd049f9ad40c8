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
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/backup"
)

var errKilled = errors.New("killed")

// killer ends a call at each step once, as a kill would.
type killer struct{ killed map[string]bool }

func (k *killer) with(ctx context.Context) context.Context {
	return backup.WithSteps(ctx, func(step string) error {
		if k.killed[step] {
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

// TestKilledAtEveryStep kills a backup at every step, and then a restoration at every step: a kill of the
// backup never damages the one before it, no server starts on a part of a restoration, and the same call
// continues. In the end nothing differs.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for name, config := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, dir := config(t), filepath.Join(t.TempDir(), "backup")
			a := start(t, from)
			posts := a.fill(3, 2)
			a.read("reader_0")
			before := makeBackup(t, from, dir)
			require.NoError(t, a.agent("author_0").DeletePost(t.Context(), posts[0]))
			_, err := a.agent("author_1").CreatePost(t.Context(), client.NewPost{Caption: "Another", Images: []client.NewImage{{Data: picture(t, 99)}}})
			require.NoError(t, err)
			a.read("reader_1")
			a.stop()

			k := &killer{map[string]bool{}}
			var m *backup.Manifest
			for err := errKilled; err != nil; {
				m, err = backup.Make(k.with(t.Context()), from, dir, backup.Options{}, time.Now)
				if err == nil {
					break
				}
				require.ErrorIs(t, err, errKilled)
				if !k.killed["replaced manifest.json"] {
					intact(t, dir, before.ID)
				}
			}
			assert.NotEqual(t, before.ID, m.ID)
			intact(t, dir, m.ID)
			k.last(t, "begun", "create ", "made social", "made catalog", "copied an image", "made impressions", "replace progress.json", "replace manifest.json",
				"replaced manifest.json", "removed an earlier run", "remove an image")
			entries, err := filepath.Glob(filepath.Join(dir, "*"))
			require.NoError(t, err)
			assert.Len(t, entries, 4, "nothing is left of interrupted runs: %v", entries)

			to := config(t)
			k = &killer{map[string]bool{}}
			for !k.killed["released"] {
				_, err := backup.Restore(k.with(t.Context()), to, dir, backup.Options{})
				require.ErrorIs(t, err, errKilled)
				if k.killed["released"] {
					break
				}
				_, err = server.Open(t.Context(), to)
				require.ErrorContains(t, err, "run the freshet restore again")
			}
			k.last(t, "restored social", "restored catalog", "restore an image", "restored impressions", "replace state.json", "moved all")
			assert.Empty(t, verified(t, to, dir).Differences)
			b := start(t, to)
			_, err = b.agent("reader_0").Post(t.Context(), posts[1])
			require.NoError(t, err)
		})
	}
}
