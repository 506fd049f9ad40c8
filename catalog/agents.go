package catalog

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// MaxSample is the most agents [Agents] may be asked for.
const MaxSample = 10_000

// Agents draws samples of those who have a profile.
//
// Agents returns n of them, 1 to [MaxSample], or all where there are fewer,
// each once and sorted by id. Every agent is as likely as any other. The same
// seed draws the same agents while no profile is written; another seed draws
// others. A profile that was put lately may not be there yet.
type Agents interface {
	Agents(ctx context.Context, n int, seed int64) ([]string, error)
}

// Sample draws n of the ids it is given, one after the other, for catalogs that
// cannot draw by themselves. It keeps those whose hashes are least, so that the
// draw follows from the seed and the ids alone, and ids that are added change
// little of it.
type Sample struct {
	n    int
	seed [8]byte
	kept kept
}

// NewSample begins a draw of n.
func NewSample(n int, seed int64) *Sample {
	s := &Sample{n: n}
	binary.LittleEndian.PutUint64(s.seed[:], uint64(seed))
	return s
}

// Add gives it one id. No id may be given twice.
func (s *Sample) Add(id string) {
	d := xxhash.New()
	_, _ = d.Write(s.seed[:])
	_, _ = d.WriteString(id)
	one := hashed{d.Sum64(), id}
	switch {
	case len(s.kept) < s.n:
		heap.Push(&s.kept, one)
	case len(s.kept) > 0 && one.compare(s.kept[0]) < 0:
		s.kept[0] = one
		heap.Fix(&s.kept, 0)
	}
}

// IDs returns what was drawn, sorted.
func (s *Sample) IDs() []string {
	out := make([]string, len(s.kept))
	for i, h := range s.kept {
		out[i] = h.id
	}
	slices.Sort(out)
	return out
}

type hashed struct {
	hash uint64
	id   string
}

func (h hashed) compare(o hashed) int {
	return cmp.Or(cmp.Compare(h.hash, o.hash), cmp.Compare(h.id, o.id))
}

// kept is a heap with the largest hash at the top.
type kept []hashed

func (k kept) Len() int           { return len(k) }
func (k kept) Less(i, j int) bool { return k[i].compare(k[j]) > 0 }
func (k kept) Swap(i, j int)      { k[i], k[j] = k[j], k[i] }
func (k *kept) Push(x any)        { *k = append(*k, x.(hashed)) }

func (k *kept) Pop() any {
	last := (*k)[len(*k)-1]
	*k = (*k)[:len(*k)-1]
	return last
}
