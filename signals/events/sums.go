package events

import (
	"cmp"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/metrics"
)

// batchMembers is the maximum number of agents, of authors, of cells and of events in one batch: a store adds
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
	sampled     bool
	ages        Ages
	sources     map[feed.Source]int64
	positions   map[int]int64
	cells       Cells
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
}

func newSums(sender string, most int) *sums {
	return &sums{sender: sender, most: most, bySlot: map[slot]*sum{}}
}

func (s *sums) of(run string, now time.Time) *sum {
	at := slot{run, feed.DayOf(now)}
	to := s.bySlot[at]
	if to == nil {
		to = &sum{
			sources: map[feed.Source]int64{}, positions: map[int]int64{}, cells: Cells{},
			agents: map[uint64]struct{}{}, authors: map[uint64]struct{}{}, events: map[Event]struct{}{},
		}
		s.bySlot[at] = to
	}
	return to
}

// addPage adds a page that a run has ranked, whose first item follows offset others.
func (s *sums) addPage(run string, offset int, d *Delivery, now time.Time) {
	to := s.of(run, now)
	for _, e := range d.Promoted {
		s.addEvent(to, e)
	}
	bucket := feed.Bucket(d.Agent)
	if d.Tracked {
		to.sampled = true
		to.cells.Add(bucket, Pages, 1)
		to.cells.Add(bucket, Millis, roundedAtRandom(d.Took))
		if len(d.Docs) < d.Limit {
			to.cells.Add(bucket, Short, 1)
		}
	}
	if len(d.Docs) == 0 && !d.Tracked {
		return
	}
	if !member(s, to.agents, AgentHash(d.Agent)) {
		metrics.DroppedMembers.Inc()
	}
	if len(d.Docs) == 0 || d.Unseen {
		return
	}
	to.impressions += int64(len(d.Docs))
	to.cells.Add(bucket, Shown, int64(len(d.Docs)))
	for i, ref := range d.Refs {
		switch {
		case ref.Source == feed.SourceExplore:
			s.addEvent(to, Explored(d.Agent, ref.Group))
		case ref.Source != feed.SourceScore:
			to.sources[ref.Source]++
		}
		if d.Tracked {
			to.positions[rangeOf(offset+i+1)]++
		}
	}
	for _, doc := range d.Docs {
		s.addItem(to, doc, now)
	}
}

// roundedAtRandom returns a duration in milliseconds, rounded up with a probability that is the rest: sums
// of times below a millisecond are right. It is 0 if a clock was set back.
func roundedAtRandom(d time.Duration) int64 {
	return int64(max(0, d+rand.N(time.Millisecond)) / time.Millisecond)
}

// addItem adds the age and the author of an item that was shown.
func (s *sums) addItem(to *sum, doc feed.Doc, now time.Time) {
	if doc.Missing() {
		return
	}
	author, at, err := doc.Origin()
	if err != nil {
		return // the impression counts nevertheless
	}
	to.ages.Count(now.Unix() - at)
	if len(author) > 0 && !member(s, to.authors, xxhash.Sum64(author)) {
		metrics.DroppedMembers.Inc()
	}
}

// addSeen adds an item that an agent has reported as seen, with its place in the page that gave it, on the
// day of that page.
func (s *sums) addSeen(r *Report, i int, at placed, now time.Time) {
	to := s.of(r.Run, at.page.At)
	s.addEvent(to, Seen(r.Agent, r.Groups[i], at.source, at.position))
	if at.source == feed.SourceExplore {
		s.addEvent(to, Explored(r.Agent, r.Groups[i]))
	}
	s.addItem(to, r.Docs[i], now)
}

// addActs adds acts that are not tracked.
func (s *sums) addActs(a *Acts, now time.Time) {
	for _, act := range a.Acts {
		s.addEvents(a.Run, Acted(act.Kind, a.Agent, act.Group, act.Source, 0), now)
	}
	s.addEvents(a.Run, a.Other, now)
}

// addTracked adds acts for the run that showed each group, if that is still in force: when a run ends,
// its counts are final. They count on the day of the page, so that a repetition after midnight is known.
func (s *sums) addTracked(a *Acts, pages []Page, now time.Time) {
	for _, act := range a.Acts {
		at, ok := shownOn(pages, act.Group, now)
		if ok && at.page.Run == a.Run {
			s.addEvents(a.Run, Acted(act.Kind, a.Agent, act.Group, at.source, at.position), at.page.At)
		}
	}
	s.addEvents(a.Run, a.Other, now)
}

// addReport adds the groups of a report that the run in force has shown.
func (s *sums) addReport(r *Report, pages []Page, now time.Time) {
	for i, group := range r.Groups {
		at, ok := shownOn(pages, group, now)
		if ok && at.page.Run == r.Run {
			s.addSeen(r, i, at, now)
		}
	}
	s.addEvents(r.Run, r.Other, now)
}

// addEvents adds events of a run.
func (s *sums) addEvents(run string, events []Event, now time.Time) {
	for _, e := range events {
		s.addEvent(s.of(run, now), e)
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

// take converts the sums to batches and resets them.
func (s *sums) take() (batches []*Batch) {
	for at, from := range s.bySlot {
		first := s.batch(at)
		first.Impressions, first.Ages, first.Sources, first.Positions = from.impressions, from.ages, from.sources, from.positions
		batches = append(batches, first)
		for b, part := range parts(s, &batches, at, slices.Collect(maps.Keys(from.agents))) {
			b.Agents, b.Sampled = part, from.sampled
		}
		for b, part := range parts(s, &batches, at, slices.Collect(maps.Keys(from.authors))) {
			b.Authors = part
		}
		for b, part := range parts(s, &batches, at, slices.Collect(maps.Keys(from.cells))) {
			b.Cells = make(Cells, len(part))
			for _, cell := range part {
				b.Cells[cell] = from.cells[cell]
			}
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
