package feed

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/freshet/freshet/feed/strictjson"
)

// itemFields is an Item without its methods.
type itemFields Item

// itemText is the decoded form of an item: fields unknown to [Item] are business fields.
type itemText struct {
	itemFields
	Rest map[string]json.RawMessage `json:",embed"`
}

// item returns the item that data was decoded from.
func (t *itemText) item(data []byte) Item {
	t.Business = t.Rest
	if len(t.Tags) == 0 {
		t.Tags = nil
	}
	it := Item(t.itemFields)
	it.Sent = sentZeros(&it, data)
	return it
}

// parseItem decodes an item strictly, without validating it.
func parseItem(data []byte) (Item, error) {
	var text itemText
	if err := strictjson.Unmarshal(data, &text, strictjson.Errors{"": Errorf(ErrInvalid, "bad item")}); err != nil {
		return Item{}, err
	}
	if text.AuthorIDs != nil || text.Langs != nil {
		return Item{}, Errorf(ErrInvalid, "bad item: fields that begin with %s are reserved by Freshet; send author_id and lang instead", ownPrefix)
	}
	for name := range text.Rest {
		if err := checkBusiness(name); err != nil {
			return Item{}, err
		}
	}
	return text.item(data), nil
}

// UnmarshalJSON reads a stored item: the known fields, and all others into Business. The document
// of a post is read as the item that represents it in recall. Use [ParseItem] for uploaded items.
func (it *Item) UnmarshalJSON(data []byte) error {
	var text itemText
	if err := strictjson.UnmarshalStored(data, &text); err != nil {
		return err
	}
	if _, ok := postHead(data); ok {
		*it = text.item(nil)
		return it.fillFromPost(data)
	}
	*it = text.item(data)
	return nil
}

func knownField(name string) bool {
	switch name {
	case "id", "group_id", "title", "update_time", "summary", "url", "image_url", "author_id", "lang", "tags", "likes", "comments":
		return true
	}
	return false
}

// MarshalJSON writes the known fields in the order of [Item], then those sent with their zero value,
// then the business fields sorted by name.
func (it Item) MarshalJSON() ([]byte, error) {
	known, err := json.Marshal(itemFields(it))
	if err == nil && it.Sent != 0 {
		known = appendSent(known, &it)
	}
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

// elasticNames are the fields that Elasticsearch reserves: it rejects documents that contain one.
var elasticNames = map[string]bool{
	"_data_stream_timestamp": true, "_doc_count": true, "_field_names": true, "_id": true, "_ignored": true,
	"_ignored_source": true, "_index": true, "_nested_path": true, "_routing": true, "_seq_no": true, "_source": true, "_version": true,
}

// ownPrefix is the prefix of the fields that Freshet adds to items stored in Elasticsearch.
const ownPrefix = "freshet_"

// checkBusiness rejects a business field that some catalog cannot store, so that all catalogs
// accept the same items. Elasticsearch treats a dot in a name as a step into an object.
func checkBusiness(name string) error {
	for part := range strings.SplitSeq(name, ".") {
		if strings.TrimSpace(part) == "" {
			return Errorf(ErrInvalid, "bad item: the business field %q has a name, or a part of a dotted name, that is empty or blank", name)
		}
	}
	head, _, inner := strings.Cut(name, ".")
	lower := strings.ToLower(name)
	switch {
	case elasticNames[head]:
		return Errorf(ErrInvalid, "bad item: the business field %q has a name that is reserved by Elasticsearch; rename it", name)
	case strings.HasPrefix(head, ownPrefix):
		return Errorf(ErrInvalid, "bad item: the business field %q has a name that is reserved by Freshet; rename it", name)
	case lower == InFeed:
		return Errorf(ErrInvalid, "bad item: the name %s is reserved for data about the reader in answers; rename the field", InFeed)
	case inner && knownField(head):
		return Errorf(ErrInvalid, "bad item: the business field %q is inside the field %q; rename it", name, head)
	case lower != name && knownField(lower):
		return Errorf(ErrInvalid, "bad item: field %q must be written %q", name, lower)
	}
	return nil
}
