package feed

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/strictjson"
)

// Bounds of a profile.
const (
	MaxInterests      = 200
	MaxInterestWeight = 100 // of an interest and of a keyword
	MaxKeywords       = 64
	MaxKeywordsLength = 1024 // characters of all keywords: each may be a word of its own, and a search engine takes only so many
	MaxTags           = 64   // tags of one item
	MaxTermLength     = 256  // characters of a tag, keyword, author or language
	MaxMutes          = 1000 // muted authors, muted tags, and muted items
)

var profileErrors = strictjson.Errors{"": Errorf(ErrInvalid, "bad profile"), "muted_items[]": Errorf(ErrInvalid, "bad profile: %w", ErrBadID)}

// Profile holds what an agent's reader likes and refuses. The zero Profile is for an
// unknown reader: it ranks by freshness alone.
type Profile struct {
	Interests    map[string]float64 `json:"interests,omitempty"`     // tag → weight, 0 to 100; of two spellings of one tag the higher
	Keywords     []Keyword          `json:"keywords,omitempty"`      // looked for in title and summary
	Langs        []string           `json:"langs,omitempty"`         // only these languages, as package terms compares them; empty: all
	MutedAuthors []string           `json:"muted_authors,omitempty"` // never items of these authors
	MutedTags    []string           `json:"muted_tags,omitempty"`    // never items with one of these tags
	// MutedItems are groups and ids that the reader has hidden, the latest last. A
	// profile that is put with nil keeps the stored ones ([Profile.Replace]).
	MutedItems []string `json:"muted_items,omitzero"`

	// Learned holds the interests inferred from the reader's acts. It is not part of the
	// declared profile or of its JSON.
	Learned Learned `json:"-"`
}

// ParseProfile reads a profile strictly: unknown fields, trailing data and
// values out of bounds are errors that wrap [ErrInvalid]. A field "learned", which
// profiles have when they are read, is left out.
func ParseProfile(data []byte) (Profile, error) {
	var declared struct {
		Profile
		Keywords []declaredKeyword `json:"keywords"`
		Learned  json.RawMessage   `json:"learned"`
	}
	if err := strictjson.Unmarshal(data, &declared, profileErrors); err != nil {
		return Profile{}, err
	}
	p := declared.Profile
	if declared.Keywords != nil {
		p.Keywords = make([]Keyword, len(declared.Keywords))
	}
	for i, k := range declared.Keywords {
		p.Keywords[i] = Keyword(k)
	}
	if err := p.Validate(); err != nil {
		return Profile{}, err
	}
	return p, nil
}

// Validate checks the bounds; the error wraps [ErrInvalid].
func (p Profile) Validate() error {
	if len(p.Interests) > MaxInterests {
		return Errorf(ErrInvalid, "bad profile: %d interests, at most %d are allowed", len(p.Interests), MaxInterests)
	}
	for tag, w := range p.Interests {
		if err := checkTerm("interests", tag); err != nil {
			return err
		}
		if !(w >= 0 && w <= MaxInterestWeight) {
			return Errorf(ErrInvalid, "bad profile: the weight of interest %q must be 0 to %d, not %v", tag, MaxInterestWeight, w)
		}
	}
	for _, list := range []struct {
		name  string
		terms []string
		most  int
	}{
		{"langs", p.Langs, MaxKeywords},
		{"muted_authors", p.MutedAuthors, MaxMutes},
		{"muted_tags", p.MutedTags, MaxMutes},
	} {
		if len(list.terms) > list.most {
			return Errorf(ErrInvalid, "bad profile: %d %s, at most %d are allowed", len(list.terms), list.name, list.most)
		}
		for _, term := range list.terms {
			if err := checkTerm(list.name, term); err != nil {
				return err
			}
		}
	}
	if err := checkKeywords(p.Keywords); err != nil {
		return err
	}
	if len(p.MutedItems) > MaxMutes {
		return Errorf(ErrInvalid, "bad profile: %d muted_items, at most %d are allowed", len(p.MutedItems), MaxMutes)
	}
	for _, group := range p.MutedItems {
		if err := CheckItemID(group); err != nil {
			return Errorf(ErrInvalid, "bad profile: muted_items: %w", err)
		}
	}
	return nil
}

func checkTerm(where, term string) error {
	if n := utf8.RuneCountInString(term); n == 0 || n > MaxTermLength {
		return Errorf(ErrInvalid, "bad profile: an entry of %s has %d characters, 1 to %d are allowed", where, n, MaxTermLength)
	}
	return nil
}

// Replace puts another profile in the place of this one. With nil muted items it keeps
// those of this one; an empty list takes them away.
func (p *Profile) Replace(by Profile) {
	if by.MutedItems == nil {
		by.MutedItems = p.MutedItems
	}
	*p = by
}

// HasMutes reports whether the profile refuses any author, tag, language or
// single item.
func (p Profile) HasMutes() bool {
	return len(p.MutedAuthors)+len(p.MutedTags)+len(p.Langs)+len(p.MutedItems) > 0
}

// Hide adds groups and ids to the muted items; beyond [MaxMutes] the oldest are
// removed. One that is already muted keeps its place. It reports whether anything
// changed, and does not modify the list in place.
func (p *Profile) Hide(keys []string) (changed bool) {
	muted := slices.Clip(p.MutedItems)
	for _, key := range keys {
		if !slices.Contains(muted, key) {
			muted, changed = append(muted, key), true
		}
	}
	p.MutedItems = muted[max(0, len(muted)-MaxMutes):]
	return changed
}

// SameMutes reports whether two profiles refuse the same items, whatever the
// order their lists are written in.
func (p Profile) SameMutes(q Profile) bool {
	return sameSet(p.MutedAuthors, q.MutedAuthors) && sameSet(terms.FoldAll(p.MutedTags), terms.FoldAll(q.MutedTags)) &&
		terms.ReadLangs(p.Langs).Equal(terms.ReadLangs(q.Langs)) && sameSet(p.MutedItems, q.MutedItems)
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

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
	r.authors = setOf(p.MutedAuthors, func(author string) string { return author })
	r.tags = setOf(p.MutedTags, terms.Fold)
	return r
}

// setOf is the set of keys of texts; nil of none.
func setOf(texts []string, key func(string) string) map[string]bool {
	if len(texts) == 0 {
		return nil
	}
	set := make(map[string]bool, len(texts))
	for _, text := range texts {
		set[key(text)] = true
	}
	return set
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
func (r *Refusals) Ref(ref Ref) bool {
	return slices.Contains(r.items, ref.Group) || ref.ID != ref.Group && slices.Contains(r.items, ref.ID)
}

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

// Selective reports whether any author, tag or language is refused: only the content of an
// item tells then whether it may be shown.
func (r *Refusals) Selective() bool { return len(r.authors)+len(r.tags) > 0 || !r.langs.All() }
