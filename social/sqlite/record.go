package sqlite

import (
	"encoding/json"
	"fmt"

	"github.com/freshet/freshet/social"
)

// record is a post's row.
type record struct {
	social.Record
	likesHere int64
	reported  social.Counts
	found     bool
}

// load reads a post's row whole; one that is not there is the zero record with
// the id.
func (q querying) load(id string) (*record, error) {
	r := &record{}
	p, t := &r.Post, &r.Times
	var author, origin, tags, grants string
	var created, version int64
	var reach social.Reach
	var content []byte
	ok, err := found(q.row(`SELECT author, created_at, reach, origin, reply, react, version, likes_here, likes_reported, comments_reported,
		created, deleted, caption_at, tags_at, alts_at, counted, tags, grants, content FROM posts WHERE id = ?`, id),
		&author, &created, &reach, &origin, &p.Reply, &p.React, &version, &r.likesHere, &r.reported.Likes, &r.reported.Comments,
		&t.Created, &t.Deleted, &t.Caption, &t.Tags, &t.Alts, &t.Counted, &tags, &grants, &content)
	if err != nil || !ok {
		p.ID = id
		return r, err
	}
	r.found = true
	if err := json.Unmarshal(content, p); err != nil {
		return nil, fmt.Errorf("the content of %s is damaged: %w", id, err)
	}
	p.ID, p.Author, p.CreatedAt, p.Origin, p.Version, p.Tags = id, author, created, origin, version, nil
	p.Likes, p.Comments, p.Deleted = r.reported.Likes+r.likesHere, r.reported.Comments, !r.Alive()
	p.Audience = social.Audience{Public: reach == social.ToAll, Followers: reach == social.ToFollowers}
	if p.Tags, err = texts(tags); err != nil {
		return nil, fmt.Errorf("the tags of %s are damaged: %w", id, err)
	}
	if p.Grants, err = texts(grants); err != nil {
		return nil, fmt.Errorf("the grants of %s are damaged: %w", id, err)
	}
	p.Audience.Circles, err = q.texts(`SELECT circle FROM post_circles WHERE post = ? ORDER BY circle`, id)
	return r, err
}

// texts reads a list as list writes it.
func texts(raw string) (out []string, err error) {
	if raw == "" {
		return nil, nil
	}
	err = json.Unmarshal([]byte(raw), &out)
	return out, err
}

// list encodes a list of texts; "" is none.
func list(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return array(texts)
}

// array encodes a list as a parameter for json_each.
func array[T any](list []T) string {
	raw, err := json.Marshal(list)
	if err != nil { // texts and numbers only
		panic(err)
	}
	return string(raw)
}

// save writes a post's row. The tables of whom it addresses are for address.
func (t *tx) save(r *record) error {
	p, at := &r.Post, r.Times
	gone := int64(0)
	if !r.Alive() {
		gone = social.Stamp(t.now)
	}
	_, err := t.exec(`INSERT INTO posts (id, author, created_at, reach, origin, reply, react, version, likes_here, likes_reported,
		comments_reported, created, deleted, caption_at, tags_at, alts_at, counted, gone, tags, grants, content)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET author = excluded.author, created_at = excluded.created_at, reach = excluded.reach,
		origin = excluded.origin, reply = excluded.reply, react = excluded.react, version = excluded.version,
		likes_here = excluded.likes_here, likes_reported = excluded.likes_reported, comments_reported = excluded.comments_reported,
		created = excluded.created, deleted = excluded.deleted, caption_at = excluded.caption_at, tags_at = excluded.tags_at,
		alts_at = excluded.alts_at, counted = excluded.counted, gone = excluded.gone, tags = excluded.tags,
		grants = excluded.grants, content = excluded.content`,
		p.ID, p.Author, p.CreatedAt, p.Audience.Reach(), p.Origin, p.Reply, p.React, p.Version, r.likesHere, r.reported.Likes,
		r.reported.Comments, at.Created, at.Deleted, at.Caption, at.Tags, at.Alts, at.Counted, gone, list(p.Tags), list(p.Grants),
		[]byte(p.Content()))
	return err
}

// address writes whom a post addresses, by circles and mentions.
func (t *tx) address(p *social.Post) error {
	for _, table := range []struct {
		drop, add string
		ids       []string
	}{
		{
			`DELETE FROM post_circles WHERE post = ?`,
			`INSERT INTO post_circles (post, circle, author, created_at) SELECT ?, value, ?, ? FROM json_each(?)`, p.Audience.Circles,
		},
		{
			`DELETE FROM post_mentions WHERE post = ?`,
			`INSERT INTO post_mentions (post, agent, author, created_at) SELECT ?, value, ?, ? FROM json_each(?)`, p.Mentions,
		},
	} {
		if _, err := t.exec(table.drop, p.ID); err != nil {
			return err
		}
		if len(table.ids) == 0 {
			continue
		}
		if _, err := t.exec(table.add, p.ID, p.Author, p.CreatedAt, array(table.ids)); err != nil {
			return err
		}
	}
	return nil
}
