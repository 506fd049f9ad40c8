package feed

import (
	"bytes"
	"encoding/json"
)

// FieldSet is a set of optional fields of an item; the bit of each is its index in optionalFields.
type FieldSet uint16

// optionalFields are the fields that an item may lack, with their zero values.
var optionalFields = [...]struct {
	name, zero string // as JSON
	unset      func(it *Item) bool
}{
	{`"group_id"`, `""`, func(it *Item) bool { return it.GroupID == "" }},
	{`"summary"`, `""`, func(it *Item) bool { return it.Summary == "" }},
	{`"url"`, `""`, func(it *Item) bool { return it.URL == "" }},
	{`"image_url"`, `""`, func(it *Item) bool { return it.ImageURL == "" }},
	{`"author_id"`, `""`, func(it *Item) bool { return it.AuthorID == "" }},
	{`"lang"`, `""`, func(it *Item) bool { return it.Lang == "" && len(it.Langs) == 0 }},
	{`"tags"`, `[]`, func(it *Item) bool { return len(it.Tags) == 0 }},
	{`"likes"`, `0`, func(it *Item) bool { return it.Likes == 0 }},
	{`"comments"`, `0`, func(it *Item) bool { return it.Comments == 0 }},
}

// sentZeros returns the fields that the JSON of an item has with their zero value. Few items have
// any, so it is parsed only if it contains the name of a field that is not set.
func sentZeros(it *Item, data []byte) (sent FieldSet) {
	var members map[string]json.RawMessage
	escaped := bytes.Contains(data, []byte(`\u005`)) || bytes.Contains(data, []byte(`\u006`)) || bytes.Contains(data, []byte(`\u007`)) // a name may be
	for i, f := range optionalFields {
		if !f.unset(it) || !escaped && !bytes.Contains(data, []byte(f.name)) {
			continue
		}
		if members == nil && json.Unmarshal(data, &members) != nil {
			return 0 // it was accepted with invalid UTF-8
		}
		value, ok := members[f.name[1:len(f.name)-1]]
		if ok && value[0] != 'n' {
			sent |= 1 << i
		}
	}
	return sent
}

// SetCounts sets the counts that are not nil, as sent.
func (it *Item) SetCounts(likes, comments *int64) {
	const sentLikes, sentComments FieldSet = 1 << 7, 1 << 8
	set := func(count *int64, to *int64, sent FieldSet) {
		if to == nil {
			return
		}
		*count, it.Sent = *to, it.Sent&^sent
		if *to == 0 {
			it.Sent |= sent
		}
	}
	set(&it.Likes, likes, sentLikes)
	set(&it.Comments, comments, sentComments)
}

// appendSent adds the fields that were sent with their zero value, and still have it, to an object.
func appendSent(object []byte, it *Item) []byte {
	object = object[:len(object)-1]
	for i, f := range optionalFields {
		if it.Sent&(1<<i) != 0 && f.unset(it) {
			object = append(append(append(append(object, ','), f.name...), ':'), f.zero...)
		}
	}
	return append(object, '}')
}
