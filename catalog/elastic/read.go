package elastic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// stored is a document converted to the JSON of an item.
type stored struct {
	json     json.RawMessage
	complete bool // its date and group are in the document; else only the index has them
	other    bool // it may be of an item with another id: the document says so, or only the index has the id
}

// itemJSON converts a stored document to the JSON of the item with that id.
func itemJSON(s *esindex.Schema, id string, source json.RawMessage) (stored, error) {
	at := ownAt(source)
	if at >= 0 && !s.ByOthers() {
		return stored{json: append(append(make(json.RawMessage, 0, at+1), source[:at]...), '}'), complete: true}, nil
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

// readItem rebuilds an item from a document, which others may have written: a value of an
// unexpected type is converted in the most likely way, and dropped if there is none.
func readItem(s *esindex.Schema, id string, source json.RawMessage) (it feed.Item, is stored, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(source, &all); err != nil {
		return feed.Item{}, stored{}, fmt.Errorf("item %s: %w", id, err)
	}
	n := s.Source
	fields := fieldsOf{doc: all, taken: map[string][]json.RawMessage{}}
	for _, name := range ours(s) {
		fields.all(name)
	}
	it = feed.Item{
		ID: id, GroupID: group(fields.texts(n.GroupID)), Title: fields.text(n.Title),
		Summary: fields.text(n.Summary), URL: fields.text(n.URL), ImageURL: fields.text(n.ImageURL),
		Tags: fields.texts(n.Tags), Likes: count(fields.text(n.Likes)), Comments: count(fields.text(n.Comments)),
	}
	it.AuthorID, it.AuthorIDs = first(fields.texts(n.AuthorID))
	it.Lang, it.Langs = first(fields.texts(n.Lang))
	if len(it.Langs) > 0 {
		it.Lang = "" // an item in several languages is for readers of any of them
	}
	ids := fields.texts(n.ID)
	if s.ByOthers() && !s.MetaID() {
		is.other = s.UntoldID
		if len(ids) > 0 {
			is.other = slices.Min(ids) != id // of several ids the lowest is the item's, as in a search
		}
	}
	is.complete = s.Untold&esindex.ByGroup == 0
	at := fields.all(n.UpdateTime)
	if len(at) == 0 || string(at[0]) == "null" {
		is.complete = is.complete && !s.ByOthers() // the index may have a date from a null_value or copy_to
	} else if it.UpdateTime, err = s.Time.FromSource(at[0]); err != nil {
		is.complete = false
	}
	for name, value := range all {
		// A foreign field with one of our names would be duplicated in the item, or be mistaken
		// for a field that responses add.
		if logical[strings.ToLower(name)] || value == nil {
			delete(all, name)
		}
	}
	if len(all) > 0 {
		it.Business = all
	}
	return it, is, nil
}

// group returns the group of an item: of several values the lowest in byte order, as in a
// search.
func group(all []string) string {
	list := slices.DeleteFunc(all, func(one string) bool { return len(one) > feed.MaxItemID })
	if len(list) == 0 {
		return ""
	}
	return slices.Min(list)
}

// first returns the first value of a field, and all of them if there are several.
func first(values []string) (string, []string) {
	switch len(values) {
	case 0:
		return "", nil
	case 1:
		return values[0], nil
	}
	return values[0], values
}

// fieldsOf removes fields from a document and remembers their values, because two fields of the
// item may be the same field of the document.
type fieldsOf struct {
	doc   map[string]json.RawMessage
	taken map[string][]json.RawMessage
}

// all returns the values of a field in each form that it has in the document: a name with dots,
// nested objects, or both.
func (f fieldsOf) all(name string) (all []json.RawMessage) {
	if taken, ok := f.taken[name]; ok {
		return taken
	}
	for v := take(f.doc, name); v != nil; v = take(f.doc, name) {
		all = append(all, v)
	}
	f.taken[name] = all
	return all
}

func (f fieldsOf) texts(name string) (list []string) {
	for _, v := range f.all(name) {
		list = append(list, texts(v)...)
	}
	return list
}

func (f fieldsOf) text(name string) string {
	value, _ := first(f.texts(name))
	return value
}

// take removes a field from a document and returns its value, nil if there is none. The name of
// a nested field may be written with dots, as objects, or as both; in a list of objects the
// value is the list of their values.
func take(doc map[string]json.RawMessage, name string) json.RawMessage {
	if v, ok := doc[name]; ok {
		delete(doc, name)
		return v
	}
	for i := range len(name) {
		if name[i] != '.' || doc[name[:i]] == nil {
			continue
		}
		v, rest := takeWithin(doc[name[:i]], name[i+1:])
		if v == nil {
			continue
		}
		if rest == nil {
			delete(doc, name[:i])
		} else {
			doc[name[:i]] = rest
		}
		return v
	}
	return nil
}

// takeWithin removes a field from an object, or from each object of a list. rest is the
// remainder, nil if it is empty.
func takeWithin(value json.RawMessage, name string) (v, rest json.RawMessage) {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil {
		v = take(object, name)
		if v == nil {
			return nil, value
		}
		if len(object) > 0 {
			rest, _ = json.Marshal(object) // decoded values can always be encoded
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

// texts returns a string, a number or a list of them as strings.
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

// count parses a number that may be written as a string.
func count(s string) int64 {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return max(0, n)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= 1<<53) {
		return 0
	}
	return int64(f)
}
