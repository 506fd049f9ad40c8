package postgres

import (
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/freshet/freshet/social"
)

// record is a post's row.
type record struct {
	social.Record
	likesHere int64
	reported  social.Counts
	found     bool
}

const recordText = `SELECT p.id, p.author, p.created_at, p.reach, p.origin, p.reply, p.react, p.version, p.likes_here, p.likes_reported,
	p.comments_reported, p.created, p.deleted, p.caption_at, p.tags_at, p.alts_at, p.counted, p.tags, p.grants, p.content,
	ARRAY(SELECT c.circle FROM post_circles c WHERE c.post = p.id ORDER BY c.circle)
	FROM posts p WHERE p.id = ANY ($1) ORDER BY p.id`

func scanRecord(rows pgx.Rows) (*record, error) {
	r := &record{found: true}
	p, t := &r.Post, &r.Times
	var id, author, origin string
	var created, version int64
	var reach social.Reach
	var tags, grants, circles []string
	var content []byte
	if err := rows.Scan(&id, &author, &created, &reach, &origin, &p.Reply, &p.React, &version, &r.likesHere, &r.reported.Likes,
		&r.reported.Comments, &t.Created, &t.Deleted, &t.Caption, &t.Tags, &t.Alts, &t.Counted, &tags, &grants, &content, &circles); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, p); err != nil {
		return nil, fmt.Errorf("the content of %s is damaged: %w", id, err)
	}
	p.ID, p.Author, p.CreatedAt, p.Origin, p.Version, p.Tags, p.Grants = id, author, created, origin, version, some(tags), some(grants)
	p.Likes, p.Comments, p.Deleted = r.reported.Likes+r.likesHere, r.reported.Comments, !r.Alive()
	p.Audience = social.Audience{Public: reach == social.ToAll, Followers: reach == social.ToFollowers, Circles: some(circles)}
	return r, nil
}

// some is nil for nothing, as posts have it.
func some(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// every is an array for a column, which must not be NULL.
func every(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// records reads posts' rows whole, those that there are.
func (q querying) records(mode lockMode, ids []string) (map[string]*record, error) {
	list := make(map[string]*record, len(ids))
	err := q.each(func(rows pgx.Rows) error {
		r, err := scanRecord(rows)
		if err == nil {
			list[r.Post.ID] = r
		}
		return err
	}, recordText+string(mode), ids)
	return list, err
}

// load locks and reads one; one that is not there is the zero record with the id.
func (t *tx) load(id string) (*record, error) {
	list, err := t.records(changing, []string{id})
	if err != nil || list[id] != nil {
		return list[id], err
	}
	r := &record{}
	r.Post.ID = id
	return r, nil
}

const recordColumns = `author, created_at, reach, origin, reply, react, version, likes_here, likes_reported,
	comments_reported, created, deleted, caption_at, tags_at, alts_at, counted, gone, tags, grants, content`

// save writes a post's row, which load has locked. If load has found none and
// there is one now, the transaction is run again. The tables of whom it
// addresses are for address.
func (t *tx) save(r *record) {
	text := `INSERT INTO posts (id, ` + recordColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`
	if r.found {
		text = `UPDATE posts SET (` + recordColumns + `) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
			WHERE id = $1`
	}
	p, at := &r.Post, r.Times
	t.then(text, p.ID, p.Author, p.CreatedAt, int(p.Audience.Reach()), p.Origin, string(p.Reply), string(p.React), p.Version, r.likesHere, r.reported.Likes,
		r.reported.Comments, at.Created, at.Deleted, at.Caption, at.Tags, at.Alts, at.Counted, t.gone(r.Alive()), every(p.Tags), every(p.Grants),
		string(p.Content()))
	r.found = true
}

// address writes whom a new post addresses, by circles and mentions.
func (t *tx) address(p *social.Post, before bool) {
	for _, table := range []struct {
		name, column string
		ids          []string
	}{
		{"post_circles", "circle", p.Audience.Circles},
		{"post_mentions", "agent", p.Mentions},
	} {
		if before {
			t.then(`DELETE FROM `+table.name+` WHERE post = $1`, p.ID)
		}
		if len(table.ids) > 0 {
			t.then(`INSERT INTO `+table.name+` (post, `+table.column+`, author, created_at) SELECT $1, unnest($2::text[]), $3, $4`,
				p.ID, table.ids, p.Author, p.CreatedAt)
		}
	}
}
