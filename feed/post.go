package feed

import (
	"encoding/json"
	"strings"
)

// PostPrefix is the prefix of every post id. Uploaded items cannot have such ids; the items that
// represent posts in recall do. The document of a post is not that item but the form shown to
// readers: it has its time and its author in other fields.
const PostPrefix = "post:"

// IsPost reports whether an id is that of a post.
func IsPost(id string) bool { return strings.HasPrefix(id, PostPrefix) }

// postHead reads the time of a post's document, which follows its id. A post is its own group.
func postHead(doc []byte) (createdAt int64, ok bool) {
	_, rest, ok := cutText(doc, `{"id":"`+PostPrefix)
	createdAt, _, timed := cutNumber(rest, `,"created_at":`)
	return createdAt, ok && timed
}

// PostTitle returns the title of a post as an item: the first line of the caption that is not
// blank, else the first such image description, else "Photo".
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

// fillFromPost fills the fields of an item from a post's document, where they have other names.
// The post's own fields stay in Business.
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
