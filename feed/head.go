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
	rest, ok := bytes.CutPrefix(doc, []byte(`{"id":"`))
	if !ok {
		return h, false
	}
	id, rest, ok := cutString(rest)
	if !ok || len(id) == 0 {
		return h, false
	}
	h.group = id
	if tail, has := bytes.CutPrefix(rest, []byte(`,"group_id":"`)); has {
		if h.group, rest, ok = cutString(tail); !ok || len(h.group) == 0 {
			return h, false
		}
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"title":"`)); !ok {
		return h, false
	}
	if _, rest, ok = cutString(rest); !ok {
		return h, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"update_time":`)); !ok {
		return h, false
	}
	end := bytes.IndexAny(rest, ",}")
	if end < 0 || !plain(h.group) {
		return h, false
	}
	var err error
	h.updateTime, err = strconv.ParseInt(string(rest[:end]), 10, 64)
	h.rest = rest[end:]
	return h, err == nil
}

// beforeAuthor are the fields that may stand between the time and the author.
var beforeAuthor = [][]byte{[]byte(`,"summary":"`), []byte(`,"url":"`), []byte(`,"image_url":"`)}

var (
	authorField = []byte(`,"author_id":"`)
	authorName  = []byte(`author_id`)
)

// author reads the author where it is written in its place, or nowhere. ok is
// false where only decoding can tell.
func (h *head) author() (author []byte, ok bool) {
	rest := h.rest
	for _, field := range beforeAuthor {
		if tail, has := bytes.CutPrefix(rest, field); has {
			if _, rest, ok = cutString(tail); !ok {
				return nil, false
			}
		}
	}
	tail, has := bytes.CutPrefix(rest, authorField)
	if !has {
		// An escape could hide the name: then only decoding can tell.
		return nil, !bytes.Contains(rest, authorName) && bytes.IndexByte(rest, '\\') < 0
	}
	author, _, ok = cutString(tail)
	return author, ok && len(author) > 0 && plain(author)
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
