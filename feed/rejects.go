package feed

import (
	"slices"

	"github.com/freshet/freshet/feed/terms"
)

// Rejects reports whether the tags, the languages or the authors of an item show that the filter does not
// select it. Sites and words are not looked at, so an item that is not rejected need not be selected.
func (f *Filter) Rejects(it *Item) bool {
	_, unmet := f.All.met(it)
	some, _ := f.Any.met(it)
	none, _ := f.None.met(it)
	undecided := len(f.Any.Sites)+len(f.Any.Words) > 0
	return unmet > 0 || !f.Any.IsZero() && some == 0 && !undecided || none > 0
}

// met counts the conditions on tags, languages and authors that an item meets, and those that it does not.
func (c *Conditions) met(it *Item) (met, unmet int) {
	tags := terms.FoldAll(it.Tags)
	count := func(is bool) {
		if is {
			met++
		} else {
			unmet++
		}
	}
	for _, tag := range c.Tags {
		count(slices.Contains(tags, terms.Fold(tag)))
	}
	for _, lang := range c.Langs {
		read := terms.ReadLangs([]string{lang})
		in := func(own string) bool { return len(terms.LangKeys(own)) > 0 && read.Take(own) }
		count(in(it.Lang) || slices.ContainsFunc(it.Langs, in))
	}
	for _, author := range c.Authors {
		count(it.By(author))
	}
	return met, unmet
}

// AsMutes returns a profile that mutes what the conditions on tags, languages and authors are about. Those who can
// tell by an item's content whether this profile refuses it can tell whether [Filter.Rejects] is right.
func (f *Filter) AsMutes() Profile {
	var p Profile
	for _, c := range []*Conditions{&f.All, &f.Any, &f.None} {
		p.MutedTags, p.Langs, p.MutedAuthors = append(p.MutedTags, c.Tags...), append(p.Langs, c.Langs...), append(p.MutedAuthors, c.Authors...)
	}
	return p
}
