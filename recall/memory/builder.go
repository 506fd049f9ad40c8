package memory

import (
	"cmp"
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
)

// builder makes a segment from items added in the segment's order.
type builder struct {
	seg                         *segment
	ids, groups, authors, langs columnWriter
	sites, tags, stories        columnWriter
	count                       []uint32 // per term: how many items have it, then where the next goes; all 0 between uses
}

// draft is an item cut into terms, not yet in a segment.
type draft struct {
	item  *feed.Item
	terms [fieldCount][]termFreq // ascending by term
}

type termFreq struct{ term, freq uint32 }

func newBuilder(count []uint32, size int) *builder {
	b := &builder{count: count, seg: &segment{
		times: make([]int64, 0, size), popularity: make([]float64, 0, size),
	}}
	for f := range fieldCount {
		b.seg.fields[f].itemStarts = append(make([]uint32, 0, size+1), 0)
		if f != tagField {
			b.seg.norms[f] = make([]uint8, 0, size)
		}
	}
	return b
}

func (b *builder) addDraft(d *draft) {
	it := d.item
	b.addRow(it.UpdateTime, math.Log10(1+float64(it.Popularity())), it.ID, it.GroupID, it.Lang, it.Traits())
	for f := range fieldCount {
		var length uint32
		for _, tf := range d.terms[f] {
			b.addTerm(f, tf.term, tf.freq)
			length += tf.freq
		}
		b.endField(f)
		if f != tagField {
			b.seg.norms[f] = append(b.seg.norms[f], encodeNorm(length))
		}
	}
}

// addFrom takes over an item of another segment. renumber, if it is not nil,
// gives the new number of every term, in the same order.
func (b *builder) addFrom(s *segment, item uint32, renumber *[dictionaryCount][]uint32) {
	b.addRow(s.times[item], s.popularity[item], s.ids.at(item), s.groups.at(item), s.langs.at(item), s.traits(item))
	for f := range fieldCount {
		from := &s.fields[f]
		for i := from.itemStarts[item]; i < from.itemStarts[item+1]; i++ {
			term, freq := from.itemTerms[i], uint32(1)
			if f != tagField {
				freq = from.frequency(from.itemFreqs[i], item, term)
			}
			if renumber != nil {
				term = renumber[dictionaryOf[f]][term]
			}
			b.addTerm(f, term, freq)
		}
		b.endField(f)
		if f != tagField {
			b.seg.norms[f] = append(b.seg.norms[f], s.norms[f][item])
		}
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

func (b *builder) addTerm(f int, term, freq uint32) {
	to := &b.seg.fields[f]
	to.itemTerms = append(to.itemTerms, term)
	if f == tagField {
		return
	}
	if freq >= manyTimes {
		if to.overflow == nil {
			to.overflow = map[uint64]uint32{}
		}
		to.overflow[overflowKey(uint32(len(b.seg.times)-1), term)] = freq
		freq = manyTimes
	}
	to.itemFreqs = append(to.itemFreqs, uint8(freq))
}

func (b *builder) endField(f int) {
	to := &b.seg.fields[f]
	to.itemStarts = append(to.itemStarts, uint32(len(to.itemTerms)))
}

// segment finishes: it inverts the fields and hashes the ids.
func (b *builder) segment() *segment {
	s := b.seg
	s.ids, s.groups, s.authors, s.langs = b.ids.column(), b.groups.column(), b.authors.column(), b.langs.column()
	s.sites, s.firstTags, s.stories = b.sites.column(), b.tags.column(), b.stories.column()
	for f := range fieldCount {
		b.invert(&s.fields[f], f != tagField)
	}
	s.hashIDs()
	s.boundPopularity()
	return s
}

// invert lists the items of each term. It counts rather than sorts, so its
// work grows with the number of entries alone.
func (b *builder) invert(f *field, counted bool) {
	f.itemTerms, f.itemFreqs = slices.Clip(f.itemTerms), slices.Clip(f.itemFreqs)
	for _, term := range f.itemTerms {
		if b.count[term] == 0 {
			f.terms = append(f.terms, term)
		}
		b.count[term]++
	}
	slices.Sort(f.terms)
	f.starts = make([]uint32, len(f.terms)+1)
	for i, term := range f.terms {
		f.starts[i+1] = f.starts[i] + b.count[term]
		b.count[term] = f.starts[i]
	}
	f.items = make([]uint32, len(f.itemTerms))
	if counted {
		f.freqs = make([]uint8, len(f.itemTerms))
	}
	for item := range uint32(len(f.itemStarts) - 1) {
		for i := f.itemStarts[item]; i < f.itemStarts[item+1]; i++ {
			term := f.itemTerms[i]
			at := b.count[term]
			b.count[term]++
			f.items[at] = item
			if counted {
				f.freqs[at] = f.itemFreqs[i]
			}
		}
	}
	for _, term := range f.terms {
		b.count[term] = 0
	}
}

// build makes a segment of drafts in any order.
func build(drafts []draft, count []uint32) *segment {
	slices.SortFunc(drafts, func(a, b draft) int {
		if c := cmp.Compare(b.item.UpdateTime, a.item.UpdateTime); c != 0 {
			return c
		}
		return cmp.Compare(a.item.ID, b.item.ID)
	})
	b := newBuilder(count, len(drafts))
	for i := range drafts {
		b.addDraft(&drafts[i])
	}
	return b.segment()
}

// merge makes one segment of what is alive in several views.
func merge(views []view, count []uint32, renumber *[dictionaryCount][]uint32) *segment {
	size := 0
	heads := make([]uint32, len(views))
	for i := range views {
		size += views[i].live()
		heads[i] = views[i].nextLive(0)
	}
	b := newBuilder(count, size)
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

// nextLive returns the first item from i on that is not dead, or the length.
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
