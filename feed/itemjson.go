package feed

import (
	"bytes"
	"encoding/json"

	"github.com/freshet/freshet/internal/strictjson"
)

// itemFields is an Item without its methods.
type itemFields Item

// itemText is how an item is decoded: what is no field of [Item] is a business
// field.
type itemText struct {
	itemFields
	Rest map[string]json.RawMessage `json:",embed"`
}

func (t *itemText) item() Item {
	t.Business = t.Rest
	if len(t.Tags) == 0 {
		t.Tags = nil // no tags are the same as no field, as what is stored has it
	}
	return Item(t.itemFields)
}

// parseItem reads an item strictly, but does not validate it.
func parseItem(data []byte) (Item, error) {
	var text itemText
	if err := strictjson.Unmarshal(data, &text, strictjson.Errors{"": Errorf(ErrInvalid, "bad item")}); err != nil {
		return Item{}, err
	}
	if text.AuthorIDs != nil || text.Langs != nil {
		return Item{}, Errorf(ErrInvalid, "bad item: the names of fields that begin with %s are Freshet's own; give author_id and lang", ownPrefix)
	}
	for name := range text.Rest {
		if err := checkBusiness(name); err != nil {
			return Item{}, err
		}
	}
	return text.item(), nil
}

// UnmarshalJSON reads an item that was stored: the known fields, and the others
// into Business. The document of a post is read as the item that it counts as.
// [ParseItem] is for items that come in.
func (it *Item) UnmarshalJSON(data []byte) error {
	var text itemText
	if err := strictjson.UnmarshalStored(data, &text); err != nil {
		return err
	}
	*it = text.item()
	if _, ok := postHead(data); ok {
		return it.fillFromPost(data)
	}
	return nil
}

func knownField(name string) bool {
	switch name {
	case "id", "group_id", "title", "update_time", "summary", "url", "image_url", "author_id", "lang", "tags", "likes", "comments":
		return true
	}
	return false
}

// MarshalJSON writes the known fields in their order, then the business
// fields sorted by name.
func (it Item) MarshalJSON() ([]byte, error) {
	known, err := json.Marshal(itemFields(it))
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
