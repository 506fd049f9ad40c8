package feed

import (
	"slices"

	"github.com/freshet/freshet/feed/terms"
)

// Refusals holds the mutes and languages of a profile, made ready to be compared with many
// items. Later changes of the profile do not change it.
type Refusals struct {
	items   []string
	authors map[string]bool
	tags    map[string]bool // folded
	langs   terms.Langs
}

// Refusals makes ready what the profile refuses.
func (p Profile) Refusals() *Refusals {
	r := &Refusals{items: p.MutedItems, langs: terms.ReadLangs(p.Langs)}
	if len(p.MutedAuthors) > 0 {
		r.authors = make(map[string]bool, len(p.MutedAuthors))
		for _, author := range p.MutedAuthors {
			r.authors[author] = true
		}
	}
	if len(p.MutedTags) > 0 {
		r.tags = make(map[string]bool, len(p.MutedTags))
		for _, tag := range p.MutedTags {
			r.tags[terms.Fold(tag)] = true
		}
	}
	return r
}

// Item reports whether the mutes or languages exclude the item. One without a language
// passes every language filter, one in several languages passes if the reader reads one
// of them.
func (r *Refusals) Item(it *Item) bool {
	if r.Ref(Ref{ID: it.ID, Group: it.Group()}) || it.AuthorID != "" && r.authors[it.AuthorID] || slices.ContainsFunc(it.AuthorIDs, r.Author) {
		return true
	}
	if _, muted := r.Tag(it.Tags); muted {
		return true
	}
	return !r.langs.Take(it.Lang) || len(it.Langs) > 0 && !slices.ContainsFunc(it.Langs, r.langs.Take)
}

// Ref reports whether the reader has hidden the item or its group.
func (r *Refusals) Ref(ref Ref) bool { return hides(r.items, ref) }

// Author reports whether the author is muted.
func (r *Refusals) Author(id string) bool { return r.authors[id] }

// Tag returns the first of the tags that is muted.
func (r *Refusals) Tag(tags []string) (tag string, muted bool) {
	if len(r.tags) > 0 {
		for _, tag := range tags {
			if r.tags[terms.Fold(tag)] {
				return tag, true
			}
		}
	}
	return "", false
}

// Refuses reports whether the profile's mutes or languages exclude the item, see
// [Refusals.Item].
func (p Profile) Refuses(it *Item) bool { return p.Refusals().Item(it) }

// Selective reports whether any author, tag or language is refused, as
// [Profile.Selective] does.
func (r *Refusals) Selective() bool { return len(r.authors)+len(r.tags) > 0 || !r.langs.All() }
