package memory

import (
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
)

// dictionary numbers terms from 0 in the order of their first use.
type dictionary struct {
	numbers map[string]uint32
	names   []string
}

func newDictionary() *dictionary { return &dictionary{numbers: map[string]uint32{}} }

func (d *dictionary) len() int { return len(d.names) }

func (d *dictionary) add(name string) uint32 {
	n := uint32(len(d.names))
	d.numbers[name] = n
	d.names = append(d.names, name)
	return n
}

// drafter splits a batch of items into terms. New terms go into separate dictionaries, whose
// numbers continue the source's, because queries must not see them yet.
type drafter struct {
	source *Source
	added  [dictionaryCount]dictionary
	terms  []uint32 // backing array of the following fields, shared by many items
}

// all drafts the items; if an id occurs several times, it drafts the last.
func (d *drafter) all(items []feed.Item) []draft {
	for i := range d.added {
		d.added[i] = *newDictionary()
	}
	last := make(map[string]int, len(items))
	for i := range items {
		last[items[i].ID] = i
	}
	drafts := make([]draft, 0, len(last))
	for i := range items {
		it := &items[i]
		if last[it.ID] != i {
			continue
		}
		dr := draft{item: it}
		dr.terms[tagField] = d.tags(it.Tags)
		dr.terms[titleField] = d.words(it.Title)
		dr.terms[summaryField] = d.words(it.Summary)
		dr.terms[authorField] = d.name(it.AuthorID)
		dr.terms[langField] = d.name(terms.LangKey(it.Lang))
		dr.terms[siteField] = d.name(feed.Site(it.URL))
		drafts = append(drafts, dr)
	}
	return drafts
}

// tags returns the folded tags in ascending order, without duplicates.
func (d *drafter) tags(tags []string) []uint32 {
	start := len(d.terms)
	for _, tag := range terms.FoldAll(tags) {
		d.terms = append(d.terms, d.number(tagDictionary, []byte(tag)))
	}
	numbers := d.take(start)
	slices.Sort(numbers)
	return numbers
}

// name returns the terms of a field with one term or none.
func (d *drafter) name(text string) []uint32 {
	start := len(d.terms)
	if text != "" {
		d.terms = append(d.terms, d.number(nameDictionary, []byte(text)))
	}
	return d.take(start)
}

func (d *drafter) words(text string) []uint32 {
	start := len(d.terms)
	words.Each(text, func(token []byte) {
		d.terms = append(d.terms, d.number(wordDictionary, token))
	})
	return d.take(start)
}

// take returns the terms added since start. If append reallocated, earlier fields keep the old
// array.
func (d *drafter) take(start int) []uint32 {
	found := d.terms[start:len(d.terms):len(d.terms)]
	if cap(d.terms)-len(d.terms) < 64 {
		d.terms = make([]uint32, 0, 4096)
	}
	return found
}

func (d *drafter) number(dict int, name []byte) uint32 {
	known := d.source.dictionaries[dict]
	if n, ok := known.numbers[string(name)]; ok {
		return n
	}
	added := &d.added[dict]
	n, ok := added.numbers[string(name)]
	if !ok {
		n = added.add(string(name))
	}
	return uint32(known.len()) + n
}
