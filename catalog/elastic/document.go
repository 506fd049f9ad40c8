package elastic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/internal/esindex"
)

// field is a field of a document and its value; nil: it has none any more.
type field struct {
	name  string
	value any
}

// A document of ours ends with what no reader is given: the folded tags and the language, the
// traits, the tokens of title and summary, the popularity, and the sums of live popularity
// where it has some. What stands before is the item's own JSON, byte for byte.

// seal ends a document of ours that is all but its last brace.
func seal(s *esindex.Schema, own []byte, it *feed.Item, counts feed.Counts) []byte {
	fields := made(s, it)
	if s.Source.TitleTokens != esindex.None {
		fields = append(fields, tokens(esindex.DefaultTitleTokens, it.Title), tokens(esindex.DefaultSummaryTokens, it.Summary))
	}
	fields = append(fields, field{esindex.DefaultPopularity, it.Popularity()})
	return append(appendFields(own, append(fields, liveFields(s, counts)...)), '}')
}

func tokens(name, text string) field { return field{name, string(words.Append(nil, text))} }

// appendFields writes fields as [cutField] reads them.
func appendFields(data []byte, fields []field) []byte {
	for _, f := range fields {
		value, _ := json.Marshal(f.value) // numbers, strings and lists of strings can always be encoded
		data = append(append(data, `,"`+f.name+`":`...), value...)
	}
	return data
}

// cutField takes a field of that name off the end of a document. A quote within a value is
// escaped, so a name between quotes that is followed by one value to the end is that of a
// field.
func cutField(doc []byte, name string) (rest []byte, ok bool) {
	mark := []byte(`,"` + name + `":`)
	at := bytes.LastIndex(doc, mark)
	if at < 0 || !json.Valid(doc[at+len(mark):]) {
		return doc, false
	}
	return doc[:at], true
}

// cutSeal takes off what seal put at the end of a document. No other document looks like it:
// items may not have fields of these names. live are the fields of live popularity.
func cutSeal(source []byte) (own json.RawMessage, live []byte, ok bool) {
	whole, ok := bytes.CutSuffix(source, []byte("}"))
	if !ok {
		return nil, nil, false
	}
	rest := whole
	for _, name := range []string{esindex.DefaultEpoch2d, esindex.DefaultSum2d, esindex.DefaultEpoch2h, esindex.DefaultSum2h} {
		rest, _ = cutField(rest, name)
	}
	live = whole[len(rest):]
	if rest, ok = cutField(rest, esindex.DefaultPopularity); !ok {
		return nil, nil, false
	}
	for _, name := range []string{
		esindex.DefaultSummaryTokens, esindex.DefaultTitleTokens, esindex.Story, esindex.FirstTag, esindex.DefaultSite, esindex.LangKeys, esindex.FoldedTags,
	} {
		rest, _ = cutField(rest, name)
	}
	own = make(json.RawMessage, 0, len(rest)+1)
	return append(append(own, rest...), '}'), live, true
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
	return seal(s, data[:len(data)-1], it, counts), nil
}

// made are the fields of what items are compared and pages varied by, in the order they are
// written in: where the index has them, and the item their values. A site under a name of
// somebody else's is theirs to write.
func made(s *esindex.Schema, it *feed.Item) (list []field) {
	if s.Folds() {
		if len(it.Tags) > 0 {
			list = append(list, field{esindex.FoldedTags, terms.FoldAll(it.Tags)})
		}
		langs := terms.LangKeys(it.Lang)
		if len(langs) == 0 {
			langs = []string{esindex.AnyLang}
		}
		list = append(list, field{esindex.LangKeys, langs})
	}
	t := it.Traits()
	for _, one := range []struct{ mapped, name, value string }{
		{s.Traits.Site, esindex.DefaultSite, t.Site},
		{s.Traits.Tag, esindex.FirstTag, t.Tag},
		{s.Traits.Story, esindex.Story, base64.RawURLEncoding.EncodeToString([]byte(t.Story))},
	} {
		if one.mapped == one.name && one.value != "" {
			list = append(list, field{one.name, one.value})
		}
	}
	return list
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
