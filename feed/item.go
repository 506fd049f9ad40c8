package feed

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/freshet/freshet/feed/terms"
)

// MaxItemBytes is the largest accepted item, as JSON.
const MaxItemBytes = 256 << 10

// MaxItemTime is the latest accepted update_time: the end of the year 9999.
const MaxItemTime = 253402300799

// Item is one piece of content. Fields other than the known ones are business fields: stored and
// returned, never indexed.
type Item struct {
	ID         string   `json:"id"`
	GroupID    string   `json:"group_id,omitempty"` // only one item per group is shown; empty means the id is the group
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
	// All authors and all languages of an item from an external index that has several of them;
	// AuthorID is then the first, and Lang is empty. Uploads cannot set them.
	AuthorIDs []string `json:"freshet_author_ids,omitempty"`
	Langs     []string `json:"freshet_langs,omitempty"`

	// Sent holds the optional fields that were sent with their zero value, which is returned.
	Sent FieldSet `json:"-"`

	// Business holds every other top-level field by name, still encoded.
	Business map[string]json.RawMessage `json:"-"`
}

// Group returns the key that the dedup window records: the group id, or the id.
func (it *Item) Group() string {
	if it.GroupID != "" {
		return it.GroupID
	}
	return it.ID
}

// By reports whether an agent is one of the authors.
func (it *Item) By(agent string) bool {
	return agent != "" && (it.AuthorID == agent || slices.Contains(it.AuthorIDs, agent))
}

// Popularity returns likes + 2·comments.
func (it *Item) Popularity() int64 { return it.Likes + 2*it.Comments }

// Traits returns the properties used to vary pages.
func (it *Item) Traits() Traits {
	t := Traits{Author: it.AuthorID, Site: Site(it.URL), Story: Sketch(it.Title)}
	if len(it.Tags) > 0 {
		t.Tag = terms.Fold(it.Tags[0])
	}
	return t
}

// ParseItem reads and validates an uploaded item. The error wraps [ErrInvalid] and names the
// field that is invalid or reserved.
func ParseItem(data []byte) (Item, error) {
	if len(data) > MaxItemBytes {
		return Item{}, Errorf(ErrInvalid, "bad item: it has %d bytes, at most %d are allowed", len(data), MaxItemBytes)
	}
	it, err := parseItem(data)
	if err != nil {
		return Item{}, err
	}
	if err := it.Validate(); err != nil {
		return Item{}, err
	}
	if Blank(it.Title) {
		return Item{}, Errorf(ErrInvalid, "bad item: title is blank: it has only spaces or invisible characters")
	}
	blank := slices.IndexFunc(it.Tags, Blank)
	if blank >= 0 {
		return Item{}, Errorf(ErrInvalid, "bad item: tags[%d] is blank: it has only spaces or invisible characters", blank)
	}
	if IsPost(it.ID) {
		return Item{}, Errorf(ErrInvalid, "bad item: the id prefix %q is reserved for posts; use another id", PostPrefix)
	}
	return it, nil
}

// CheckCounts checks that likes and comments are not negative, and small enough for a float64 to
// hold the popularity exactly; the error wraps [ErrInvalid].
func CheckCounts(likes, comments int64) error {
	if min(likes, comments) < 0 || likes > 1<<53 || comments > 1<<52 {
		return Errorf(ErrInvalid, "bad item: likes must be 0 to 2^53 and comments 0 to 2^52, not %d and %d", likes, comments)
	}
	return nil
}

// Validate checks ids, required fields and bounds; the error wraps
// [ErrInvalid].
func (it *Item) Validate() error {
	if it.ID == "" {
		return Errorf(ErrInvalid, "bad item: id is missing")
	}
	if err := CheckItemID(it.ID); err != nil {
		return Errorf(ErrInvalid, "bad item: %w", err)
	}
	if it.GroupID != "" {
		if err := CheckItemID(it.GroupID); err != nil {
			return Errorf(ErrInvalid, "bad item: group_id: %w", err)
		}
	}
	if it.Title == "" {
		return Errorf(ErrInvalid, "bad item: title is missing")
	}
	if it.UpdateTime == 0 {
		return Errorf(ErrInvalid, "bad item: update_time is missing or 0")
	}
	if it.UpdateTime < 0 || it.UpdateTime > MaxItemTime {
		return Errorf(ErrInvalid, "bad item: update_time must be Unix seconds between 1 and %d, not %d", int64(MaxItemTime), it.UpdateTime)
	}
	if err := CheckCounts(it.Likes, it.Comments); err != nil {
		return err
	}
	if err := CheckURL(it.URL); err != nil {
		return Errorf(ErrInvalid, "bad item: url %w", err)
	}
	if err := CheckURL(it.ImageURL); err != nil {
		return Errorf(ErrInvalid, "bad item: image_url %w", err)
	}
	if len(it.Tags) > MaxTags {
		return Errorf(ErrInvalid, "bad item: %d tags, at most %d are allowed", len(it.Tags), MaxTags)
	}
	for _, tag := range it.Tags {
		n := utf8.RuneCountInString(tag)
		if n == 0 || n > MaxTermLength {
			return Errorf(ErrInvalid, "bad item: a tag has %d characters, 1 to %d are allowed", n, MaxTermLength)
		}
	}
	for name, value := range map[string]string{"author_id": it.AuthorID, "lang": it.Lang} {
		n := utf8.RuneCountInString(value)
		if n > MaxTermLength {
			return Errorf(ErrInvalid, "bad item: %s has %d characters, at most %d are allowed", name, n, MaxTermLength)
		}
	}
	return nil
}

// Doc is a stored item: encoded once, when it is ingested, and copied into answers unchanged. A
// Doc without JSON is an item that does not exist.
type Doc struct {
	ID   string
	JSON json.RawMessage
	// Listed reports, for a post, that it belongs in the timeline of the reader it was read for.
	Listed bool
	// NotRecommended reports, for a post, that its author does not want to be recommended: only home
	// shows it, and to nobody but readers who follow the author, or are in a group that it addresses.
	// Then Listed means that the reader is one of these.
	NotRecommended bool
}

// Missing reports whether the item does not exist.
func (d Doc) Missing() bool { return len(d.JSON) == 0 }

// Item decodes the document. For a post it returns the item that represents it in recall.
func (d Doc) Item() (Item, error) {
	var it Item
	if err := it.UnmarshalJSON(d.JSON); err != nil {
		return Item{}, fmt.Errorf("item %s: %w", d.ID, err)
	}
	return it, nil
}

// brailleBlank has the category of a symbol but is invisible.
const brailleBlank = '\u2800'

// Blank reports whether a text is invisible: it is empty, or contains only spaces, control and
// format characters, and marks without a base. Characters unknown to this version of Unicode
// count as visible.
func Blank(text string) bool { return !strings.ContainsFunc(text, shows) }

func shows(r rune) bool {
	return r != brailleBlank && !unicode.In(r, unicode.Z, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point)
}
