package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/internal/sqlitefile"
)

var (
	_ catalog.Lister = (*Catalog)(nil)
	_ catalog.Census = (*Catalog)(nil)
)

// place is the end of a page of a list, as encoded in a cursor.
type place struct {
	Updated int64  `json:"t"`
	ID      string `json:"id"`
}

// List implements [catalog.Lister]. With an author, a tag or words it reads documents until the page
// is full, which takes some seconds if it has to read a million.
func (c *Catalog) List(ctx context.Context, s catalog.Selection) (page catalog.Page, err error) {
	text, args, err := listQuery(&s)
	if err != nil {
		return catalog.Page{}, err
	}
	rows, err := c.file.Scans.QueryContext(ctx, text, args...)
	tag := terms.Fold(s.Tag)
	var last place
	for row := range sqlitefile.Rows(rows, &err) {
		var at place
		var raw sql.RawBytes
		err = row.Scan(&at.ID, &at.Updated, &raw)
		if err != nil || tag != "" && !tagged(raw, tag) || len(s.Words) > 0 && !titled(raw, s.Words) {
			continue
		}
		if len(page.Items) == s.Limit { // there is one more than fits the page
			page.Next = last.cursor()
			break
		}
		last = at
		page.Items = append(page.Items, feed.Doc{ID: at.ID, JSON: bytes.Clone(raw)})
	}
	if err != nil {
		return catalog.Page{}, c.failed(ctx, "list items", err)
	}
	return page, nil
}

// CountItems implements [catalog.Census].
func (c *Catalog) CountItems(ctx context.Context, bounds []int64) ([]int64, error) {
	counts := make([]int64, max(0, len(bounds)-1))
	for i := range counts {
		err := c.file.Scans.QueryRowContext(ctx, `SELECT count(*) FROM items WHERE updated >= ? AND updated < ?`, bounds[i], bounds[i+1]).Scan(&counts[i])
		if err != nil {
			return nil, c.failed(ctx, "count items", err)
		}
	}
	return counts, nil
}

// tagged reports whether a document has a folded tag.
func tagged(doc []byte, tag string) bool {
	var it struct {
		Tags []string `json:"tags"`
	}
	return json.Unmarshal(doc, &it) == nil && slices.Contains(terms.FoldAll(it.Tags), tag)
}

// titled reports whether the title of a document has all these tokens.
func titled(doc []byte, tokens []string) bool {
	var it struct {
		Title string `json:"title"`
	}
	if json.Unmarshal(doc, &it) != nil {
		return false
	}
	has := strings.Fields(string(words.Append(nil, it.Title)))
	return !slices.ContainsFunc(tokens, func(token string) bool { return !slices.Contains(has, token) })
}

// listQuery selects one item more than fits a page, to detect whether there is another page.
// With a tag it selects all items that have any tag, and with words all, because SQL cannot compare
// their spellings.
func listQuery(s *catalog.Selection) (text string, args []any, err error) {
	text = `SELECT id, updated, doc FROM items WHERE (id < ? OR id >= ?) AND updated >= ?`
	if s.Posts {
		text = `SELECT id, updated, doc FROM items WHERE id >= ? AND id < ? AND updated >= ?`
	}
	args = []any{feed.PostPrefix, afterPosts, s.Since}
	also := func(condition string, values ...any) {
		text += " AND " + condition
		args = append(args, values...)
	}
	if s.Before != 0 {
		also(`updated < ?`, s.Before)
	}
	if s.Cursor != "" {
		after, err := parsePlace(s.Cursor)
		if err != nil {
			return "", nil, err
		}
		also(`(updated, id) < (?, ?)`, after.Updated, after.ID)
	}
	part := plain(s.Author)
	if part != "" {
		also(`instr(doc, ?)`, []byte(part)) // avoids parsing most documents
	}
	if s.Author != "" {
		also(`json_extract(CAST(doc AS TEXT), '$.author_id') = ?`, s.Author)
	}
	if s.Tag != "" {
		also(`instr(doc, ?)`, []byte(`"tags"`))
	}
	if s.Tag != "" || len(s.Words) > 0 {
		return text + ` ORDER BY updated DESC, id DESC`, args, nil
	}
	return text + ` ORDER BY updated DESC, id DESC LIMIT ?`, append(args, min(s.Limit, math.MaxInt-1)+1), nil
}

// plain returns the longest part of a text that JSON never escapes.
func plain(text string) (longest string) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// afterPosts is greater than the ids of all posts.
var afterPosts = feed.PostPrefix[:len(feed.PostPrefix)-1] + string(feed.PostPrefix[len(feed.PostPrefix)-1]+1)

func (p place) cursor() string {
	data, _ := json.Marshal(p) // a number and a string can always be encoded
	return base64.RawURLEncoding.EncodeToString(data)
}

func parsePlace(cursor string) (p place, err error) {
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil || p.ID == "" {
		return place{}, feed.Errorf(feed.ErrInvalid, "bad cursor: %.40q was not issued here; start again without a cursor", cursor)
	}
	return p, nil
}
