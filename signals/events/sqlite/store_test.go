package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/events/eventstest"
)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	eventstest.Run(t, func(t *testing.T) events.Store { return open(t, filepath.Join(t.TempDir(), "made", "events.db")) })
}

// TestFileOfNewerVersion uses a file with columns and a table that this version does not know.
func TestFileOfNewerVersion(t *testing.T) {
	eventstest.Run(t, func(t *testing.T) events.Store {
		path := filepath.Join(t.TempDir(), "events.db")
		require.NoError(t, open(t, path).Close())
		testenv.NewerSQLite(t, path, 0)
		return open(t, path)
	})
}

func batch() *events.Batch {
	return &events.Batch{
		Variant: "control", Day: eventstest.Today, Sender: "s", Seq: 1, Impressions: 4, Agents: []uint64{1, 2}, Authors: []uint64{3},
		Events: []events.Event{{Hash: 1 << 63, Field: "click"}},
	}
}

func TestReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	s := open(t, path)
	require.NoError(t, s.Add(t.Context(), batch()))
	want, err := s.Read(t.Context(), eventstest.Today, eventstest.Today)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Add(t.Context(), batch()), events.ErrUnavailable)

	s = open(t, path)
	require.NoError(t, s.Add(t.Context(), batch()), "the batch is known")
	got, err := s.Read(t.Context(), eventstest.Today, eventstest.Today)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// TestPruned checks that rows are deleted from each table, and not too soon.
func TestPruned(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "events.db"))
	b := batch()
	for _, day := range []int{0, 1, events.OnceDays - 1, events.OnceDays, events.KeepDays - 1, events.KeepDays} {
		b.Day = eventstest.Today
		for range day {
			b.Day++
		}
		require.NoError(t, s.Add(t.Context(), b))
		for table, days := range map[string]int{"counts": events.KeepDays, "sketches": events.KeepDays, "acts": events.OnceDays, "senders": events.OnceDays} {
			var first int
			require.NoError(t, s.file.Writer.QueryRow(`SELECT min(day) FROM `+table).Scan(&first))
			assert.Greater(t, first, int(b.Day)-days, table)
		}
	}
	var n int
	require.NoError(t, s.file.Writer.QueryRow(`SELECT count(DISTINCT day) FROM counts`).Scan(&n))
	assert.Equal(t, 5, n, "all but the first day")
}

// TestPurge checks that rows expire without others that are added.
func TestPurge(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "events.db"))
	require.NoError(t, s.Add(t.Context(), batch()))
	require.NoError(t, s.Remember(t.Context(), []events.PageOf{{Agent: 1, Page: events.Page{At: eventstest.Today.Start()}}}))
	left := func(table string) (n int) {
		require.NoError(t, s.file.Writer.QueryRow(`SELECT count(*) FROM `+table).Scan(&n))
		return n
	}
	for _, step := range []struct{ days, removed int }{{0, 0}, {2, 1}, {events.OnceDays, 2}, {events.OnceDays, 0}, {events.KeepDays - 1, 0}} {
		n, err := s.Purge(t.Context(), (eventstest.Today + feed.Day(step.days)).Start())
		require.NoError(t, err)
		assert.Equal(t, step.removed, n, "%d days later", step.days)
	}
	assert.NotZero(t, left("counts"))
	n, err := s.Purge(t.Context(), (eventstest.Today + events.KeepDays).Start())
	require.NoError(t, err)
	assert.Positive(t, n)
	for _, table := range []string{"counts", "sketches", "acts", "senders", "pages"} {
		assert.Zero(t, left(table), table)
	}
	require.NoError(t, s.Close())
	_, err = s.Purge(t.Context(), (eventstest.Today + 2*events.KeepDays).Start())
	require.ErrorIs(t, err, events.ErrUnavailable)
}

// TestPrunedAfterFailure checks that a failed deletion is retried on the same day.
func TestPrunedAfterFailure(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "events.db"))
	b := batch()
	require.NoError(t, s.Add(t.Context(), b))
	b.Day += events.KeepDays
	_, err := s.file.Writer.ExecContext(t.Context(), `ALTER TABLE counts RENAME TO away`)
	require.NoError(t, err)
	require.ErrorIs(t, s.Add(t.Context(), b), events.ErrUnavailable)
	_, err = s.file.Writer.ExecContext(t.Context(), `ALTER TABLE away RENAME TO counts`)
	require.NoError(t, err)
	require.NoError(t, s.Add(t.Context(), b))
	old, err := s.Read(t.Context(), eventstest.Today, eventstest.Today)
	require.NoError(t, err)
	assert.Empty(t, old)
}

func TestForeignFilesRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	require.NoError(t, os.WriteFile(path, []byte("no database, whatever its name says; and long enough to be read as one"), 0o600))
	_, err := Open(t.Context(), path)
	require.Error(t, err)

	other := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite", other)
	require.NoError(t, err)
	_, err = db.Exec(`CREATE TABLE mine (x)`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = Open(t.Context(), other)
	require.ErrorContains(t, err, "another program's database")

	newer := filepath.Join(t.TempDir(), "newer.db")
	_, err = open(t, newer).file.Writer.Exec(`PRAGMA user_version = 99; UPDATE freshet_schema SET oldest = 99`)
	require.NoError(t, err)
	_, err = Open(t.Context(), newer)
	require.ErrorContains(t, err, "written by a newer freshet")
}

// BenchmarkAdd adds the batch of a second with 300 events.
func BenchmarkAdd(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "events.db"))
	require.NoError(b, err)
	b.Cleanup(func() { _ = s.Close() })
	batch := batch()
	batch.Events = make([]events.Event, 300)
	b.ReportAllocs()
	for b.Loop() {
		batch.Seq++
		for i := range batch.Events {
			batch.Events[i] = events.Event{Hash: batch.Seq*1000 + uint64(i), Field: "explored"}
		}
		require.NoError(b, s.Add(b.Context(), batch))
	}
}
