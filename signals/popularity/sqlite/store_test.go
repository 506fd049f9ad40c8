package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/popularity"
	"github.com/freshet/freshet/signals/popularity/popularitytest"
	popularitysqlite "github.com/freshet/freshet/signals/popularity/sqlite"
)

const now = int64(1_772_798_400) // 2026-03-06 12:00

// open returns a store in a catalog file that has the given items.
func open(t *testing.T, path string, items ...string) (*popularitysqlite.Store, *sqlitefile.File) {
	t.Helper()
	file, err := sqlitefile.Catalog.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	for _, id := range items {
		exec(t, file, `INSERT INTO items (id, doc) VALUES (?, '{}') ON CONFLICT (id) DO UPDATE SET doc = excluded.doc`, id)
	}
	return popularitysqlite.New(file, 0), file
}

func exec(t *testing.T, file *sqlitefile.File, text string, args ...any) {
	t.Helper()
	_, err := file.Writer.ExecContext(t.Context(), text, args...)
	require.NoError(t, err)
}

func add(t *testing.T, s *popularitysqlite.Store, acts ...popularity.Act) map[string]feed.Counts {
	t.Helper()
	changed, err := s.Add(t.Context(), acts)
	require.NoError(t, err)
	return changed
}

func stored(t *testing.T, s *popularitysqlite.Store) map[string]feed.Counts {
	t.Helper()
	all, err := s.Read(t.Context())
	require.NoError(t, err)
	return all
}

func act(agent, item string, at int64) popularity.Act {
	return popularity.Act{Agent: popularity.Agent(agent), Item: item, At: at}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	s, _ := open(t, filepath.Join(t.TempDir(), "c.db"), "a", "b")
	assert.Empty(t, add(t, s))
	once := feed.Counts{}.Add(now)
	assert.Equal(t, map[string]feed.Counts{"a": once}, add(t, s, act("u", "a", now), act("u", "a", now), act("u", "gone", now)))
	assert.Empty(t, add(t, s, act("u", "a", now+60)), "once per agent and item")
	want := map[string]feed.Counts{"a": once.Add(now + 60).Add(now + 90), "b": feed.Counts{}.Add(now + 60)}
	assert.Equal(t, want, add(t, s, act("v", "a", now+60), act("u", "b", now+60), act("w", "a", now+90)))
	assert.Equal(t, want, stored(t, s))
	for item, n := range map[string]int64{"a": 3, "b": 1, "gone": 0} {
		got, err := s.Readers(t.Context(), item)
		require.NoError(t, err)
		assert.Equal(t, n, got, item)
	}
}

// TestActCountsAgainAfter90Days repeats an act daily: it counts again after 90 days.
func TestActCountsAgainAfter90Days(t *testing.T) {
	t.Parallel()
	s, _ := open(t, filepath.Join(t.TempDir(), "c.db"), "a")
	require.Len(t, add(t, s, act("u", "a", now)), 1)
	for day := int64(1); day < popularity.RememberDays; day++ {
		for _, c := range add(t, s, act("u", "a", now+day*86_400)) {
			require.Zero(t, c, "day %d", day)
		}
	}
	assert.Equal(t, map[string]feed.Counts{"a": feed.Counts{}.Add(now + 90*86_400)}, add(t, s, act("u", "a", now+90*86_400)))
}

// TestNegligibleCountsDeleted lets counts become negligible, and checks that they are deleted on
// the next day on which anything is counted.
func TestNegligibleCountsDeleted(t *testing.T) {
	t.Parallel()
	s, file := open(t, filepath.Join(t.TempDir(), "c.db"), "a", "b")
	add(t, s, act("u", "a", now), act("u", "b", now), act("v", "b", now), act("w", "b", now))
	later := now + 20*86_400
	changed := add(t, s, act("x", "b", later))
	assert.Contains(t, changed, "b")
	assert.Len(t, stored(t, s), 2, "at the start of that day both counted something")
	later += 86_400
	assert.Equal(t, map[string]feed.Counts{"a": {}}, add(t, s, act("x", "b", later)))
	assert.Len(t, stored(t, s), 1)
	add(t, s, act("u", "b", now+200*86_400))
	var n int
	require.NoError(t, file.Readers.QueryRow(`SELECT count(*) FROM popularity_agents`).Scan(&n))
	assert.Equal(t, 1, n, "who acted too long ago is forgotten")
}

// TestPurge checks that acts and counts expire without acts of others.
func TestPurge(t *testing.T) {
	t.Parallel()
	s, file := open(t, filepath.Join(t.TempDir(), "c.db"), "a", "b")
	add(t, s, act("u", "a", now), act("v", "a", now), act("u", "b", now+80*86_400))
	changed, removed, err := s.Purge(t.Context(), time.Unix(now+80*86_400, 0))
	require.NoError(t, err)
	assert.Empty(t, changed)
	assert.Zero(t, removed, "that day was looked at when something was added")
	changed, removed, err = s.Purge(t.Context(), time.Unix(now+90*86_400, 0))
	require.NoError(t, err)
	assert.Equal(t, 2, removed)
	assert.Equal(t, map[string]feed.Counts{}, changed, "b still counts; a was negligible before")
	assert.Contains(t, stored(t, s), "b")
	changed, _, err = s.Purge(t.Context(), time.Unix(now+120*86_400, 0))
	require.NoError(t, err)
	assert.Equal(t, map[string]feed.Counts{"b": {}}, changed)
	assert.Empty(t, stored(t, s))
	require.NoError(t, file.Close())
	_, _, err = s.Purge(t.Context(), time.Unix(now+400*86_400, 0))
	require.ErrorIs(t, err, popularity.ErrUnavailable)
}

// TestCountsDeletedWithItem checks that counts survive the replacement of their item and are
// deleted with it.
func TestCountsDeletedWithItem(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.db")
	s, file := open(t, path, "a", "b")
	add(t, s, act("u", "a", now), act("u", "b", now))
	want := stored(t, s)
	open(t, path, "a")
	assert.Equal(t, want, stored(t, s), "a newer version keeps its counts")

	exec(t, file, `DELETE FROM items WHERE id = 'a'`)
	delete(want, "a")
	assert.Equal(t, want, stored(t, s))
	open(t, path, "a")
	assert.Equal(t, want, stored(t, s))
	assert.Len(t, add(t, s, act("u", "a", now)), 1, "nobody has acted on the new one")

	require.NoError(t, file.Close())
	s, file = open(t, path)
	assert.Len(t, stored(t, s), 2, "it survives a restart")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Add(ctx, []popularity.Act{act("z", "a", now)})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, file.Close())
	_, err = s.Add(t.Context(), []popularity.Act{act("z", "a", now)})
	require.ErrorIs(t, err, popularity.ErrUnavailable)
	_, err = s.Read(t.Context())
	require.ErrorIs(t, err, popularity.ErrUnavailable)
}

func TestUndo(t *testing.T) {
	t.Parallel()
	popularitytest.Undo(t, func(t *testing.T) (func([]popularity.Act), func() feed.Counts) {
		s, _ := open(t, filepath.Join(t.TempDir(), "c.db"), "a")
		return func(acts []popularity.Act) {
			for i := range acts {
				acts[i].Item = "a"
			}
			add(t, s, acts...)
		}, func() feed.Counts { return stored(t, s)["a"] }
	})
}

// TestUndoOfEarlierVersion takes back a like that an earlier version has counted: it is not known
// whether it was a like, so it remains.
func TestUndoOfEarlierVersion(t *testing.T) {
	t.Parallel()
	s, file := open(t, filepath.Join(t.TempDir(), "c.db"), "a")
	add(t, s, act("u", "a", now))
	exec(t, file, `UPDATE popularity_agents SET at = 0, kinds = 0`)
	for _, kind := range []popularity.Kind{popularity.Like, popularity.Unlike} {
		again := act("u", "a", now+60)
		again.Kind = kind
		assert.Empty(t, add(t, s, again))
	}
	assert.Equal(t, feed.Counts{}.Add(now), stored(t, s)["a"])
}
