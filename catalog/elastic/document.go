package elastic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/internal/esindex"
)

// A document of ours ends with what no reader is given: the folded tags and the
// language, the traits, the tokens of title and summary, the popularity, and the sums of live
// popularity where it has some. What stands before is the item's own JSON, byte for
// byte. Tokens have no characters that JSON escapes. Where the index has no token
// fields there are none. A server that knows no folded tags takes them for two fields of
// the item and cuts off the rest, so in an upgrade it can change items, too.
const (
	titleMarker   = `,"` + esindex.DefaultTitleTokens + `":"`
	summaryMarker = `,"` + esindex.DefaultSummaryTokens + `":"`
	marker        = `,"` + esindex.DefaultPopularity + `":`
)

// seal ends a document of ours that is all but its last brace. live is the
// output of appendLive, or nothing.
func seal(s *esindex.Schema, own []byte, it *feed.Item, live []byte) []byte {
	own = appendTraits(appendFolded(own, s, it), s, it)
	if s.Source.TitleTokens != esindex.None {
		own = append(words.Append(append(own, titleMarker...), it.Title), '"')
		own = append(words.Append(append(own, summaryMarker...), it.Summary), '"')
	}
	own = strconv.AppendInt(append(own, marker...), it.Popularity(), 10)
	return append(append(own, live...), '}')
}

// encode writes an item as it is stored, with its live popularity.
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
	return seal(s, data[:len(data)-1], it, appendLive(nil, s, counts)), nil
}

// trait is a field of what a page is varied by.
type trait struct{ name, value string }

// traits are those that Freshet fills in, in the order they are written in: where
// the index has their fields, and the item their values. A site under a name of
// somebody else's is theirs to write.
func traits(s *esindex.Schema, it *feed.Item) []trait {
	t := it.Traits()
	list := make([]trait, 0, 3)
	for _, one := range []struct {
		field string
		trait
	}{
		{s.Traits.Site, trait{esindex.DefaultSite, t.Site}},
		{s.Traits.Tag, trait{esindex.FirstTag, t.Tag}},
		{s.Traits.Story, trait{esindex.Story, base64.RawURLEncoding.EncodeToString([]byte(t.Story))}},
	} {
		if one.field == one.name && one.value != "" {
			list = append(list, one.trait)
		}
	}
	return list
}

// appendTraits writes them as [cutTraits] reads them.
func appendTraits(data []byte, s *esindex.Schema, it *feed.Item) []byte {
	for _, t := range traits(s, it) {
		value, _ := json.Marshal(t.value) // a string can always be encoded
		data = append(append(data, `,"`+t.name+`":`...), value...)
	}
	return data
}

// cutTraits takes off the end what appendTraits has written there. A quote within
// a value is escaped, so a name between quotes that is followed by one string to
// the end is that of a field.
func cutTraits(doc []byte) []byte {
	for _, name := range []string{esindex.Story, esindex.FirstTag, esindex.DefaultSite} {
		field := []byte(`,"` + name + `":"`)
		if at := bytes.LastIndex(doc, field); at >= 0 && endsString(doc[at+len(field):]) {
			doc = doc[:at]
		}
	}
	return doc
}

// endsString reports whether the first quote that ends a string is the last byte.
func endsString(rest []byte) bool {
	i := 0
	for i < len(rest) && rest[i] != '"' {
		if rest[i] == '\\' {
			i++
		}
		i++
	}
	return i == len(rest)-1
}

// checkBusiness refuses business fields that would be taken for a field of
// the item, or lie inside one.
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

func physical(s *esindex.Schema) []string {
	n := &s.Source
	return []string{
		n.ID, n.GroupID, n.Title, n.UpdateTime, n.Summary, n.URL, n.ImageURL, n.AuthorID, n.Lang, n.Tags,
		n.Likes, n.Comments, n.Popularity, n.TitleTokens, n.SummaryTokens, esindex.DefaultSite, esindex.FirstTag, esindex.Story,
		esindex.FoldedTags, esindex.LangKeys, n.Sum2h, n.Epoch2h, n.Sum2d, n.Epoch2d,
	}
}
