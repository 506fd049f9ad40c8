package memory

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
)

// builder builds a segment from items that are added in the segment's order.
type builder struct {
	seg                         *segment
	ids, groups, authors, langs columnWriter
	terms                       *scratch
	sites, tags, stories        columnWriter
}

// draft is an item split into terms, not yet in a segment.
type draft struct {
	item  *feed.Item
	terms [fieldCount][]uint32 // as in [field]
}

// scratch has a counter for each term, all 0 between uses.
type scratch struct {
	count []uint32 // number of items that have it, then the position of the next one
	seen  []uint32 // the last item it was seen in, counted from 1
}

func (s *scratch) grow(terms int) {
	for len(s.count) < terms {
		s.count, s.seen = append(s.count, 0), append(s.seen, 0)
	}
}

func newBuilder(terms *scratch, size int) *builder {
	b := &builder{terms: terms, seg: &segment{
		times: make([]int64, 0, size), popularity: make([]float64, 0, size),
	}}
	for f := range fieldCount {
		b.seg.fields[f].itemStarts = append(make([]uint32, 0, size+1), 0)
	}
	return b
}

func (b *builder) addDraft(d *draft) {
	it := d.item
	b.addRow(it.UpdateTime, math.Log10(1+float64(it.Popularity())), it.ID, it.GroupID, it.Lang, it.Traits())
	for f := range fieldCount {
		b.seg.fields[f].add(d.terms[f], nil)
	}
}

// addFrom copies an item of another segment. If renumber is not nil, it maps every term to its
// new number and preserves the order of terms.
func (b *builder) addFrom(s *segment, item uint32, renumber *[dictionaryCount][]uint32) {
	b.addRow(s.times[item], s.popularity[item], s.ids.at(item), s.groups.at(item), s.langs.at(item), s.traits(item))
	for f := range fieldCount {
		var numbers []uint32
		if renumber != nil {
			numbers = renumber[dictionaryOf[f]]
		}
		b.seg.fields[f].add(s.fields[f].of(item), numbers)
	}
}

func (b *builder) addRow(time int64, popularity float64, id, group, lang string, traits feed.Traits) {
	b.seg.times = append(b.seg.times, time)
	b.seg.popularity = append(b.seg.popularity, popularity)
	b.ids.add(id)
	b.groups.add(group)
	b.langs.add(lang)
	b.authors.add(traits.Author)
	b.sites.add(traits.Site)
	b.tags.add(traits.Tag)
	b.stories.add(traits.Story)
	b.seg.grouped = b.seg.grouped || group != "" && group != id
}

// add appends the terms of the next item, renumbered if numbers is not nil.
func (f *field) add(terms, numbers []uint32) {
	start := len(f.itemTerms)
	f.itemTerms = append(f.itemTerms, terms...)
	f.itemStarts = append(f.itemStarts, uint32(len(f.itemTerms)))
	if numbers == nil {
		return
	}
	for i, term := range f.itemTerms[start:] {
		f.itemTerms[start+i] = numbers[term]
	}
}

// segment completes the segment: it inverts the fields and hashes the ids.
func (b *builder) segment() *segment {
	s := b.seg
	s.ids, s.groups, s.authors, s.langs = b.ids.column(), b.groups.column(), b.authors.column(), b.langs.column()
	s.sites, s.firstTags, s.stories = b.sites.column(), b.tags.column(), b.stories.column()
	for f := range fieldCount {
		b.invert(&s.fields[f])
	}
	s.hashIDs()
	s.boundPopularity()
	return s
}

// invert builds the list of items of each term, each item once. It is a counting sort, so its
// work is linear in the number of entries.
func (b *builder) invert(f *field) {
	f.itemTerms = slices.Clip(f.itemTerms)
	count := b.terms.count
	total := uint32(0)
	for _, term := range f.each(b.terms) {
		if count[term] == 0 {
			f.terms = append(f.terms, term)
		}
		count[term]++
		total++
	}
	slices.Sort(f.terms)
	f.starts = make([]uint32, len(f.terms)+1)
	for i, term := range f.terms {
		f.starts[i+1] = f.starts[i] + count[term]
		count[term] = f.starts[i]
	}
	f.items = make([]uint32, total)
	for item, term := range f.each(b.terms) {
		f.items[count[term]] = item
		count[term]++
	}
	for _, term := range f.terms {
		count[term] = 0
	}
}

// each yields every item with each of its terms, once. The loop must not end early.
func (f *field) each(s *scratch) iter.Seq2[uint32, uint32] {
	return func(yield func(item, term uint32) bool) {
		for item := range uint32(len(f.itemStarts) - 1) {
			for _, term := range f.of(item) {
				if s.seen[term] == item+1 {
					continue
				}
				s.seen[term] = item + 1
				if !yield(item, term) {
					return
				}
			}
		}
		for _, term := range f.itemTerms {
			s.seen[term] = 0
		}
	}
}

// build builds a segment from drafts in any order.
func build(drafts []draft, terms *scratch) *segment {
	slices.SortFunc(drafts, func(a, b draft) int {
		return cmp.Or(cmp.Compare(b.item.UpdateTime, a.item.UpdateTime), cmp.Compare(a.item.ID, b.item.ID))
	})
	b := newBuilder(terms, len(drafts))
	for i := range drafts {
		b.addDraft(&drafts[i])
	}
	return b.segment()
}

// merge builds one segment from the live items of several views.
func merge(views []view, terms *scratch, renumber *[dictionaryCount][]uint32) *segment {
	size := 0
	heads := make([]uint32, len(views))
	for i := range views {
		size += views[i].live()
		heads[i] = views[i].nextLive(0)
	}
	b := newBuilder(terms, size)
	for range size {
		best := -1
		for i := range views {
			if int(heads[i]) < views[i].len() && (best < 0 || views[i].before(heads[i], &views[best], heads[best])) {
				best = i
			}
		}
		b.addFrom(views[best].segment, heads[best], renumber)
		heads[best] = views[best].nextLive(heads[best] + 1)
	}
	return b.segment()
}

// nextLive returns the first live item from i on, or the length if there is none.
func (v *view) nextLive(i uint32) uint32 {
	for int(i) < v.len() && v.isDead(i) {
		i++
	}
	return i
}

// before reports whether item i comes before item j of another view.
func (v *view) before(i uint32, other *view, j uint32) bool {
	if v.times[i] != other.times[j] {
		return v.times[i] > other.times[j]
	}
	return v.ids.at(i) < other.ids.at(j)
}
