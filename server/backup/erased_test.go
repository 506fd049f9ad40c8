package backup_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/backup"
	"github.com/freshet/freshet/server/erasures"
)

// TestErasedAfterRestore erases agents after a backup was made, and restores it: before a server starts, they
// are erased again, with what they made. All others are there.
func TestErasedAfterRestore(t *testing.T) {
	t.Parallel()
	alone := func(t *testing.T) configs.Config {
		cfg := embedded(t)
		cfg.Social.Off = true
		return cfg
	}
	for name, config := range map[string]func(*testing.T) configs.Config{"embedded": embedded, "embedded without posts": alone, "services": services} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to, dir := config(t), config(t), filepath.Join(t.TempDir(), "backup")
			from.Erasures.File = filepath.Join(t.TempDir(), "erased.ndjson")
			a := start(t, from)
			admin := a.agent("")
			for _, agent := range []string{"kept", "erased", "early"} {
				_, err := admin.PutProfile(t.Context(), agent, feed.Profile{MutedTags: []string{"mud"}})
				require.NoError(t, err)
			}
			require.NoError(t, admin.DeleteAgent(t.Context(), "early"))
			var posts []string
			if from.SocialOn() {
				posts = a.fill(3, 3)
			}
			m := makeBackup(t, from, dir)
			require.NoError(t, admin.DeleteAgent(t.Context(), "erased"))
			if from.SocialOn() {
				require.NoError(t, a.agent("author_0").DeleteAgent(t.Context(), "author_0"))
				require.NoError(t, admin.DeleteAgent(t.Context(), "reader_1"))
				require.NoError(t, admin.DeleteAuthor(t.Context(), "author_1"))
			}
			a.stop()

			_, err := backup.Restore(t.Context(), to, dir, backup.Options{})
			require.NoError(t, err)
			require.Empty(t, verified(t, to, dir).Differences)
			list, err := erasures.Read([]string{from.Erasures.File}, m.Started)
			require.NoError(t, err)
			assert.Len(t, list, map[bool]int{true: 4, false: 1}[from.SocialOn()])
			told := 0
			require.NoError(t, server.EraseAgain(t.Context(), to, list, func(done int) { told = done }, server.WithRecallCache(0, 0)))
			assert.Equal(t, len(list), told)

			b := start(t, to)
			admin = b.agent("")
			_, err = admin.Profile(t.Context(), "erased")
			require.ErrorIs(t, err, feed.ErrNotFound)
			profile, err := admin.Profile(t.Context(), "kept")
			require.NoError(t, err)
			assert.Equal(t, []string{"mud"}, profile.MutedTags)
			if from.SocialOn() {
				b.erasedPosts(posts)
			}
		})
	}
}

// erasedPosts checks what is left of the posts and follows of fill after erasures.
func (r *running) erasedPosts(posts []string) {
	r.t.Helper()
	ctx := r.t.Context()
	for i, id := range posts {
		_, err := r.agent("reader_0").Post(ctx, id)
		if i < 2 {
			require.ErrorIs(r.t, err, feed.ErrNotFound)
		} else {
			require.NoError(r.t, err)
		}
	}
	for reader, authors := range map[string]int{"reader_0": 1, "reader_1": 0, "reader_2": 1} {
		page, err := r.agent(reader).Following(ctx, reader, "", 100)
		require.NoError(r.t, err)
		assert.Len(r.t, page.Agents, authors, reader)
	}
	assert.NotContains(r.t, strings.Join(r.read("somebody"), " "), posts[0])
}

// TestErasureNotedFirst makes the file of erasures unwritable: an erasure that could not be made again is not
// made, and the call says so.
func TestErasureNotedFirst(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Erasures.File = filepath.Join(t.TempDir(), "none", "erased.ndjson")
	_, err := server.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "erasures.file")

	folder := t.TempDir()
	cfg.Erasures.File = filepath.Join(folder, "of", "erased.ndjson")
	move := movable(t, filepath.Join(folder, "of"))
	a := start(t, cfg)
	admin := a.agent("")
	_, err = admin.PutProfile(t.Context(), "u_1", feed.Profile{MutedTags: []string{"mud"}})
	require.NoError(t, err)
	move(true)
	err = admin.DeleteAgent(t.Context(), "u_1")
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, 503, refused.Status)
	_, err = admin.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	move(false)
	require.NoError(t, admin.DeleteAgent(t.Context(), "u_1"))
	list, err := erasures.Read([]string{cfg.Erasures.File}, time.Time{})
	require.NoError(t, err)
	assert.Len(t, list, 1)
}
