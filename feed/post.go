package feed

import (
	"encoding/json"
	"strings"
)

// PostPrefix begins the id of every post. Items that come in cannot have such
// ids; those that are made of posts do. The document of a post is not the item
// that makes it found, but what its readers get: it names its time and its author
// in other fields.
const PostPrefix = "post:"

// IsPost reports whether an id is a post's.
func IsPost(id string) bool { return strings.HasPrefix(id, PostPrefix) }

// postHead reads the time of a post's document, which stands behind its id. A
// post is its own group.
func postHead(doc []byte) (createdAt int64, ok bool) {
	_, rest, ok := cutText(doc, `{"id":"`+PostPrefix)
	createdAt, _, timed := cutNumber(rest, `,"created_at":`)
	return createdAt, ok && timed
}

// PostTitle is the title of a post as an item: the caption's first line with
// something in it, else the first image's description, else "Photo".
func PostTitle(caption string, alts []string) string {
	for line := range strings.Lines(caption) {
		if !Blank(line) {
			return strings.TrimSpace(line)
		}
	}
	for _, alt := range alts {
		if !Blank(alt) {
			return strings.TrimSpace(alt)
		}
	}
	return "Photo"
}

// fillFromPost gives an item that was read from a post's document what items have
// under other names. The post's own fields stay in Business.
func (it *Item) fillFromPost(doc []byte) error {
	var p struct {
		CreatedAt int64  `json:"created_at"`
		Caption   string `json:"caption"`
		Author    struct {
			ID string `json:"id"`
		} `json:"author"`
		Images []struct {
			Alt string `json:"alt"`
		} `json:"images"`
	}
	if err := json.Unmarshal(doc, &p); err != nil {
		return err
	}
	alts := make([]string, len(p.Images))
	for i, m := range p.Images {
		alts[i] = m.Alt
	}
	it.Title, it.Summary, it.UpdateTime, it.AuthorID = PostTitle(p.Caption, alts), p.Caption, p.CreatedAt, p.Author.ID
	return nil
}
