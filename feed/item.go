package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxItemBytes is the largest accepted item, as JSON.
const MaxItemBytes = 256 << 10

// MaxItemTime is the latest accepted update_time: the end of the year 9999.
const MaxItemTime = 253402300799

// ErrBadItem is wrapped by every error about an unusable item.
var ErrBadItem = errors.New("bad item")

// Item is one piece of content. Fields beside the known ones are business
// fields: kept, given back beside the others, never indexed.
type Item struct {
	ID         string   `json:"id"`
	GroupID    string   `json:"group_id,omitempty"` // shown only once per group; empty: the id is the group
	Title      string   `json:"title"`
	UpdateTime int64    `json:"update_time"` // Unix seconds
	Summary    string   `json:"summary,omitempty"`
	URL        string   `json:"url,omitempty"`
	ImageURL   string   `json:"image_url,omitempty"`
	AuthorID   string   `json:"author_id,omitempty"`
	Lang       string   `json:"lang,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Likes      int64    `json:"likes,omitempty"`
	Comments   int64    `json:"comments,omitempty"`

	// Business holds every other top-level field by name, still encoded.
	Business map[string]json.RawMessage `json:"-"`
}

// Group is what the dedup window speaks of: the group id, or the id.
func (it *Item) Group() string {
	if it.GroupID != "" {
		return it.GroupID
	}
	return it.ID
}

// Popularity is likes + 2·comments.
func (it *Item) Popularity() int64 { return it.Likes + 2*it.Comments }

// knownFields are the JSON names of Item's own fields.
var knownFields = map[string]bool{
	"id": true, "group_id": true, "title": true, "update_time": true, "summary": true, "url": true,
	"image_url": true, "author_id": true, "lang": true, "tags": true, "likes": true, "comments": true,
}

// ParseItem reads and validates one item. The error wraps [ErrBadItem] and
// says which field is wrong.
func ParseItem(data []byte) (Item, error) {
	if len(data) > MaxItemBytes {
		return Item{}, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrBadItem, len(data), MaxItemBytes)
	}
	var it Item
	if err := json.Unmarshal(data, &it); err != nil {
		return Item{}, fmt.Errorf("%w: %w", ErrBadItem, err)
	}
	if err := it.Validate(); err != nil {
		return Item{}, err
	}
	return it, nil
}

// UnmarshalJSON reads the known fields and keeps the others in Business. It
// does not validate.
func (it *Item) UnmarshalJSON(data []byte) error {
	type plain Item
	var p plain
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for name := range all {
		if knownFields[name] {
			delete(all, name)
		} else if lower := strings.ToLower(name); knownFields[lower] {
			return fmt.Errorf("field %q must be written %q", name, lower)
		}
	}
	*it = Item(p)
	if len(all) > 0 {
		it.Business = all
	}
	return nil
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

// Validate checks ids, required fields and bounds; the error wraps
// [ErrBadItem].
func (it *Item) Validate() error {
	if err := CheckItemID(it.ID); err != nil {
		return fmt.Errorf("%w: %w", ErrBadItem, err)
	}
	if it.GroupID != "" {
		if err := CheckItemID(it.GroupID); err != nil {
			return fmt.Errorf("%w: group_id: %w", ErrBadItem, err)
		}
	}
	if it.Title == "" {
		return fmt.Errorf("%w: title is missing", ErrBadItem)
	}
	if it.UpdateTime <= 0 || it.UpdateTime > MaxItemTime {
		return fmt.Errorf("%w: update_time must be Unix seconds between 1 and %d, not %d", ErrBadItem, int64(MaxItemTime), it.UpdateTime)
	}
	if it.Likes < 0 || it.Comments < 0 || it.Likes > 1<<53 || it.Comments > 1<<52 {
		return fmt.Errorf("%w: likes and comments must be counts, not %d and %d", ErrBadItem, it.Likes, it.Comments)
	}
	if len(it.Tags) > MaxTags {
		return fmt.Errorf("%w: %d tags, at most %d are allowed", ErrBadItem, len(it.Tags), MaxTags)
	}
	for _, tag := range it.Tags {
		if n := utf8.RuneCountInString(tag); n == 0 || n > MaxTermLength {
			return fmt.Errorf("%w: a tag has %d characters, 1 to %d are allowed", ErrBadItem, n, MaxTermLength)
		}
	}
	for name, value := range map[string]string{"author_id": it.AuthorID, "lang": it.Lang} {
		if n := utf8.RuneCountInString(value); n > MaxTermLength {
			return fmt.Errorf("%w: %s has %d characters, at most %d are allowed", ErrBadItem, name, n, MaxTermLength)
		}
	}
	return nil
}

// Doc is an item as it is stored and answered: encoded once when it is
// ingested, spliced into answers as it is. A Doc without JSON stands for an
// item that does not exist.
type Doc struct {
	ID   string
	JSON json.RawMessage
}

// Missing reports whether the item does not exist.
func (d Doc) Missing() bool { return len(d.JSON) == 0 }

// Item decodes the document.
func (d Doc) Item() (Item, error) {
	var it Item
	if err := json.Unmarshal(d.JSON, &it); err != nil {
		return Item{}, fmt.Errorf("item %s: %w", d.ID, err)
	}
	return it, nil
}
