package feed

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/freshet/freshet/feed/strictjson"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
)

// Bounds of a profile.
const (
	MaxInterests      = 200
	MaxInterestWeight = 100 // of an interest and of a keyword
	MaxKeywords       = 64
	MaxKeywordsLength = 1024 // total characters of all keywords: each may be a separate word, and search engines limit the words of a query
	MaxTags           = 64   // tags of one item
	MaxTermLength     = 256  // characters of a tag, keyword, author or language
	MaxMutes          = 1000 // muted authors; muted tags
	MaxMutedItems     = 10_000
	// MaxMutedItemsLength limits the total characters of all muted items: each refresh reads them
	// and sends them to recall.
	MaxMutedItemsLength = 512 << 10
)

var profileErrors = strictjson.Errors{"": Errorf(ErrInvalid, "bad profile"), "muted_items[]": Errorf(ErrInvalid, "bad profile: %w", ErrBadID)}

// Profile holds the interests and exclusions of an agent's reader. The zero Profile is for an
// unknown reader: it ranks by freshness alone. Nil lists are left out of the JSON, empty ones are
// not: in a merge patch an empty list removes all entries.
type Profile struct {
	Interests    map[string]float64 `json:"interests,omitzero"`     // tag → weight, 0 to 100; of two spellings of one tag the higher weight counts
	Keywords     []Keyword          `json:"keywords,omitzero"`      // matched in title and summary
	Langs        []string           `json:"langs,omitzero"`         // only these languages, compared as in package terms; empty means all
	MutedAuthors []string           `json:"muted_authors,omitzero"` // exclude items by these authors
	MutedTags    []string           `json:"muted_tags,omitzero"`    // exclude items with one of these tags
	// MutedItems are groups and ids that the reader has hidden, latest last. Storing a profile
	// with nil keeps the stored ones ([Profile.Replace]).
	MutedItems []string `json:"muted_items,omitzero"`
	// MutedWords exclude items with one of these words in the title, summary or a tag.
	MutedWords []MutedWord `json:"muted_words,omitzero"`
	// MutedUntil holds the ends of mutes in the lists above. [Profile.At] leaves out what has ended.
	MutedUntil MuteEnds `json:"muted_until,omitzero"`

	// Learned holds the interests inferred from the reader's acts. It is not part of the
	// declared profile or of its JSON.
	Learned Learned `json:"-"`
}

// ParseProfile decodes a profile strictly: unknown fields, trailing data and values out of bounds
// are errors that wrap [ErrInvalid]. The field "learned", which answers with a profile contain,
// is ignored.
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
	p.tidy()
	return p, nil
}

// tidy makes empty lists nil, which have the same meaning except for the muted items.
func (p *Profile) tidy() {
	if len(p.Interests) == 0 {
		p.Interests = nil
	}
	if len(p.Keywords) == 0 {
		p.Keywords = nil
	}
	for _, list := range []*[]string{&p.Langs, &p.MutedAuthors, &p.MutedTags} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	p.MutedWords = orNil(p.MutedWords)
	p.MutedUntil.tidy(p)
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
	if err := cmp.Or(checkMutedWords(p.MutedWords), p.MutedUntil.check()); err != nil {
		return err
	}
	return checkMutedItems(p.MutedItems)
}

func checkMutedItems(muted []string) error {
	if len(muted) > MaxMutedItems {
		return Errorf(ErrInvalid, "bad profile: %d muted_items, at most %d are allowed", len(muted), MaxMutedItems)
	}
	n := charactersOf(muted)
	if n > MaxMutedItemsLength {
		return Errorf(ErrInvalid, "bad profile: the muted_items have %d characters in total, at most %d are allowed", n, MaxMutedItemsLength)
	}
	for _, group := range muted {
		if err := CheckItemID(group); err != nil {
			return Errorf(ErrInvalid, "bad profile: muted_items: %w", err)
		}
	}
	return nil
}

// charactersOf returns the total length of ids, which are ASCII.
func charactersOf(ids []string) (n int) {
	for _, id := range ids {
		n += len(id)
	}
	return n
}

func checkTerm(where, term string) error {
	n := utf8.RuneCountInString(term)
	if n == 0 || n > MaxTermLength {
		return Errorf(ErrInvalid, "bad profile: an entry of %s has %d characters, 1 to %d are allowed", where, n, MaxTermLength)
	}
	return nil
}

// Replace replaces this profile by another one. Nil muted items keep the current ones, with their
// ends; an empty list removes them.
func (p *Profile) Replace(by Profile) {
	if by.MutedItems == nil {
		by.MutedItems, by.MutedUntil.Items = p.MutedItems, p.MutedUntil.Items
	}
	*p = by
}

// HasMutes reports whether the profile excludes any author, tag, language, word or single item.
func (p Profile) HasMutes() bool {
	return len(p.MutedAuthors)+len(p.MutedTags)+len(p.Langs)+len(p.MutedItems)+len(p.MutedWords) > 0
}

// MuteItems mutes groups and ids for ever, and reports whether that changed anything. One that is
// already muted keeps its position and loses its end. If there is no room for all of them, it adds none and returns
// an error that wraps [ErrLimit]: an item that was hidden must not come back because of others. It
// does not modify the list in place.
func (p *Profile) MuteItems(keys []string) (changed bool, err error) {
	known := setOf(p.MutedItems, itself)
	if known == nil {
		known = map[string]bool{}
	}
	muted := slices.Clip(p.MutedItems)
	for _, key := range keys {
		if !known[key] {
			muted, changed, known[key] = append(muted, key), true, true
		}
	}
	if changed && (len(muted) > MaxMutedItems || charactersOf(muted) > MaxMutedItemsLength) {
		return false, Errorf(ErrLimit, "the limit of %d muted items and groups, with %d characters in total, is reached; unmute some first", MaxMutedItems, MaxMutedItemsLength)
	}
	p.MutedItems = muted
	for _, key := range keys {
		if _, ends := p.MutedUntil.Items[key]; ends {
			changed = true
			p.MutedUntil.Items = maps.Clone(p.MutedUntil.Items)
			delete(p.MutedUntil.Items, key)
		}
	}
	if len(p.MutedUntil.Items) == 0 {
		p.MutedUntil.Items = nil
	}
	return changed, nil
}

// Hide is [Profile.MuteItems], but adds nothing if there is no room.
//
// Deprecated: use [Profile.MuteItems], which returns an error then.
func (p *Profile) Hide(keys []string) (changed bool) {
	changed, err := p.MuteItems(keys)
	return changed && err == nil
}

// SameMutes reports whether two profiles exclude the same items, regardless of the order of their
// lists.
func (p Profile) SameMutes(q Profile) bool {
	if !sameSet(p.MutedAuthors, q.MutedAuthors) || !sameSet(p.MutedItems, q.MutedItems) {
		return false
	}
	sameTags := sameSet(terms.FoldAll(p.MutedTags), terms.FoldAll(q.MutedTags))
	sameWords := sameSet(wordsOf(p.MutedWords), wordsOf(q.MutedWords))
	return sameTags && sameWords && terms.ReadLangs(p.Langs).Equal(terms.ReadLangs(q.Langs))
}

// wordsOf returns muted words in the form in which they are compared.
func wordsOf(muted []MutedWord) []string {
	all := make([]string, len(muted))
	for i, w := range muted {
		all[i] = strings.Join(words.Of(w.Term), " ")
	}
	return all
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// Refusals holds the mutes and languages of a profile, prepared for comparison with many items.
// Later changes of the profile do not affect it.
type Refusals struct {
	items   map[string]bool
	authors map[string]bool
	tags    map[string]bool // folded
	langs   terms.Langs

	phrases  map[string][]mutedPhrase // of muted words, by their first token
	wordTags map[string]string        // muted words by their form as a tag
}

// Refusals prepares the mutes and languages of the profile.
func (p Profile) Refusals() *Refusals {
	r := &Refusals{items: setOf(p.MutedItems, itself), langs: terms.ReadLangs(p.Langs)}
	r.authors = setOf(p.MutedAuthors, itself)
	r.tags = setOf(p.MutedTags, terms.Fold)
	r.phrases, r.wordTags = mutedPhrases(p.MutedWords)
	return r
}

func itself(text string) string { return text }

// setOf returns the set of the keys of texts; nil if there are none.
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

// Item reports whether the mutes or languages exclude the item. An item without a language passes
// every language filter; one in several languages passes if the reader reads one of them.
func (r *Refusals) Item(it *Item) bool {
	if r.Ref(Ref{ID: it.ID, Group: it.Group()}) {
		return true
	}
	if it.AuthorID != "" && r.authors[it.AuthorID] || slices.ContainsFunc(it.AuthorIDs, r.Author) {
		return true
	}
	_, tagged := r.Tag(it.Tags)
	_, worded := r.Word(it.Title, it.Summary, it.Tags)
	if tagged || worded {
		return true
	}
	return !r.langs.Take(it.Lang) || len(it.Langs) > 0 && !slices.ContainsFunc(it.Langs, r.langs.Take)
}

// Ref reports whether the reader has hidden the item or its group.
func (r *Refusals) Ref(ref Ref) bool {
	return r.items[ref.Group] || r.items[ref.ID]
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

// Refuses reports whether the profile's mutes or languages exclude the item; see [Refusals.Item].
func (p Profile) Refuses(it *Item) bool { return p.Refusals().Item(it) }

// Selective reports whether any author, tag, word or language is excluded, so that the content of an
// item is needed to decide whether it may be shown.
func (r *Refusals) Selective() bool {
	return len(r.authors)+len(r.tags)+len(r.phrases) > 0 || !r.langs.All()
}

// Refreshed reports whether the profile shows that its agent has refreshed a feed before, even if
// the session store has forgotten it: features are learned from acts on items that were shown.
func (p *Profile) Refreshed() bool { return len(p.Learned.Features) > 0 }
