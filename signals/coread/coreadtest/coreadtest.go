// Package coreadtest checks implementations of [coread.Store].
package coreadtest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/signals/coread"
)

// Noon is the time of the tests, Unix seconds.
const Noon = int64(1_772_798_400) // 2026-03-06 12:00

const day = int64(24 * time.Hour / time.Second)

// Run checks a store. open returns an empty one.
func Run(t *testing.T, open func(t *testing.T) coread.Store) {
	for name, test := range map[string]func(*testing.T, coread.Store){
		"pairs": pairs, "one act each": oneActEach, "last reads": lastReads, "old items": oldItems,
		"full list": fullList, "nearness": nearness, "ends": ends, "forget": forget, "one batch": oneBatch,
		"many readers": manyReaders,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// Act returns the reading of an item that is a day old.
func Act(agent, item string, at int64) coread.Act { return Dated(agent, item, at-day, at) }

// Dated returns the reading of an item with that date.
func Dated(agent, item string, dated, at int64) coread.Act {
	return coread.Act{Agent: coread.Agent(agent), Item: item, Dated: dated, At: at}
}

func add(t *testing.T, s coread.Store, acts ...coread.Act) {
	t.Helper()
	for _, a := range acts {
		require.NoError(t, s.Add(t.Context(), []coread.Act{a}))
	}
}

// read adds that an agent reads items, one a second.
func read(t *testing.T, s coread.Store, agent string, items ...string) {
	t.Helper()
	for i, item := range items {
		add(t, s, Dated(agent, item, Noon-day, Noon+int64(i)))
	}
}

func reads(t *testing.T, s coread.Store, agent string) []string {
	t.Helper()
	list, err := s.Reads(t.Context(), coread.Agent(agent), []string{})
	require.NoError(t, err)
	return list
}

// sums returns the entries of a list at a moment, as item:people, with their sums.
func sums(t *testing.T, s coread.Store, item string, now int64) (names []string, values []float64) {
	t.Helper()
	entries, err := s.Related(t.Context(), item, now)
	require.NoError(t, err)
	for _, e := range entries {
		names, values = append(names, fmt.Sprintf("%s:%d", e.Item, e.People)), append(values, e.Sum)
	}
	return names, values
}

func near(t *testing.T, s coread.Store, now int64, reads []string, candidates ...string) []coread.Nearness {
	t.Helper()
	list, err := s.Near(t.Context(), reads, candidates, now, nil)
	require.NoError(t, err)
	return list
}

func pairs(t *testing.T, s coread.Store) {
	read(t, s, "u", "a", "b", "c")
	read(t, s, "v", "b", "c")
	names, values := sums(t, s, "a", Noon)
	assert.Equal(t, []string{"b:1", "c:1"}, names)
	assert.InDeltaSlice(t, []float64{1 / math.Log(3), 1 / math.Log(4)}, values, 1e-6)
	names, values = sums(t, s, "b", Noon)
	assert.Equal(t, []string{"c:2"}, names)
	assert.InDeltaSlice(t, []float64{1/math.Log(4) + 1/math.Log(3)}, values, 1e-6)
	names, _ = sums(t, s, "c", Noon)
	assert.Empty(t, names)
	assert.Equal(t, []string{"c", "b", "a"}, reads(t, s, "u"))
	assert.Equal(t, []string{"c", "b"}, reads(t, s, "v"))
	assert.Empty(t, reads(t, s, "nobody"))
}

// oneActEach checks that one account adds at most 1 to a pair, however often it acts.
func oneActEach(t *testing.T, s coread.Store) {
	for range 3 {
		read(t, s, "u", "a", "b", "a", "b", "a")
	}
	for _, pair := range [][2]string{{"a", "b:1"}} {
		names, values := sums(t, s, pair[0], Noon)
		assert.Equal(t, []string{pair[1]}, names)
		assert.LessOrEqual(t, values[0], 1.0)
	}
	names, _ := sums(t, s, "b", Noon)
	assert.Empty(t, names)
	assert.Equal(t, []string{"b", "a"}, reads(t, s, "u"))
	got := near(t, s, Noon, []string{"a"}, "b")
	assert.Equal(t, 1, got[0].Readers)
}

func numbered(from, to int) (items []string) {
	for i := from; i < to; i++ {
		items = append(items, fmt.Sprintf("i%03d", i))
	}
	return items
}

// lastReads checks that an act counts for the last 30 reads, and that a refresh asks about 20.
func lastReads(t *testing.T, s coread.Store) {
	read(t, s, "u", numbered(0, 40)...)
	want := numbered(20, 40)
	slices.Reverse(want)
	assert.Equal(t, want, reads(t, s, "u"))
	add(t, s, Dated("u", "last", Noon, Noon+100)) // newer, so that it stays in full lists
	for item, some := range map[string]bool{"i009": false, "i010": true, "i039": true} {
		names, values := sums(t, s, item, Noon+100)
		assert.Equal(t, some, slices.Contains(names, "last:1"), item)
		at := slices.Index(names, "last:1")
		if at >= 0 {
			assert.InDelta(t, 1/math.Log(42), values[at], 1e-6, "all earlier reads count")
		}
	}
}

// oldItems checks that acts on items that are not young only count as earlier reads.
func oldItems(t *testing.T, s coread.Store) {
	add(t, s,
		Dated("u", "old", Noon-7*day, Noon), Dated("u", "old", Noon-7*day, Noon+1), Dated("u", "young", Noon-7*day+10, Noon+2),
		Dated("u", "older", Noon-90*day, Noon+3), Dated("u", "new", Noon, Noon+4),
	)
	names, values := sums(t, s, "old", Noon+5)
	assert.Equal(t, []string{"young:1", "new:1"}, names)
	assert.InDeltaSlice(t, []float64{1 / math.Log(3), 1 / math.Log(5)}, values, 1e-6)
	names, _ = sums(t, s, "older", Noon+5)
	assert.Equal(t, []string{"new:1"}, names)
	names, _ = sums(t, s, "young", Noon+5)
	assert.Equal(t, []string{"new:1"}, names)
	assert.Equal(t, []string{"new", "older", "young", "old"}, reads(t, s, "u"))
}

// fullList checks that the entry of the lowest strength leaves a full list.
func fullList(t *testing.T, s coread.Store) {
	read(t, s, "u", "a")
	for i, item := range numbered(0, coread.MostEntries) {
		add(t, s, Dated("u", item, Noon-int64(i)*3600, Noon+1))
	}
	names, _ := sums(t, s, "a", Noon)
	assert.Len(t, names, coread.MostEntries)
	read(t, s, "v", "a") // adds more to each pair than u, who has read more
	add(t, s, Dated("v", "fresh", Noon, Noon+2))
	names, _ = sums(t, s, "a", Noon)
	assert.Len(t, names, coread.MostEntries)
	assert.Contains(t, names, "fresh:1")
	assert.NotContains(t, names, "i019:1", "the oldest, and of a reader who had read the most")
}

func nearness(t *testing.T, s coread.Store) {
	read(t, s, "u", "a", "b", "c")
	read(t, s, "v", "a", "c")
	read(t, s, "w", "d", "c")
	read(t, s, "x", "c")
	got := near(t, s, Noon, []string{"a", "b", "unknown"}, "c", "nobody's", "d", "b")
	require.Len(t, got, 4)
	ac, bc, ab := 1/math.Log(4)+1/math.Log(3), 1/math.Log(4), 1/math.Log(3)
	assert.InDelta(t, ac/math.Sqrt(2*4)+bc/math.Sqrt(1*4), got[0].X, 1e-6)
	assert.Equal(t, [2]int{4, 2}, [2]int{got[0].Readers, got[0].People})
	assert.Equal(t, coread.Nearness{}, got[1])
	assert.Equal(t, coread.Nearness{Readers: 1}, got[2])
	assert.InDelta(t, ab/math.Sqrt(2*1), got[3].X, 1e-6)
	assert.Empty(t, near(t, s, Noon, []string{"a"}, "d", "x"), "none is near")
	assert.Empty(t, near(t, s, Noon, nil, "c"))
	assert.Empty(t, near(t, s, Noon, []string{"a"}))
	kept, err := s.Near(t.Context(), []string{"a"}, []string{"c"}, Noon, []coread.Nearness{{X: 9}})
	require.NoError(t, err)
	assert.Len(t, kept, 2, "it appends")
}

// ends checks that an entry ends with the window of its item, and a list lives as long as its entries.
func ends(t *testing.T, s coread.Store) {
	add(t, s, Dated("u", "a", Noon-6*day, Noon), Dated("u", "b", Noon-5*day, Noon+1), Dated("u", "c", Noon-day, Noon+2))
	names, _ := sums(t, s, "a", Noon+2*day-1)
	assert.Equal(t, []string{"b:1", "c:1"}, names)
	names, _ = sums(t, s, "a", Noon+2*day)
	assert.Equal(t, []string{"c:1"}, names)
	assert.Empty(t, near(t, s, Noon+2*day, []string{"a"}, "b"))
	assert.Len(t, near(t, s, Noon+2*day, []string{"a"}, "c"), 1)
	names, _ = sums(t, s, "a", Noon+6*day)
	assert.Empty(t, names)
}

func forget(t *testing.T, s coread.Store) {
	read(t, s, "u", "a", "b")
	read(t, s, "v", "a", "b")
	require.NoError(t, s.Forget(t.Context(), coread.Agent("u")))
	require.NoError(t, s.Forget(t.Context(), coread.Agent("nobody")))
	assert.Empty(t, reads(t, s, "u"))
	assert.Equal(t, []string{"b", "a"}, reads(t, s, "v"))
	names, _ := sums(t, s, "a", Noon)
	assert.Equal(t, []string{"b:2"}, names, "shares remain")
	read(t, s, "u", "c", "d") // a new reader
	names, values := sums(t, s, "c", Noon)
	assert.Equal(t, []string{"d:1"}, names)
	assert.InDelta(t, 1/math.Log(3), values[0], 1e-6)
}

// oneBatch checks that a batch adds what its acts add one by one.
func oneBatch(t *testing.T, s coread.Store) {
	var acts []coread.Act
	for i, item := range []string{"a", "b", "a", "c"} {
		for _, agent := range []string{"u", "v"} {
			acts = append(acts, Dated(agent, item, Noon-day, Noon+int64(i)))
		}
	}
	acts = append(acts, Dated("u", "old", Noon-30*day, Noon+5), Dated("u", "d", Noon-day, Noon+6))
	require.NoError(t, s.Add(t.Context(), acts))
	require.NoError(t, s.Add(t.Context(), nil))
	names, values := sums(t, s, "a", Noon)
	assert.Equal(t, []string{"b:2", "c:2", "d:1"}, names)
	assert.InDeltaSlice(t, []float64{2 / math.Log(3), 2 / math.Log(4), 1 / math.Log(6)}, values, 1e-6)
	assert.Equal(t, []string{"d", "old", "c", "b", "a"}, reads(t, s, "u"))
	require.NoError(t, s.Add(t.Context(), acts), "again")
	again, _ := sums(t, s, "a", Noon)
	assert.Equal(t, names, again)
	got := near(t, s, Noon, []string{"a"}, "b")
	assert.Equal(t, 2, got[0].Readers)
}

// manyReaders checks sums and numbers of readers of acts that come from several readers at once.
func manyReaders(t *testing.T, s coread.Store) {
	const readers = 40
	done := make(chan error)
	for i := range readers {
		go func() {
			agent := fmt.Sprint("u", i)
			err := s.Add(t.Context(), []coread.Act{Dated(agent, "a", Noon-day, Noon)})
			if err == nil {
				err = s.Add(t.Context(), []coread.Act{Dated(agent, "b", Noon-day, Noon+1)})
			}
			done <- err
		}()
	}
	for range readers {
		require.NoError(t, <-done)
	}
	names, values := sums(t, s, "a", Noon)
	assert.Equal(t, []string{fmt.Sprintf("b:%d", readers)}, names)
	assert.InDelta(t, readers/math.Log(3), values[0], 1e-3)
}
