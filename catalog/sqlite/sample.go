package sqlite

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// sample draws n of the ids it is given: those whose hashes are least, so that
// the draw follows from the seed and the ids alone, and ids that are added change
// little of it.
type sample struct {
	n     int
	seed  [8]byte
	drawn []hashed // up to twice as many as are wanted
}

type hashed struct {
	hash uint64
	id   string
}

func newSample(n int, seed int64) *sample {
	s := &sample{n: n}
	binary.LittleEndian.PutUint64(s.seed[:], uint64(seed))
	return s
}

// add gives it one id. No id may be given twice.
func (s *sample) add(id string) {
	d := xxhash.New()
	_, _ = d.Write(s.seed[:])
	_, _ = d.WriteString(id)
	if s.drawn = append(s.drawn, hashed{d.Sum64(), id}); len(s.drawn) >= 2*s.n {
		s.cut()
	}
}

func (s *sample) cut() {
	slices.SortFunc(s.drawn, func(a, b hashed) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.id, b.id)) })
	s.drawn = s.drawn[:min(s.n, len(s.drawn))]
}

// ids returns what was drawn, sorted.
func (s *sample) ids() []string {
	s.cut()
	out := make([]string, len(s.drawn))
	for i, h := range s.drawn {
		out[i] = h.id
	}
	slices.Sort(out)
	return out
}
