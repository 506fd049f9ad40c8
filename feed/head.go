package feed

import (
	"bytes"
	"strconv"
)

// Head returns the item's group and its update_time. Documents that begin as
// [Item.MarshalJSON] writes them are not decoded for that, because every item
// of every page is asked.
func (d Doc) Head() (group string, updateTime int64, err error) {
	if group, updateTime, ok := readHead(d.JSON); ok {
		return group, updateTime, nil
	}
	it, err := d.Item()
	return it.Group(), it.UpdateTime, err
}

// readHead reads the first fields in the order they are written in: id,
// group_id where there is one, title, update_time. A field is there only once,
// so behind them is no other group_id.
func readHead(doc []byte) (group string, updateTime int64, ok bool) {
	rest, ok := bytes.CutPrefix(doc, []byte(`{"id":"`))
	if !ok {
		return "", 0, false
	}
	id, rest, ok := cutString(rest)
	if !ok || len(id) == 0 {
		return "", 0, false
	}
	name := id
	if tail, has := bytes.CutPrefix(rest, []byte(`,"group_id":"`)); has {
		if name, rest, ok = cutString(tail); !ok || len(name) == 0 {
			return "", 0, false
		}
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"title":"`)); !ok {
		return "", 0, false
	}
	if _, rest, ok = cutString(rest); !ok {
		return "", 0, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"update_time":`)); !ok {
		return "", 0, false
	}
	end := bytes.IndexAny(rest, ",}")
	if end < 0 || bytes.IndexByte(name, '\\') >= 0 {
		return "", 0, false
	}
	updateTime, err := strconv.ParseInt(string(rest[:end]), 10, 64)
	return string(name), updateTime, err == nil
}

// cutString returns what stands before the closing quote, and what follows it.
func cutString(b []byte) (inner, rest []byte, ok bool) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			return b[:i], b[i+1:], true
		case '\\':
			i++
		}
	}
	return nil, nil, false
}
