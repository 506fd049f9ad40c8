package memory

import (
	"hash/maphash"
	"slices"

	"github.com/freshet/freshet/feed"
)

// The searched fields. Tags share one dictionary, the words of titles and summaries another,
// authors, languages and sites a third.
const (
	tagField = iota
	titleField
	summaryField
	authorField
	langField
	siteField
	fieldCount
)

const (
	tagDictionary = iota
	wordDictionary
	nameDictionary
	dictionaryCount
)

var dictionaryOf = [fieldCount]int{tagDictionary, wordDictionary, wordDictionary, nameDictionary, nameDictionary, nameDictionary}

// blockSize is the number of items that the walk processes at a time.
const blockSize = 1024

// segment is an immutable index over some items, newest first; items of the same second are
// sorted by id. An item's number is its position.
type segment struct {
	times      []int64   // update_time
	popularity []float64 // log10(1 + popularity), as used by the formula
	ids        column
	groups     column // empty if the id is the group
	authors    column
	langs      column
	sites      column // of the links
	firstTags  column
	stories    column // sketches of the titles
	fields     [fieldCount]field
	slots      []uint32  // hash table by id: item + 1; 0 marks a free slot
	blockPop   []float64 // highest popularity of each block
	tailPop    []float64 // highest popularity of each block and all later ones
	grouped    bool      // some item has a group
}

// field is one searched field, indexed by item and by term. The terms of a text are its tokens
// in order, with repeats, so that phrases can be matched; the terms of the tags are distinct
// and in ascending order.
type field struct {
	itemStarts []uint32 // start of each item's terms, then the end
	itemTerms  []uint32 // terms of each item
	terms      []uint32 // terms of the segment, ascending
	starts     []uint32 // start of each term's items, then the end
	items      []uint32 // items of each term, ascending
}

// postings returns the items that have a term.
func (f *field) postings(term uint32) []uint32 {
	i, ok := slices.BinarySearch(f.terms, term)
	if !ok {
		return nil
	}
	return f.items[f.starts[i]:f.starts[i+1]]
}

// of returns the terms of an item.
func (f *field) of(item uint32) []uint32 {
	return f.itemTerms[f.itemStarts[item]:f.itemStarts[item+1]]
}

// has reports whether the terms are adjacent, in this order, in the item's text.
func (f *field) has(item uint32, phrase []uint32) bool {
	text := f.of(item)
	for i, first := range text {
		if first == phrase[0] && len(text)-i >= len(phrase) && slices.Equal(text[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

func (s *segment) len() int { return len(s.times) }

// group returns the item's group, or its id if it has none.
func (s *segment) group(item uint32) string {
	g := s.groups.at(item)
	if g != "" {
		return g
	}
	return s.ids.at(item)
}

// traits returns the item's properties that are used to vary a page.
func (s *segment) traits(item uint32) feed.Traits {
	return feed.Traits{Author: s.authors.at(item), Site: s.sites.at(item), Tag: s.firstTags.at(item), Story: s.stories.at(item)}
}

var hashSeed = maphash.MakeSeed()

// find returns the item with the id.
func (s *segment) find(id string) (item uint32, ok bool) {
	mask := uint64(len(s.slots) - 1)
	for i := maphash.String(hashSeed, id) & mask; s.slots[i] != 0; i = (i + 1) & mask {
		item = s.slots[i] - 1
		if s.ids.at(item) == id {
			return item, true
		}
	}
	return 0, false
}

func (s *segment) hashIDs() {
	size := 2
	for size < s.len()*3/2 {
		size *= 2
	}
	if size == s.len() {
		size *= 2 // in a full table a search would never end
	}
	s.slots = make([]uint32, size)
	mask := uint64(size - 1)
	for item := range uint32(s.len()) {
		i := maphash.String(hashSeed, s.ids.at(item)) & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = item + 1
	}
}

func (s *segment) boundPopularity() {
	blocks := (s.len() + blockSize - 1) / blockSize
	s.blockPop, s.tailPop = make([]float64, blocks), make([]float64, blocks)
	for i, p := range s.popularity {
		s.blockPop[i/blockSize] = max(s.blockPop[i/blockSize], p)
	}
	highest := 0.0
	for b := blocks - 1; b >= 0; b-- {
		highest = max(highest, s.blockPop[b])
		s.tailPop[b] = highest
	}
}

// view is a segment with the set of its items that have been replaced or deleted, and the live
// popularity of its items. It is immutable too: marking an item dead creates a new view.
type view struct {
	*segment
	dead      []uint64 // one bit per item; nil if all are live
	deadCount int
	counted   *counted // the items with counts, including dead ones; nil if there are none
}

func (v *view) isDead(item uint32) bool {
	return v.dead != nil && v.dead[item/64]&(1<<(item%64)) != 0
}

func (v *view) live() int { return v.len() - v.deadCount }

// without returns the view with more dead items.
func (v view) without(items []uint32) view {
	dead := slices.Clone(v.dead)
	if dead == nil {
		dead = make([]uint64, (v.len()+63)/64)
	}
	for _, item := range items {
		dead[item/64] |= 1 << (item % 64)
	}
	return view{segment: v.segment, dead: dead, deadCount: v.deadCount + len(items), counted: v.counted}
}

// column stores one string per item in one allocation: a million small strings would each cost
// a header, and a pointer for the garbage collector to follow.
type column struct {
	text string
	ends []uint32 // end of each string, which is also the start of the next
}

func (c *column) at(i uint32) string {
	if i == 0 {
		return c.text[:c.ends[0]]
	}
	return c.text[c.ends[i-1]:c.ends[i]]
}

// columnWriter builds a column.
type columnWriter struct {
	text []byte
	ends []uint32
}

func (w *columnWriter) add(s string) {
	w.text = append(w.text, s...)
	w.ends = append(w.ends, uint32(len(w.text)))
}

func (w *columnWriter) column() column { return column{text: string(w.text), ends: w.ends} }
