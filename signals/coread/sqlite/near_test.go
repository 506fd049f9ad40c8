package sqlite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/signals/coread"
)

// near computes nearness as [coread.Nearness] describes it, item by item.
func (m *memory) near(reads []string, candidate string, now int64) (near coread.Nearness) {
	c, known := m.index.find(candidate)
	if !known {
		return near
	}
	for _, read := range reads {
		n, known := m.index.find(read)
		if !known || m.items[n].list == nil {
			continue
		}
		for _, e := range m.items[n].list.entries {
			if e.item == c && now < m.items[c].dated+window {
				people := int(e.people)
				near.X += float64(e.sum) / math.Sqrt(float64(max(1, people, m.items[n].readers))*float64(max(1, people, m.items[c].readers)))
				near.People = max(near.People, people)
			}
		}
	}
	near.Readers = max(m.items[c].readers, near.People)
	return near
}

// TestNearOfMany compares nearness, to the last bit, with what one item after the other gives, while
// lists fill up, items end, and what has ended is removed.
func TestNearOfMany(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), FileName))
	random := rand.New(rand.NewPCG(3, 4))
	item := func() string { return fmt.Sprint("i", int(random.ExpFloat64()*100)) }
	some := 0
	for step := range 40 {
		now := noon + int64(step)*day/4
		for range 400 {
			age := int64(random.ExpFloat64() * 3 * float64(day))
			s.add(&coread.Act{Agent: random.Uint64N(60), Item: item(), Dated: now - age, At: now})
		}
		if step%8 == 7 {
			s.sweep(now)
		}
		for agent := range uint64(60) {
			reads, err := s.Reads(t.Context(), agent, nil)
			require.NoError(t, err)
			var candidates []string
			var want []coread.Nearness
			isNear := false
			for range 50 {
				id := item()
				one := s.near(reads, id, now)
				candidates, want, isNear = append(candidates, id), append(want, one), isNear || one.X > 0
			}
			got, err := s.Near(t.Context(), reads, candidates, now, nil)
			require.NoError(t, err)
			if !isNear {
				require.Empty(t, got)
				continue
			}
			some++
			require.Equal(t, want, got)
		}
	}
	assert.Greater(t, some, 1000)
}

// TestIndex: it has what was added, and nothing else, while it grows and after it was cleared.
func TestIndex(t *testing.T) {
	t.Parallel()
	x := newIndex()
	const n = 1000
	for range 2 {
		for i := range n {
			x.add(fmt.Sprint("i", i), uint32(i))
			assert.Equal(t, i+1, x.used)
		}
		for i := range 2 * n {
			number, known := x.find(fmt.Sprint("i", i))
			require.Equal(t, i < n, known)
			if known {
				require.Equal(t, uint32(i), number)
			}
		}
		x.clear()
	}
}
