package memory

import (
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
)

// filter is a [feed.Filter] after all lookups that do not depend on an item.
type filter struct{ all, any, none []condition }

// condition is one condition of a filter.
type condition struct {
	kind   int
	terms  []uint32 // of a tag, a word, an author, a site, or a language in all its regions; nil if no item has them
	joined []uint32 // terms of a word that match as well; nil if there are none
	langs  terms.Langs
	name   string // of an author or a site
}

// The kinds, in the order of [feed.Conditions.Lists].
const (
	byTag = iota
	byLang
	byAuthor
	bySite
	byWord
)

// filterOf looks up the terms of a filter. The dictionaries must be locked.
func (s *Source) filterOf(f *feed.Filter) *filter {
	if f == nil {
		return nil
	}
	return &filter{all: s.conditions(&f.All), any: s.conditions(&f.Any), none: s.conditions(&f.None)}
}

func (s *Source) conditions(of *feed.Conditions) (all []condition) {
	for kind, list := range of.Lists() {
		for _, name := range list {
			c := condition{kind: kind, name: name}
			switch kind {
			case byTag:
				c.terms = s.term(tagDictionary, terms.Fold(name))
			case byAuthor, bySite:
				c.terms = s.term(nameDictionary, name)
			case byLang:
				c.langs = terms.ReadLangs([]string{name})
				c.terms = s.term(nameDictionary, terms.LangKey(name))
			case byWord:
				apart, joined := words.OneLetterParts(words.Of(name))
				c.terms, _ = s.words(apart)
				c.joined, _ = s.words(joined)
			}
			all = append(all, c)
		}
	}
	return all
}

// term returns the number of a term, none if no item has it.
func (s *Source) term(dictionary int, name string) []uint32 {
	number, ok := s.dictionaries[dictionary].numbers[name]
	if !ok {
		return nil
	}
	return []uint32{number}
}

// selects reports whether the filter selects the item.
func (f *filter) selects(s *segment, item uint32) bool {
	meets := func(c condition) bool { return c.meets(s, item) }
	fails := func(c condition) bool { return !c.meets(s, item) }
	return !slices.ContainsFunc(f.all, fails) && (len(f.any) == 0 || slices.ContainsFunc(f.any, meets)) && !slices.ContainsFunc(f.none, meets)
}

func (c *condition) meets(s *segment, item uint32) bool {
	switch c.kind {
	case byTag:
		return c.terms != nil && slices.Contains(s.fields[tagField].of(item), c.terms[0])
	case byLang:
		lang := s.langs.at(item)
		return len(terms.LangKeys(lang)) > 0 && c.langs.Take(lang)
	case byAuthor:
		return s.authors.at(item) == c.name
	case bySite:
		return s.sites.at(item) == c.name
	}
	for _, f := range []*field{&s.fields[titleField], &s.fields[summaryField]} {
		if c.terms != nil && f.has(item, c.terms) || c.joined != nil && f.has(item, c.joined) {
			return true
		}
	}
	return false
}

// listed returns, ascending, items of a view among which are all that the filter selects; ok is false
// if every item must be looked at.
func (f *filter) listed(v *view) (items []uint32, ok bool) {
	for i := range f.all {
		list := f.all[i].listed(v)
		if !ok || len(list) < len(items) {
			items, ok = list, true
		}
	}
	if ok || len(f.any) == 0 {
		return items, ok
	}
	var lists [][]uint32
	total := 0
	for i := range f.any {
		list := f.any[i].listed(v)
		total += len(list)
		// To sort a large part of all items takes longer than the walk, which ends at the best ones.
		if total > v.len()/sparse && len(f.any) > 1 {
			return nil, false
		}
		lists = append(lists, list)
	}
	if len(lists) == 1 {
		return lists[0], true
	}
	items = slices.Concat(lists...)
	slices.Sort(items)
	return slices.Compact(items), true
}

// sparse is the share of a view's items up to which lists are merged, as a divisor.
const sparse = 16

// conditionField is the field of each kind of condition but words, which are in two.
var conditionField = [...]int{byTag: tagField, byLang: langField, byAuthor: authorField, bySite: siteField}

// listed returns, ascending, items among which are all that meet the condition.
func (c *condition) listed(v *view) (items []uint32) {
	if c.kind != byWord {
		return v.fields[conditionField[c.kind]].candidates(c.terms)
	}
	for _, field := range []int{titleField, summaryField} {
		items = union(items, v.fields[field].candidates(c.terms))
		items = union(items, v.fields[field].candidates(c.joined))
	}
	return items
}
