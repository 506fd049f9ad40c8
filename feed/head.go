package feed

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Head returns the item's group and its update_time. Documents that begin as
// [Item.MarshalJSON] writes them are not decoded for that, because every item
// of every page is asked.
func (d Doc) Head() (group string, updateTime int64, err error) {
	if h, ok := readHead(d.JSON); ok {
		return string(h.group), h.updateTime, nil
	}
	if at, ok := postHead(d.JSON); ok {
		return d.ID, at, nil
	}
	it, err := d.Item()
	return it.Group(), it.UpdateTime, err
}

// Origin returns who wrote the item, nil where it does not say, and its
// update_time. It decodes no more than Head does. The author may share the
// document's memory.
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

// head is the beginning of a document.
type head struct {
	group      []byte
	updateTime int64
	rest       []byte // what follows the time
}

// readHead reads the first fields in the order they are written in: id,
// group_id where there is one, title, update_time. A field is there only once,
// so behind them is no other group_id.
func readHead(doc []byte) (h head, ok bool) {
	id, rest, ok := cutText(doc, `{"id":"`)
	h.group = id
	if group, after, has := cutText(rest, `,"group_id":"`); has {
		h.group, rest = group, after
	}
	_, rest, titled := cutText(rest, `,"title":"`)
	var timed bool
	h.updateTime, h.rest, timed = cutNumber(rest, `,"update_time":`)
	return h, ok && titled && timed && len(id) > 0 && len(h.group) > 0 && plain(h.group)
}

// author reads the author where it is written in its place, or nowhere. ok is
// false where only decoding can tell.
func (h *head) author() (author []byte, ok bool) {
	rest := h.rest
	for _, field := range [...]string{`,"summary":"`, `,"url":"`, `,"image_url":"`} { // those that may stand before it
		_, rest, _ = cutText(rest, field)
	}
	if author, _, ok = cutText(rest, `,"author_id":"`); ok {
		return author, len(author) > 0 && plain(author)
	}
	// An escape could hide the name: then only decoding can tell.
	return nil, rest != nil && !bytes.Contains(rest, []byte("author_id")) && bytes.IndexByte(rest, '\\') < 0
}

// cutText cuts off a field with a text that the document begins with. Where it begins
// otherwise, the rest is all of it; it is nil where the text does not end.
func cutText(doc []byte, name string) (text, rest []byte, ok bool) {
	after, ok := bytes.CutPrefix(doc, []byte(name))
	if !ok {
		return nil, doc, false
	}
	return cutString(after)
}

// cutNumber cuts off a field with a whole number that the document begins with.
func cutNumber(doc []byte, name string) (n int64, rest []byte, ok bool) {
	after, ok := bytes.CutPrefix(doc, []byte(name))
	end := bytes.IndexAny(after, ",}")
	if !ok || end < 0 {
		return 0, nil, false
	}
	n, err := strconv.ParseInt(string(after[:end]), 10, 64)
	return n, after[end:], err == nil
}

// plain reports whether decoding would leave a string as it is written.
func plain(s []byte) bool { return bytes.IndexByte(s, '\\') < 0 && utf8.Valid(s) }

// cutString returns what stands before the closing quote, and what follows it.
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
