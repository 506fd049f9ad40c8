package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// UnmarshalJSON reads the known fields and keeps the others in Business. It
// refuses a field that is there twice, because which of the two is meant is
// anybody's guess, and does not validate otherwise.
//
// It walks the document once: reading every item twice, for the known fields
// and for the others, is what starting with a large catalog would wait for.
func (it *Item) UnmarshalJSON(data []byte) error {
	if err := checkJSON(data); err != nil {
		return err
	}
	w := walker{data: data}
	if c := w.peek(); c != '{' {
		return fmt.Errorf("an item is a JSON object, not %s", kind(c))
	}
	w.pos++
	var out Item
	var seen uint16
	for w.peek() != '}' {
		name, err := readName(w.value())
		if err != nil {
			return err
		}
		w.peek()
		w.pos++ // the colon
		if err := out.set(name, w.value(), &seen); err != nil {
			return err
		}
		if w.peek() == ',' {
			w.pos++
		}
	}
	*it = out
	return nil
}

// checkJSON says where data is not one JSON value.
func checkJSON(data []byte) error {
	if json.Valid(data) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax) && syntax.Offset > 0:
		return fmt.Errorf("bad JSON at byte %d: %w", syntax.Offset, err)
	case err != nil:
		return fmt.Errorf("bad JSON: %w", err)
	}
	return errors.New("bad JSON")
}

// set reads one field; seen has a bit for each known field met so far.
func (it *Item) set(field, raw []byte, seen *uint16) error {
	var text *string
	var count *int64
	var bit uint16
	switch string(field) {
	case "id":
		bit, text = 1<<0, &it.ID
	case "group_id":
		bit, text = 1<<1, &it.GroupID
	case "title":
		bit, text = 1<<2, &it.Title
	case "update_time":
		bit, count = 1<<3, &it.UpdateTime
	case "summary":
		bit, text = 1<<4, &it.Summary
	case "url":
		bit, text = 1<<5, &it.URL
	case "image_url":
		bit, text = 1<<6, &it.ImageURL
	case "author_id":
		bit, text = 1<<7, &it.AuthorID
	case "lang":
		bit, text = 1<<8, &it.Lang
	case "tags":
		bit = 1 << 9
	case "likes":
		bit, count = 1<<10, &it.Likes
	case "comments":
		bit, count = 1<<11, &it.Comments
	default:
		return it.setBusiness(string(field), raw)
	}
	if *seen&bit != 0 {
		return fmt.Errorf("field %q is there twice", field)
	}
	*seen |= bit
	if raw[0] == 'n' { // null stands for an absent field, which only some may be
		if text == &it.ID || text == &it.Title || count == &it.UpdateTime {
			return fmt.Errorf("%s is null", field)
		}
		return nil
	}
	switch {
	case text != nil:
		return setText(field, raw, text)
	case count != nil:
		return setCount(field, raw, count)
	}
	return it.setTags(raw)
}

func (it *Item) setBusiness(name string, raw []byte) error {
	if lower := strings.ToLower(name); lower != name && knownField(lower) {
		return fmt.Errorf("field %q must be written %q", name, lower)
	}
	if _, ok := it.Business[name]; ok {
		return fmt.Errorf("field %q is there twice", name)
	}
	if it.Business == nil {
		it.Business = make(map[string]json.RawMessage)
	}
	it.Business[name] = bytes.Clone(raw)
	return nil
}

func knownField(name string) bool {
	switch name {
	case "id", "group_id", "title", "update_time", "summary", "url", "image_url", "author_id", "lang", "tags", "likes", "comments":
		return true
	}
	return false
}

func setText(name, raw []byte, to *string) (err error) {
	if raw[0] != '"' {
		return fmt.Errorf("%s must be a string, not %s", name, kind(raw[0]))
	}
	*to, err = readString(raw)
	return err
}

func setCount(name, raw []byte, to *int64) error {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		if k := kind(raw[0]); k != "a number" {
			return fmt.Errorf("%s must be a whole number, not %s", name, k)
		}
		return fmt.Errorf("%s must be a whole number, not %.40s", name, raw)
	}
	*to = n
	return nil
}

func (it *Item) setTags(raw []byte) error {
	if raw[0] != '[' {
		return fmt.Errorf("tags must be an array of strings, not %s", kind(raw[0]))
	}
	w := walker{data: raw, pos: 1}
	for w.peek() != ']' {
		v := w.value()
		if v[0] != '"' {
			return fmt.Errorf("tags must be an array of strings, one is %s", kind(v[0]))
		}
		tag, err := readString(v)
		if err != nil {
			return err
		}
		it.Tags = append(it.Tags, tag)
		if w.peek() == ',' {
			w.pos++
		}
	}
	return nil
}

// readName decodes a field's name. The result may share raw's memory.
func readName(raw []byte) ([]byte, error) {
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner, nil
	}
	name, err := readString(raw)
	return []byte(name), err
}

// readString decodes a JSON string, quotes included. The result is a copy.
func readString(raw []byte) (string, error) {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// kind names the type of the JSON value that starts with c.
func kind(c byte) string {
	switch c {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// walker finds where values begin and end. Its data is valid JSON: that is
// what lets it look at quotes and brackets alone.
type walker struct {
	data []byte
	pos  int
}

// peek goes to the next byte that is no space and returns it.
func (w *walker) peek() byte {
	for {
		switch c := w.data[w.pos]; c {
		case ' ', '\t', '\r', '\n':
			w.pos++
		default:
			return c
		}
	}
}

// value returns the value that starts here, or after spaces, and goes past it.
func (w *walker) value() []byte {
	first := w.peek()
	start := w.pos
	switch first {
	case '"':
		w.skipString()
	case '{', '[':
		w.skipNested()
	default:
		w.skipWord()
	}
	return w.data[start:w.pos]
}

// skipWord goes past a number, true, false or null.
func (w *walker) skipWord() {
	for ; w.pos < len(w.data); w.pos++ {
		switch w.data[w.pos] {
		case ' ', '\t', '\r', '\n', ',', ']', '}':
			return
		}
	}
}

func (w *walker) skipString() {
	for w.pos++; w.data[w.pos] != '"'; w.pos++ {
		if w.data[w.pos] == '\\' {
			w.pos++
		}
	}
	w.pos++
}

func (w *walker) skipNested() {
	for depth := 0; ; {
		switch w.data[w.pos] {
		case '"':
			w.skipString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		w.pos++
		if depth == 0 {
			return
		}
	}
}

// MarshalJSON writes the known fields in their order, then the business
// fields sorted by name.
func (it Item) MarshalJSON() ([]byte, error) {
	type plain Item
	known, err := json.Marshal(plain(it))
	if err != nil || len(it.Business) == 0 {
		return known, err
	}
	rest, err := json.Marshal(it.Business)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, len(known)+len(rest)))
	out.Write(known[:len(known)-1])
	out.WriteByte(',')
	out.Write(rest[1:])
	return out.Bytes(), nil
}
