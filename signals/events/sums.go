package events

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/metrics"
)

// batchMembers is the maximum number of agents, of authors and of events in one batch: a store adds
// a batch atomically, blocking everything else.
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

// sums accumulates counts. Its size does not depend on the number of impressions and acts, except
// for the sets, which are bounded.
type sums struct {
	sender  string
	seq     uint64
	most    int // maximum number of members of all sets together
	members int
	bySlot  map[slot]*sum

	// Acts are held until all servers have written once: acts on items shown by exploration or a
	// promotion count only if the store knows of the impression, and another server may have shown the
	// item a moment ago.
	newer, older []entry // since the last tick, and between that and the previous one
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
			continue // the impression counts nevertheless
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

// dropped counts a lost event.
func dropped(e Event) {
	if slices.Contains(Kinds[:], Kind(e.Field)) {
		metrics.DroppedActs.Inc()
	} else {
		metrics.DroppedMembers.Inc()
	}
}

// member adds m to a set. It returns false if there is no space.
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

// hold queues acts to be added at the second tick from now.
func (s *sums) hold(acts entry) { s.newer = append(s.newer, acts) }

// tick adds the acts that were held at the last tick.
func (s *sums) tick() {
	for _, e := range s.older {
		s.add(e)
	}
	clear(s.older) // its memory is reused
	s.older, s.newer = s.newer, s.older[:0]
}

// take converts the sums to batches and resets them.
func (s *sums) take() (batches []*Batch) {
	for at, from := range s.bySlot {
		first := s.batch(at)
		first.Impressions, first.Ages, first.Sources = from.impressions, from.ages, from.sources
		batches = append(batches, first)
		for b, part := range parts(s, &batches, at, slices.Collect(maps.Keys(from.agents))) {
			b.Agents = part
		}
		for b, part := range parts(s, &batches, at, slices.Collect(maps.Keys(from.authors))) {
			b.Authors = part
		}
		for b, part := range parts(s, &batches, at, slices.SortedFunc(maps.Keys(from.events), conditional)) {
			b.Events = part
		}
	}
	s.bySlot, s.members = map[slot]*sum{}, 0
	return batches
}

// conditional sorts events that require others last.
func conditional(a, b Event) int { return cmp.Compare(min(a.After, 1), min(b.After, 1)) }

func (s *sums) batch(at slot) *Batch {
	s.seq++
	return &Batch{Variant: at.variant, Day: at.day, Sender: s.sender, Seq: s.seq}
}

// parts yields the members with the last batch, and with further ones, which it adds, if they are
// too many for one.
func parts[M any](s *sums, batches *[]*Batch, at slot, all []M) iter.Seq2[*Batch, []M] {
	return func(yield func(*Batch, []M) bool) {
		for i := 0; i < len(all); i += batchMembers {
			if i > 0 {
				*batches = append(*batches, s.batch(at))
			}
			if !yield((*batches)[len(*batches)-1], all[i:min(i+batchMembers, len(all))]) {
				return
			}
		}
	}
}
