package events

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/metrics"
)

// batchMembers is how many agents, authors and events each one batch holds: a store does a
// batch in one step, and nothing else meanwhile.
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
	sources     map[feed.Source]int64
	agents      map[uint64]struct{}
	authors     map[uint64]struct{}
	events      map[Event]struct{}
}

// sums adds up. Its size does not depend on how much is counted, but for the
// sets, whose members are bounded.
type sums struct {
	sender  string
	seq     uint64
	most    int // members of all sets together
	members int
	bySlot  map[slot]*sum

	// Acts wait for one write of all servers: those on what exploration or a promotion has
	// shown count only where the store knows that it has, and another server may have shown
	// it a moment ago.
	newer, older []entry // since the last tick, and between that and the one before
}

func newSums(sender string, most int) *sums {
	return &sums{sender: sender, most: most, bySlot: map[slot]*sum{}}
}

func (s *sums) add(e entry) {
	at := slot{e.variant, feed.DayOf(e.now)}
	to := s.bySlot[at]
	if to == nil {
		to = &sum{sources: map[feed.Source]int64{}, agents: map[uint64]struct{}{}, authors: map[uint64]struct{}{}, events: map[Event]struct{}{}}
		s.bySlot[at] = to
	}
	for _, event := range e.events {
		s.addEvent(to, event)
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
			s.addEvent(to, Explored(e.agent, ref.Group))
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

func (s *sums) addEvent(to *sum, e Event) {
	if !member(s, to.events, e) {
		dropped(e)
	}
}

// dropped counts an event that is lost.
func dropped(e Event) {
	if slices.Contains(Kinds[:], Kind(e.Field)) {
		metrics.DroppedActs.Inc()
	} else {
		metrics.DroppedMembers.Inc()
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

// hold adds acts up with the second tick from now.
func (s *sums) hold(acts entry) { s.newer = append(s.newer, acts) }

// tick adds up what was held at the last tick.
func (s *sums) tick() {
	for _, e := range s.older {
		s.add(e)
	}
	clear(s.older) // it is used again
	s.older, s.newer = s.newer, s.older[:0]
}

// take makes batches of the sums and begins anew.
func (s *sums) take() (batches []*Batch) {
	for at, from := range s.bySlot {
		first := s.batch(at)
		first.Impressions, first.Ages, first.Sources = from.impressions, from.ages, from.sources
		batches = append(batches, first)
		batches = fill(s, batches, at, slices.Collect(maps.Keys(from.agents)), func(b *Batch, part []uint64) { b.Agents = part })
		batches = fill(s, batches, at, slices.Collect(maps.Keys(from.authors)), func(b *Batch, part []uint64) { b.Authors = part })
		batches = fill(s, batches, at, slices.SortedFunc(maps.Keys(from.events), conditional), func(b *Batch, part []Event) { b.Events = part })
	}
	s.bySlot, s.members = map[slot]*sum{}, 0
	return batches
}

// conditional puts events that count after others last.
func conditional(a, b Event) int { return cmp.Compare(min(a.After, 1), min(b.After, 1)) }

func (s *sums) batch(at slot) *Batch {
	s.seq++
	return &Batch{Variant: at.variant, Day: at.day, Sender: s.sender, Seq: s.seq}
}

// fill puts members into the last batch and, where they are too many for one, into further
// ones.
func fill[M any](s *sums, batches []*Batch, at slot, all []M, put func(*Batch, []M)) []*Batch {
	for i := 0; i < len(all); i += batchMembers {
		if i > 0 {
			batches = append(batches, s.batch(at))
		}
		put(batches[len(batches)-1], all[i:min(i+batchMembers, len(all))])
	}
	return batches
}
