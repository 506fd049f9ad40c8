package memory

import (
	"cmp"
	"slices"

	"github.com/freshet/freshet/feed"
)

// dictionary numbers terms from 0 in the order they were first seen.
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

// drafter cuts a batch of items into terms. Terms that are new go into
// dictionaries of its own, numbered on from the source's: readers must not see
// them yet.
type drafter struct {
	source *Source
	added  [dictionaryCount]dictionary
	found  []uint32 // terms of the current field, with repeats
	terms  []termFreq
}

// all drafts the items; of items with one id it drafts the last.
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
		for _, tag := range it.Tags {
			d.found = append(d.found, d.number(tagDictionary, []byte(tag)))
		}
		dr.terms[tagField] = d.collect()
		for i := range dr.terms[tagField] {
			dr.terms[tagField][i].freq = 1 // a tag written twice is one tag
		}
		dr.terms[titleField] = d.words(it.Title)
		dr.terms[summaryField] = d.words(it.Summary)
		drafts = append(drafts, dr)
	}
	return drafts
}

func (d *drafter) words(text string) []termFreq {
	if text == "" {
		return nil
	}
	d.source.tokens.each(text, func(token []byte) {
		d.found = append(d.found, d.number(wordDictionary, token))
	})
	return d.collect()
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

// collect counts the terms found and forgets them. The answer is cut from a
// large piece that many items share.
func (d *drafter) collect() []termFreq {
	slices.SortFunc(d.found, cmp.Compare[uint32])
	if cap(d.terms)-len(d.terms) < len(d.found) {
		d.terms = make([]termFreq, 0, max(4096, len(d.found)))
	}
	start := len(d.terms)
	for i, term := range d.found {
		if i > 0 && d.found[i-1] == term {
			d.terms[len(d.terms)-1].freq++
			continue
		}
		d.terms = append(d.terms, termFreq{term: term, freq: 1})
	}
	d.found = d.found[:0]
	return d.terms[start:len(d.terms):len(d.terms)]
}
