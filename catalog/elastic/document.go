package elastic

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/internal/esindex"
)

// change is a new value of a field; nil removes the field.
type change struct {
	name  string
	value any
}

// encode returns the stored document of an item, with its live popularity. A document of ours
// ends with fields that are not part of the item: the [derived] fields, the tokens of title and
// summary, the popularity, and the sums of live popularity if there are any. The part before
// them is the item's own JSON, byte for byte; [ownAt] finds its end. An older server without
// folded tags treats them as two fields of the item and cuts off the rest, so it can still
// change items during an upgrade.
func encode(s *esindex.Schema, it *feed.Item, counts feed.Counts) ([]byte, error) {
	if s.Mapped() {
		return encodeOver(s, []byte("{}"), new(feed.Item), it, counts)
	}
	if err := checkBusiness(s, it); err != nil {
		return nil, err
	}
	data, err := json.Marshal(it)
	if err != nil {
		return nil, feed.Errorf(feed.ErrInvalid, "bad item: %w", err)
	}
	n, fields := &s.Source, derived(s, it)
	if n.TitleTokens != esindex.None {
		fields = append(fields, change{n.TitleTokens, tokens(it.Title)}, change{n.SummaryTokens, tokens(it.Summary)})
	}
	fields = append(fields, change{n.Popularity, it.Popularity()})
	return seal(data[:len(data)-1], append(fields, liveFields(s, counts)...)), nil
}

func tokens(text string) string { return string(words.Append(nil, text)) }

// seal completes a document that lacks its last brace with fields of ours.
func seal(doc []byte, fields []change) []byte {
	for _, f := range fields {
		value, _ := json.Marshal(f.value) // strings and numbers can always be encoded
		doc = append(append(doc, `,"`+f.name+`":`...), value...)
	}
	return append(doc, '}')
}

// ownAt returns the offset in a document of the fields that [seal] appended. It returns -1 if
// the document does not end with them as written by [encode]: a server that does not know all
// of them rewrote the item, or somebody edited the document and left whitespace in it.
func ownAt(doc []byte) int {
	at, depth, last, before := -1, 0, 0, 0 // before is the rank of the previous field of ours
	for i := 0; i < len(doc); i++ {
		here := i
		switch doc[i] {
		case ' ', '\n', '\r', '\t':
			return -1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			i++
			for ; doc[i] != '"'; i++ {
				if doc[i] == '\\' {
					i++
				}
			}
			if depth != 1 || doc[last] == ':' {
				break // not a field name
			}
			rank := added[string(doc[here+1:i])]
			switch {
			case rank == 0 && at < 0:
			case rank == 0, doc[last] == '{', !mayFollow(rank, before):
				return -1
			case at < 0:
				at = last
			}
			before = rank
		}
		last = here // index of the previous byte
	}
	switch before {
	case popularityRank, sumsRank, actsRank, moreRank:
		return at
	}
	return -1
}

// mayFollow reports whether a field of ours may come after another one in a document of ours.
func mayFollow(rank, before int) bool {
	if rank == moreRank && before == moreRank {
		return true
	}
	return rank == before+1 || max(rank, before+1) <= popularityRank
}

// derived returns the fields that Freshet computes from an item, if the index has them and the
// item has values: the folded tags and languages for matching, and the traits for varying a
// page. The language field is always written, so a document without it was written before the
// field existed. A site field with a foreign name is not written.
func derived(s *esindex.Schema, it *feed.Item) (all []change) {
	if s.Folds() {
		if len(it.Tags) > 0 {
			all = append(all, change{esindex.FoldedTags, terms.FoldAll(it.Tags)})
		}
		langs := terms.LangKeys(it.Lang)
		if len(langs) == 0 {
			langs = []string{esindex.AnyLang}
		}
		all = append(all, change{esindex.LangKeys, langs})
	}
	t := it.Traits()
	for _, one := range []struct{ field, name, value string }{
		{s.Traits.Site, esindex.DefaultSite, t.Site},
		{s.Traits.Tag, esindex.FirstTag, t.Tag},
		{s.Traits.Story, esindex.Story, base64.RawURLEncoding.EncodeToString([]byte(t.Story))},
	} {
		if one.field == one.name && one.value != "" {
			all = append(all, change{one.name, one.value})
		}
	}
	return all
}

// checkBusiness rejects business fields that collide with a field of the item.
func checkBusiness(s *esindex.Schema, it *feed.Item) error {
	for name := range it.Business {
		head, _, _ := strings.Cut(name, ".")
		for _, physical := range physical(s) {
			if name == physical || head == physical || strings.HasPrefix(physical, name+".") {
				return feed.Errorf(feed.ErrInvalid, "bad item: the business field %q collides with the field %q of the index; give it another name", name, physical)
			}
		}
	}
	return nil
}

// ours returns the fields of a document that are not returned to readers.
func ours(s *esindex.Schema) []string {
	n := &s.Source
	return append([]string{
		n.Popularity, n.TitleTokens, n.SummaryTokens, esindex.DefaultSite, esindex.FirstTag, esindex.Story,
		esindex.FoldedTags, esindex.LangKeys, n.Sum2h, n.Epoch2h, n.Sum2d, n.Epoch2d,
		n.LastAct, n.Count2h, n.Count2d,
	}, esindex.AllMoreFields...)
}

// physical returns all fields of a document except the business fields.
func physical(s *esindex.Schema) []string {
	n := &s.Source
	return append(ours(s), n.ID, n.GroupID, n.Title, n.UpdateTime, n.Summary, n.URL, n.ImageURL, n.AuthorID, n.Lang, n.Tags, n.Likes, n.Comments)
}

// Ranks of our fields, in their order in a document: the fields before the popularity are in
// any order, and after it come the sums, and after them the latest act, all of each or none, and after
// it any of the fields of further half-lives.
const (
	firstRank = 1 + iota
	popularityRank
	sumsRank = popularityRank + 4
	actsRank = sumsRank + 3
	moreRank = actsRank + 1
)

// For an index of our own, added maps our field names to their ranks, and logical holds all
// field names in an item's JSON, including the one added to responses.
var added, logical = func() (map[string]int, map[string]bool) {
	s := esindex.OwnSchema(esindex.Fields{})
	n, added, logical := &s.Source, map[string]int{}, map[string]bool{feed.InFeed: true}
	for _, name := range ours(&s) {
		added[name] = firstRank
	}
	for i, name := range []string{n.Popularity, n.Sum2h, n.Epoch2h, n.Sum2d, n.Epoch2d, n.LastAct, n.Count2h, n.Count2d} {
		added[name] = popularityRank + i
	}
	for _, name := range esindex.AllMoreFields {
		added[name] = moreRank
	}
	for _, name := range physical(&s) {
		logical[name] = true
	}
	return added, logical
}()
