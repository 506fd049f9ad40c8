package feed

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Head returns the item's group and its update_time. Documents that begin as [Item.MarshalJSON]
// writes them are not decoded for this, because it is called for every item of every page.
func (d Doc) Head() (group string, updateTime int64, err error) {
	if h, ok := readHead(d.JSON); ok {
		if string(h.group) == d.ID { // most items are their own group, and a comparison copies nothing
			return d.ID, h.updateTime, nil
		}
		return string(h.group), h.updateTime, nil
	}
	if at, ok := postHead(d.JSON); ok {
		return d.ID, at, nil
	}
	it, err := d.Item()
	return it.Group(), it.UpdateTime, err
}

// Origin returns the item's author, nil if it has none, and its update_time. It decodes no more
// than Head does. The author may share the document's memory.
func (d Doc) Origin() (author []byte, updateTime int64, err error) {
	if h, ok := readHead(d.JSON); ok {
		if author, ok := h.author(); ok {
			return author, h.updateTime, nil
		}
	}
	it, err := d.Item()
	if it.AuthorID != "" {
		author = []byte(it.AuthorID)
	}
	return author, it.UpdateTime, err
}

// head is the beginning of a document, parsed.
type head struct {
	group      []byte
	updateTime int64
	rest       []byte // the document after the time
}

// readHead reads the first fields in the order in which they are written: id, group_id if
// present, title, update_time. A field occurs only once, so no other group_id follows.
func readHead(doc []byte) (h head, ok bool) {
	id, rest, ok := cutText(doc, `{"id":"`)
	h.group = id
	group, after, has := cutText(rest, `,"group_id":"`)
	if has {
		h.group, rest = group, after
	}
	_, rest, titled := cutText(rest, `,"title":"`)
	var timed bool
	h.updateTime, h.rest, timed = cutNumber(rest, `,"update_time":`)
	complete := ok && titled && timed
	named := len(id) > 0 && len(h.group) > 0
	return h, complete && named && plain(h.group)
}

// author returns the author if the field is in its usual place or absent. ok is false if only
// decoding can find it.
func (h *head) author() (author []byte, ok bool) {
	rest := h.rest
	for _, field := range [...]string{`,"summary":"`, `,"url":"`, `,"image_url":"`} { // fields that may precede it
		_, rest, _ = cutText(rest, field)
	}
	author, _, ok = cutText(rest, `,"author_id":"`)
	if ok {
		return author, len(author) > 0 && plain(author)
	}
	// An escape could hide the field name; then the document must be decoded.
	return nil, rest != nil && !bytes.Contains(rest, []byte("author_id")) && bytes.IndexByte(rest, '\\') < 0
}

// cutText splits off a leading text field. If the document begins differently, rest is the whole
// document; if the text is not terminated, rest is nil.
func cutText(doc []byte, name string) (text, rest []byte, ok bool) {
	after, ok := bytes.CutPrefix(doc, []byte(name))
	if !ok {
		return nil, doc, false
	}
	return cutString(after)
}

// cutNumber splits off a leading field with a whole number.
func cutNumber(doc []byte, name string) (n int64, rest []byte, ok bool) {
	after, ok := bytes.CutPrefix(doc, []byte(name))
	end := bytes.IndexAny(after, ",}")
	if !ok || end < 0 {
		return 0, nil, false
	}
	n, err := strconv.ParseInt(string(after[:end]), 10, 64)
	return n, after[end:], err == nil
}

// plain reports whether decoding leaves the string unchanged.
func plain(s []byte) bool { return bytes.IndexByte(s, '\\') < 0 && utf8.Valid(s) }

// cutString returns the text before the closing quote and the rest after it.
func cutString(b []byte) (inner, rest []byte, ok bool) {
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], '"')
		if i < 0 {
			return nil, nil, false
		}
		i += from
		escapes := 0
		for escapes < i && b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return b[:i], b[i+1:], true
		}
		from = i + 1
	}
}
