package elastic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/internal/esindex"
)

// A document of ours ends with what no reader is given: the traits, the tokens of
// title and summary, the popularity, and the sums of live popularity where it has some. What stands before is the item's own JSON, byte for
// byte. Tokens have no characters that JSON escapes. Where the index has no token
// fields there are none.
const (
	titleMarker   = `,"` + esindex.DefaultTitleTokens + `":"`
	summaryMarker = `,"` + esindex.DefaultSummaryTokens + `":"`
	marker        = `,"` + esindex.DefaultPopularity + `":`
)

// seal ends a document of ours that is all but its last brace. live is the
// output of appendLive, or nothing.
func seal(s *esindex.Schema, own []byte, it *feed.Item, live []byte) []byte {
	own = appendTraits(own, s, it)
	if s.Source.TitleTokens != esindex.None {
		own = append(words.Append(append(own, titleMarker...), it.Title), '"')
		own = append(words.Append(append(own, summaryMarker...), it.Summary), '"')
	}
	own = strconv.AppendInt(append(own, marker...), it.Popularity(), 10)
	return append(append(own, live...), '}')
}

// encode writes an item as it is stored, with its live popularity.
func encode(s *esindex.Schema, it *feed.Item, counts feed.Counts) ([]byte, error) {
	if err := checkBusiness(s, it); err != nil {
		return nil, err
	}
	if !s.Mapped() {
		data, err := json.Marshal(it)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", feed.ErrBadItem, err)
		}
		return seal(s, data[:len(data)-1], it, appendLive(nil, s, counts)), nil
	}
	fields := make(map[string]any, 17+len(it.Business))
	for name, raw := range it.Business {
		fields[name] = raw
	}
	n := s.Source
	for _, f := range []struct {
		name, value string
	}{
		{n.GroupID, it.GroupID},
		{n.Title, it.Title},
		{n.Summary, it.Summary},
		{n.URL, it.URL},
		{n.ImageURL, it.ImageURL},
		{n.AuthorID, it.AuthorID},
		{n.Lang, it.Lang},
	} {
		if f.value != "" {
			fields[f.name] = f.value
		}
	}
	if len(it.Tags) > 0 {
		fields[n.Tags] = it.Tags
	}
	fields[n.TitleTokens] = string(words.Append(nil, it.Title))
	fields[n.SummaryTokens] = string(words.Append(nil, it.Summary))
	fields[n.UpdateTime] = s.Time.Stored(it.UpdateTime)
	// Popularity first: where it shares the field of likes or comments, that
	// field keeps the count it is named for.
	fields[n.Popularity] = it.Popularity()
	for name, count := range map[string]int64{n.Likes: it.Likes, n.Comments: it.Comments} {
		if count != 0 || name == n.Popularity {
			fields[name] = count
		}
	}
	for _, t := range traits(s, it) {
		fields[t.name] = t.value
	}
	for _, f := range liveFields(s, counts) {
		fields[f.name] = f.value
	}
	delete(fields, esindex.None)
	if !s.MetaID() {
		fields[n.ID] = it.ID
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", feed.ErrBadItem, err)
	}
	return data, nil
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
				return fmt.Errorf("%w: the business field %q collides with the field %q of the index; give it another name",
					feed.ErrBadItem, name, physical)
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
		n.Sum2h, n.Epoch2h, n.Sum2d, n.Epoch2d,
	}
}

// stored is a document as the JSON of an item.
type stored struct {
	json  json.RawMessage
	told  bool // its date and group are in the document; else only the index knows
	other bool // it may be of an item with another id: the document says so, or says nothing and only the index knows
}

// itemJSON gives a stored document back as the JSON of the item of that id.
func itemJSON(s *esindex.Schema, id string, source json.RawMessage) (stored, error) {
	if !s.ByOthers() {
		if own, _, ok := cutMarker(source); ok {
			return stored{json: own, told: true}, nil
		}
	}
	it, is, err := readItem(s, id, source)
	if err != nil {
		return stored{}, err
	}
	if is.json, err = json.Marshal(it); err != nil {
		return stored{}, fmt.Errorf("item %s: %w", id, err)
	}
	return is, nil
}

// cutMarker takes off what seal put at the end of a document. No other document
// looks like it: items may not have fields of these names, and one inside a
// business field is followed by two braces. live is the output of appendLive.
func cutMarker(source []byte) (own json.RawMessage, live []byte, ok bool) {
	rest, ok := bytes.CutSuffix(source, []byte("}"))
	if !ok {
		return nil, nil, false
	}
	rest, live = cutLive(rest)
	rest = bytes.TrimRight(rest, "0123456789")
	rest, ok = bytes.CutSuffix(rest, []byte(marker))
	if !ok {
		return nil, nil, false
	}
	if without, ok := cutTokens(rest, summaryMarker); ok {
		if without, ok = cutTokens(without, titleMarker); ok {
			rest = without
		}
	}
	rest = cutTraits(rest)
	own = make(json.RawMessage, 0, len(rest)+1)
	return append(append(own, rest...), '}'), live, true
}

// cutTokens takes a field of tokens off the end.
func cutTokens(doc []byte, marker string) ([]byte, bool) {
	doc, ok := bytes.CutSuffix(doc, []byte(`"`))
	if !ok {
		return nil, false
	}
	return bytes.CutSuffix(doc[:bytes.LastIndexByte(doc, '"')+1], []byte(marker))
}

// readItem rebuilds an item from a document, which may have been written by
// others: a value of another type than the item's is taken for what it most
// likely means, and left out where nothing comes to mind.
func readItem(s *esindex.Schema, id string, source json.RawMessage) (it feed.Item, is stored, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(source, &all); err != nil {
		return feed.Item{}, stored{}, fmt.Errorf("item %s: %w", id, err)
	}
	n := s.Source
	if n.Popularity != n.Likes && n.Popularity != n.Comments {
		take(all, n.Popularity) // ours alone: no reader is given it
	}
	take(all, n.TitleTokens)
	take(all, n.SummaryTokens)
	for _, name := range []string{esindex.DefaultSite, esindex.FirstTag, esindex.Story} {
		delete(all, name)
	}
	for _, name := range []string{n.Sum2h, n.Epoch2h, n.Sum2d, n.Epoch2d} {
		take(all, name)
	}
	it = feed.Item{
		ID: id, GroupID: group(values(all, n.GroupID)), Title: text(take(all, n.Title)),
		Summary: text(take(all, n.Summary)), URL: text(take(all, n.URL)), ImageURL: text(take(all, n.ImageURL)),
		AuthorID: text(take(all, n.AuthorID)), Lang: language(values(all, n.Lang)), Tags: values(all, n.Tags),
		Likes: count(take(all, n.Likes)), Comments: count(take(all, n.Comments)),
	}
	if ids := texts(take(all, n.ID)); s.ByOthers() && !s.MetaID() {
		is.other = (s.UntoldID || len(ids) > 0) && !slices.Contains(ids, id)
	}
	is.told = !s.Untold.Group
	if at := take(all, n.UpdateTime); at == nil || string(at) == "null" {
		is.told = is.told && !s.ByOthers() // the index may have a date by a null_value or copy_to
	} else if it.UpdateTime, err = s.Time.FromSource(at); err != nil {
		is.told = false
	}
	for name, value := range all {
		// What others keep under a name of ours would stand twice in the item, or
		// pass for what an answer says.
		if logical[strings.ToLower(name)] || value == nil {
			delete(all, name)
		}
	}
	if len(all) > 0 {
		it.Business = all
	}
	return it, is, nil
}

// group is the group of an item: of several values the first in the order of their bytes,
// which a search reads, too.
func group(all []string) string {
	list := slices.DeleteFunc(all, func(one string) bool { return len(one) > feed.MaxItemID })
	if len(list) == 0 {
		return ""
	}
	return slices.Min(list)
}

// language is that of an item. One in several passes every language, as does one without:
// a search knows which it is in.
func language(all []string) string {
	if len(all) != 1 {
		return ""
	}
	return all[0]
}

// values are all values of a field, in whichever form a document has them: a name with dots,
// objects, or both.
func values(doc map[string]json.RawMessage, name string) (all []string) {
	for v := take(doc, name); v != nil; v = take(doc, name) {
		all = append(all, texts(v)...)
	}
	return all
}

// logical are the names an item's own fields have in its JSON, and the one that
// answers add.
var logical = func() map[string]bool {
	names := map[string]bool{feed.InFeed: true}
	s := esindex.OwnSchema(esindex.Fields{})
	for _, name := range physical(&s) {
		names[name] = true
	}
	return names
}()

// take removes a field from a document and answers its value, nil if there is
// none. The name of an inner field may be written with dots or as objects; in a list of
// objects it has a list of values.
func take(doc map[string]json.RawMessage, name string) json.RawMessage {
	if v, ok := doc[name]; ok {
		delete(doc, name)
		return v
	}
	head, tail, inner := strings.Cut(name, ".")
	if !inner || doc[head] == nil {
		return nil
	}
	v, rest := takeWithin(doc[head], tail)
	switch {
	case v == nil:
	case rest == nil:
		delete(doc, head)
	default:
		doc[head] = rest
	}
	return v
}

// takeWithin takes a field out of an object, or of each object of a list. rest is the
// remainder; nil: nothing.
func takeWithin(value json.RawMessage, name string) (v, rest json.RawMessage) {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil {
		if v = take(object, name); v == nil {
			return nil, value
		}
		if len(object) > 0 {
			rest, _ = json.Marshal(object) // what was decoded can be encoded
		}
		return v, rest
	}
	var list, values, others []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return nil, value
	}
	for _, one := range list {
		found, left := takeWithin(one, name)
		if found != nil {
			values = append(values, found)
		}
		if left != nil {
			others = append(others, left)
		}
	}
	if len(values) == 0 {
		return nil, value
	}
	v, _ = json.Marshal(values)
	if len(others) > 0 {
		rest, _ = json.Marshal(others)
	}
	return v, rest
}

func text(v json.RawMessage) string {
	list := texts(v)
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// texts reads a string, a number or a list of them.
func texts(v json.RawMessage) []string {
	if len(v) == 0 {
		return nil
	}
	switch v[0] {
	case '"':
		var s string
		if json.Unmarshal(v, &s) != nil {
			return nil
		}
		return []string{s}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(v, &list) != nil {
			return nil
		}
		var all []string
		for _, one := range list {
			all = append(all, texts(one)...)
		}
		return all
	case 'n', '{':
		return nil
	}
	return []string{string(v)}
}

// count reads a number that may be written as a string.
func count(v json.RawMessage) int64 {
	s := text(v)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return max(0, n)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= 1<<53) {
		return 0
	}
	return int64(f)
}
