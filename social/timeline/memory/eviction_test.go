package memory

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/timeline"
	"github.com/freshet/freshet/social/timeline/timelinetest"
)

func posts(n int) []timeline.Position {
	list := make([]timeline.Position, n)
	for i := range list {
		list[i] = timeline.Position{At: int64(n - i), ID: fmt.Sprintf("post:01HZY3Q9V5W8X7K2M4N6P8%04d", n-i)}
	}
	return list
}

func fill(t testing.TB, s *Lists, list string, n int) {
	t.Helper()
	token, _, err := s.Begin(t.Context(), list)
	require.NoError(t, err)
	_, err = s.Commit(t.Context(), list, token, timeline.Content{Entries: posts(n)})
	require.NoError(t, err)
}

func (s *Lists) stateOf(t testing.TB, list string) timeline.State {
	t.Helper()
	all, err := s.Heads(t.Context(), []string{list})
	require.NoError(t, err)
	return all[0].State
}

func (s *Lists) versions(t testing.TB, lists ...string) []string {
	t.Helper()
	heads, err := s.Heads(t.Context(), lists)
	require.NoError(t, err)
	all := make([]string, len(heads))
	for i, h := range heads {
		all[i] = h.Version
	}
	return all
}

// TestLeastRecentlyUsedEvicted checks that reads and builds count as use of a list, and pushes do
// not.
func TestLeastRecentlyUsedEvicted(t *testing.T) {
	now := timelinetest.Start
	s := New(Config{MaxBytes: 50_000, Clock: func() time.Time { return now }})
	for i := range 3 {
		fill(t, s, fmt.Sprint("u_", i), 200)
	}
	_, err := s.Read(t.Context(), "u_0", timeline.Position{}, 1)
	require.NoError(t, err)
	_, err = s.Push(t.Context(), timelinetest.Additions([]string{"u_1"}, s.versions(t, "u_1"), timeline.Position{At: 999, ID: "post:new"}))
	require.NoError(t, err)
	fill(t, s, "u_3", 200)
	for list, want := range map[string]timeline.State{"u_0": timeline.Ready, "u_1": timeline.None, "u_2": timeline.Ready, "u_3": timeline.Ready} {
		assert.Equal(t, want, s.stateOf(t, list), list)
	}
	assert.LessOrEqual(t, s.Bytes(), int64(50_000))

	fill(t, s, "huge", 490)
	assert.LessOrEqual(t, s.Bytes(), int64(50_000))
	tiny := New(Config{MaxBytes: 1, Clock: still})
	token, _, err := tiny.Begin(t.Context(), "u_1")
	require.NoError(t, err)
	done, err := tiny.Commit(t.Context(), "u_1", token, timeline.Content{})
	require.NoError(t, err)
	assert.False(t, done, "there is no room for one")
	assert.Zero(t, tiny.Bytes())
}

func still() time.Time { return timelinetest.Start }

// TestBytes compares the counted bytes with the size on the heap.
func TestBytes(t *testing.T) {
	s := New(Config{Clock: still})
	held := testenv.Retained(func() {
		for i := range 200 {
			fill(t, s, fmt.Sprint("u_", i), 500)
		}
	})
	t.Logf("200 full lists: %d bytes counted, %d in use; %d an entry", s.Bytes(), held, held/200/500)
	assert.InEpsilon(t, held, s.Bytes(), 0.15)
}

// TestExpiredListsFreed checks that the memory of lists that are no longer read is freed.
func TestExpiredListsFreed(t *testing.T) {
	now := timelinetest.Start
	s := New(Config{Clock: func() time.Time { return now }})
	for i := range 100 {
		fill(t, s, fmt.Sprint("u_", i), 10)
	}
	now = now.Add(timeline.TTL)
	fill(t, s, "new", 10)
	assert.Equal(t, 1, s.byName.Len())
	l, _ := s.byName.Peek("new")
	assert.Equal(t, l.counted, s.Bytes())
	require.NoError(t, s.Drop(t.Context(), []string{"new"}))
	assert.Zero(t, s.Bytes())
}

func BenchmarkPush(b *testing.B) {
	s := New(Config{Clock: still})
	var names []string
	for i := range 500 {
		names = append(names, fmt.Sprint("u_", i))
		fill(b, s, names[i], 500)
	}
	versions := s.versions(b, names...)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p := timeline.Position{At: 1_780_000_000 + int64(i), ID: fmt.Sprintf("post:01HZZ3Q9V5W8X7K2M4N6%06d", i)}
		if _, err := s.Push(b.Context(), timelinetest.Additions(names, versions, p)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	s := New(Config{Clock: still})
	fill(b, s, "u_1", 500)
	b.ReportAllocs()
	for b.Loop() {
		if page, err := s.Read(b.Context(), "u_1", timeline.Position{At: 250, ID: "post:x"}, 20); err != nil || len(page.Entries) != 20 {
			b.Fatal(page, err)
		}
	}
}
