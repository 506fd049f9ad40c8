package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/coread"
	"github.com/freshet/freshet/signals/coread/coreadtest"
)

func TestMain(m *testing.M) {
	testenv.FilesInMemory()
	m.Run()
}

const noon, day = coreadtest.Noon, int64(86_400)

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	coreadtest.Run(t, func(t *testing.T) coread.Store { return open(t, filepath.Join(t.TempDir(), FileName)) })
}

// described returns all that a store knows.
func described(t *testing.T, s *Store) (all []string) {
	t.Helper()
	for i := range 12 {
		id := fmt.Sprint("i", i)
		entries, err := s.Related(t.Context(), id, noon)
		require.NoError(t, err)
		for _, e := range entries {
			all = append(all, fmt.Sprintf("%s %s %.5g %d %d", id, e.Item, e.Sum, e.People, e.Dated))
		}
	}
	for i := range 5 {
		reads, err := s.Reads(t.Context(), uint64(i), nil)
		require.NoError(t, err)
		near, err := s.Near(t.Context(), reads, []string{"i0", "i3", "i7", "i11"}, noon, nil)
		require.NoError(t, err)
		all = append(all, fmt.Sprintf("%d %v %v", i, reads, near))
	}
	return all
}

// TestSurvives: what was added is there after a restart, and after a kill, of which the file has
// only the acts after the last checkpoint.
func TestSurvives(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, s *Store){
		"restart": func(t *testing.T, s *Store) { require.NoError(t, s.Close(t.Context())) },
		"kill":    func(t *testing.T, s *Store) { require.NoError(t, s.file.Close()) },
		"kill after a checkpoint": func(t *testing.T, s *Store) {
			s.writing.Lock()
			require.NoError(t, s.checkpoint(t.Context()))
			s.writing.Unlock()
			add(t, s, 3, "i7", noon)
			add(t, s, 4, "i0", noon)
			require.NoError(t, s.file.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), FileName)
			s := open(t, path)
			for i := range 60 {
				add(t, s, uint64(i%5), fmt.Sprint("i", i*i%11), noon)
			}
			end(t, s)
			want := described(t, s)
			s = open(t, path)
			assert.Equal(t, want, described(t, s))
			for i := range 60 { // nothing counts again
				add(t, s, uint64(i%5), fmt.Sprint("i", i*i%11), noon)
			}
			assert.Equal(t, want, described(t, s))
		})
	}
}

func add(t testing.TB, s *Store, agent uint64, item string, at int64) {
	t.Helper()
	require.NoError(t, s.Add(t.Context(), []coread.Act{{Agent: agent, Item: item, Dated: at - day, At: at}}))
}

// TestErasedFromFile: nothing of an erased reader is in the file.
func TestErasedFromFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	s := open(t, path)
	for _, agent := range []uint64{1, 2} {
		add(t, s, agent, "a", noon)
		add(t, s, agent, "b", noon)
	}
	require.NoError(t, s.Forget(t.Context(), 1))
	for _, table := range []string{"acts", "readers"} {
		var n int
		require.NoError(t, s.file.Readers.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table+` WHERE agent = 1`).Scan(&n))
		assert.Zero(t, n, table)
	}
	require.NoError(t, s.Close(t.Context()))
	s = open(t, path)
	entries, err := s.Related(t.Context(), "a", noon)
	require.NoError(t, err)
	assert.Equal(t, 2, entries[0].People)
}

// TestBounded: lists are bounded by the number of young items, and what is no longer needed goes once
// a day.
func TestBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	s := open(t, path)
	s.least = 0
	for i := range 30 { // reads that are not young get lists, too
		require.NoError(t, s.Add(t.Context(), []coread.Act{{Agent: 1, Item: fmt.Sprint("old", i), At: noon}}))
	}
	add(t, s, 1, "new", noon)
	assert.Equal(t, coread.ListsPerItem, s.lists, "of one young item")
	entries, err := s.Related(t.Context(), "old29", noon)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "the one written to last")
	require.NoError(t, s.Close(t.Context()))

	s = open(t, path)
	add(t, s, 2, "later", noon+400*day)
	s.writing.Lock()
	require.NoError(t, s.checkpoint(t.Context()))
	s.writing.Unlock()
	assert.Zero(t, s.lists)
	assert.Equal(t, 1, s.index.used, "idle readers and ended items are forgotten")
	require.NoError(t, s.Close(t.Context()))
	s = open(t, path)
	assert.Equal(t, 1, s.index.used, "also in the file")
	assert.Len(t, s.readers, 1)
}

// TestPurge: what is no longer needed goes also if nobody acts any more.
func TestPurge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	s := open(t, path)
	for _, item := range []string{"a", "b", "c"} {
		add(t, s, 1, item, noon)
	}
	purge := func(days int64) int {
		n, err := s.Purge(t.Context(), time.Unix(noon+days*day, 0))
		require.NoError(t, err)
		return n
	}
	assert.Zero(t, purge(1))
	assert.Zero(t, purge(30), "the reader's reads name the items")
	assert.Zero(t, s.lists)
	assert.Equal(t, 4, purge(366))
	assert.Zero(t, s.index.used)
	for _, table := range []string{"acts", "items", "readers"} {
		var n int
		require.NoError(t, s.file.Readers.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n))
		assert.Zero(t, n, table)
	}
	require.NoError(t, s.Close(t.Context()))
	_, err := s.Purge(t.Context(), time.Unix(noon+800*day, 0))
	require.ErrorIs(t, err, coread.ErrUnavailable)
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), FileName))
	require.NoError(t, s.Close(t.Context()))
	require.ErrorIs(t, s.Add(t.Context(), []coread.Act{coreadtest.Act("u", "a", noon)}), coread.ErrUnavailable)
	require.ErrorIs(t, s.Forget(t.Context(), 1), coread.ErrUnavailable)
}

// BenchmarkAdd measures an act of a reader with 30 reads, with the write to the file.
func BenchmarkAdd(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), FileName))
	const readers, items = 2000, 1000
	batch := make([]coread.Act, 0, 1000)
	for i := 0; b.Loop(); i++ {
		batch = append(batch, coread.Act{Agent: uint64(i % readers), Item: fmt.Sprint("i", (i/readers*7+i%readers*13)%items+i/1_000_000*items), Dated: noon - day, At: noon})
		if len(batch) == cap(batch) {
			require.NoError(b, s.Add(b.Context(), batch))
			batch = batch[:0]
		}
	}
}

// BenchmarkNear measures what a refresh of 500 candidates asks.
func BenchmarkNear(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), FileName))
	var candidates []string
	for i := range 500 {
		candidates = append(candidates, fmt.Sprint("i", i))
	}
	for i := range 20_000 {
		add(b, s, uint64(i%400), candidates[(i*i+i/400*37)%500], noon)
	}
	var reads []string
	var near []coread.Nearness
	for b.Loop() {
		var err error
		reads, err = s.Reads(b.Context(), 7, reads[:0])
		require.NoError(b, err)
		near, err = s.Near(b.Context(), reads, candidates, noon, near[:0])
		require.NoError(b, err)
		require.Len(b, near, 500)
	}
}
