package events

import (
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/metrics"
)

// batchMembers is how many of agents, authors, what was explored or promoted and acts one batch holds: a store
// does a batch in one step, and nothing else meanwhile.
const batchMembers = 5000

// slot is the key of one sum.
type slot struct {
	variant string
	day     feed.Day
}

// sum holds the counts of a slot since the last write.
type sum struct {
	impressions int64
	ages        Ages
	agents      map[uint64]struct{}
	authors     map[uint64]struct{}
	explored    map[uint64]struct{}
	acts        map[Act]struct{}
	sources     map[feed.Source]int64

	promoted     map[Promoted]struct{}
	promotedActs map[PromotedAct]struct{}
}

// sums adds up. Its size does not depend on how much is counted, but for the
// sets, whose members are bounded.
type sums struct {
	sender  string
	seq     uint64
	most    int // members of all sets together
	members int
	bySlot  map[slot]*sum
	waiting []chan struct{} // told when it is written
}

// job holds the batches that are written together.
type job struct {
	batches []*Batch
	waiting []chan struct{}
}

func newSums(sender string, most int) *sums {
	return &sums{sender: sender, most: most, bySlot: map[slot]*sum{}}
}

func (s *sums) empty() bool { return len(s.bySlot) == 0 }

func (s *sums) add(e entry) {
	if e.written != nil {
		s.waiting = append(s.waiting, e.written)
		return
	}
	at := slot{e.variant, feed.DayOf(e.now)}
	to := s.bySlot[at]
	if to == nil {
		to = &sum{
			agents: map[uint64]struct{}{}, authors: map[uint64]struct{}{}, explored: map[uint64]struct{}{}, acts: map[Act]struct{}{},
			sources:  map[feed.Source]int64{},
			promoted: map[Promoted]struct{}{}, promotedActs: map[PromotedAct]struct{}{},
		}
		s.bySlot[at] = to
	}
	for _, act := range e.acts {
		if !member(s, to.acts, act) {
			metrics.DroppedActs.Inc()
		}
	}
	for _, p := range e.promoted {
		if !member(s, to.promoted, p) {
			metrics.DroppedMembers.Inc()
		}
	}
	for _, act := range e.promotedActs {
		if !member(s, to.promotedActs, act) {
			metrics.DroppedMembers.Inc()
		}
	}
	if len(e.docs) == 0 {
		return
	}
	to.impressions += int64(len(e.docs))
	if !member(s, to.agents, xxhash.Sum64String(e.agent)) {
		metrics.DroppedMembers.Inc()
	}
	for _, ref := range e.refs {
		switch {
		case ref.Source == feed.SourceExplore:
			if !member(s, to.explored, ExploredHash(e.agent, ref.Group)) {
				metrics.DroppedMembers.Inc()
			}
		case ref.Source != feed.SourceScore:
			to.sources[ref.Source]++
		}
	}
	now := e.now.Unix()
	for _, doc := range e.docs {
		author, at, err := doc.Origin()
		if err != nil {
			continue // it was shown, whatever it is
		}
		to.ages.Count(now - at)
		if len(author) > 0 && !member(s, to.authors, xxhash.Sum64(author)) {
			metrics.DroppedMembers.Inc()
		}
	}
}

// member puts m into a set; false: there is no room.
func member[M comparable](s *sums, set map[M]struct{}, m M) bool {
	if _, ok := set[m]; ok {
		return true
	}
	if s.members >= s.most {
		return false
	}
	s.members++
	set[m] = struct{}{}
	return true
}

// take makes batches of the sums and begins anew.
func (s *sums) take() job {
	j := job{waiting: s.waiting}
	for at, from := range s.bySlot {
		first := s.batch(at)
		first.Impressions, first.Ages, first.Sources = from.impressions, from.ages, from.sources
		j.batches = append(j.batches, first)
		fill(s, &j, at, from.agents, func(b *Batch, part []uint64) { b.Agents = part })
		fill(s, &j, at, from.authors, func(b *Batch, part []uint64) { b.Authors = part })
		fill(s, &j, at, from.explored, func(b *Batch, part []uint64) { b.Explored = part })
		fill(s, &j, at, from.acts, func(b *Batch, part []Act) { b.Acts = part })
		fill(s, &j, at, from.promoted, func(b *Batch, part []Promoted) { b.Promoted = part })
		fill(s, &j, at, from.promotedActs, func(b *Batch, part []PromotedAct) { b.PromotedActs = part })
	}
	s.bySlot, s.waiting, s.members = map[slot]*sum{}, nil, 0
	return j
}

func (s *sums) batch(at slot) *Batch {
	s.seq++
	return &Batch{Variant: at.variant, Day: at.day, Sender: s.sender, Seq: s.seq}
}

// fill spreads a set over the slot's last batch and, where it is too large for
// one, over further ones.
func fill[M comparable](s *sums, j *job, at slot, set map[M]struct{}, put func(*Batch, []M)) {
	all := slices.Collect(maps.Keys(set))
	for i := 0; i < len(all); i += batchMembers {
		if i > 0 {
			j.batches = append(j.batches, s.batch(at))
		}
		put(j.batches[len(j.batches)-1], all[i:min(i+batchMembers, len(all))])
	}
}

// heldActs are acts that wait for one write of all servers: those on what exploration or
// a promotion has shown count only where the store knows that it has, and another server
// may have shown it a moment ago.
type heldActs struct {
	newer, older []entry // since the last tick, and between that and the one before
}

// add holds acts, and adds up everything else. Who waits for what was handed over waits
// for no tick.
func (h *heldActs) add(to *sums, e entry) {
	switch {
	case e.written != nil:
		h.all(to)
		to.add(e)
	case len(e.acts)+len(e.promotedActs) > 0:
		h.newer = append(h.newer, e)
	default:
		to.add(e)
	}
}

// tick adds up what was held at the last tick.
func (h *heldActs) tick(to *sums) {
	for _, e := range h.older {
		to.add(e)
	}
	clear(h.older) // it is used again
	h.older, h.newer = h.newer, h.older[:0]
}

// all adds up all that is held.
func (h *heldActs) all(to *sums) {
	h.tick(to)
	h.tick(to)
}
