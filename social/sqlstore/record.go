package sqlstore

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/freshet/freshet/social"
)

// record is a post's row.
type record struct {
	social.Record
	likesHere    int64
	commentsHere int64 // replies that are not deleted
	repliers     int64 // their authors
	ownLike      int64 // 1 if its author likes it
	ownReply     int64 // 1 if its author is among the repliers
	reported     social.Counts
	grants       []string // the grants of its post, in the form of [grantOf]
	found        bool
	arrives      bool // it did not exist before
	removed      int  // removedNowhere and so on

	// Of a reply: its reach, and when its root post was created.
	under    social.Reach
	rootLife int64
	answered string // the author of the post that it answers, while it is created
}

func (r *record) reach() social.Reach {
	if r.Post.IsReply() {
		return r.under
	}
	return r.Post.Audience.Reach()
}

// counts fills in the counts that readers see, and those of popularity.
func (r *record) counts() {
	p := &r.Post
	p.Likes, p.Comments, p.Commenters = r.reported.Likes+r.likesHere, r.reported.Comments, r.reported.Comments
	if r.commentsHere > 0 {
		p.Comments, p.Commenters = r.commentsHere, r.repliers-r.ownReply
	}
	p.Likers = p.Likes - r.ownLike
}

// recordColumns are columns of a post p for scanRecord; the circles that it addresses follow,
// sorted.
var recordColumns = `p.id, p.author, p.created_at, p.reach, p.origin, p.reply, p.react, p.version, p.likes_here, p.likes_reported,
	p.comments_reported, p.created, p.deleted, p.caption_at, p.tags_at, p.alts_at, p.counted, p.here, p.tags, p.grants, p.content,
	p.comments_here, p.repliers, ` + ownLike + `, ` + ownReply + `, p.root_life, p.removed, p.reply_at, ` + notRecommended

// notRecommended is true if the author of a post p does not want to be recommended.
const notRecommended = `coalesce((SELECT a.not_recommended FROM authors a WHERE a.id = p.author), false)`

func scanRecord(scan Scan) (*record, error) {
	r := &record{found: true}
	p, t := &r.Post, &r.Times
	var id, author, origin string
	var created, version int64
	var reach social.Reach
	var tags, grants, circles []string
	var content []byte
	if err := scan(&id, &author, &created, &reach, &origin, &p.Reply, &p.React, &version, &r.likesHere, &r.reported.Likes,
		&r.reported.Comments, &t.Created, &t.Deleted, &t.Caption, &t.Tags, &t.Alts, &t.Counted, &t.Here, &tags, &grants, &content,
		&r.commentsHere, &r.repliers, &r.ownLike, &r.ownReply, &r.rootLife, &r.removed, &t.Reply, &p.NotRecommended, &circles); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, p); err != nil {
		return nil, fmt.Errorf("the content of %s is damaged: %w", id, err)
	}
	p.ID, p.Author, p.CreatedAt, p.Origin, p.Version, p.Tags = id, author, created, origin, version, some(tags)
	r.grants = grants
	for _, grant := range grants {
		p.Grants = append(p.Grants, granted(grant))
	}
	r.under, p.Deleted = reach, !r.Alive()
	r.counts()
	p.Again = r.Alive() && t.Deleted > 0
	i := slices.Index(circles, goneCircle)
	if i >= 0 {
		circles, p.Closed = slices.Delete(circles, i, i+1), true
	}
	p.Removed = r.removed == removedEverywhere
	p.Audience = reach.Audience()
	p.Audience.Circles = some(circles)
	return r, nil
}

// goneCircle stands in post_circles for what [social.Post.Closed] says is gone. It has no members.
const goneCircle = ""

// some returns nil for an empty list, as posts have it.
func some(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// records reads complete rows of posts; unknown ids are left out.
func (q *Query) records(mode lock, ids []string) map[string]*record {
	list := make(map[string]*record, len(ids))
	q.read(readsRecords(list, mode, ids))
	return list
}

func readsRecords(list map[string]*record, mode lock, ids []string) Reading {
	return Reading{Statement{`SELECT ` + recordColumns + `, ` + listOf(`c.circle`, `post_circles c WHERE c.post = p.id ORDER BY c.circle`) + `
		FROM posts p WHERE p.id ` + ofList + ` ORDER BY ` + lockOrder + locks[mode], []any{ids}}, func(scan Scan) error {
		r, err := scanRecord(scan)
		if err == nil {
			list[r.Post.ID] = r
		}
		return err
	}}
}

// load locks and reads one; if it does not exist, it returns the zero record with the id.
func (t *Tx) load(id string) *record {
	r := t.records(changing, []string{id})[id]
	if r != nil {
		return r
	}
	r = &record{}
	r.Post.ID = id
	return r
}

const savedColumns = `author, created_at, reach, origin, reply, react, version, likes_here, likes_reported,
	comments_reported, created, deleted, caption_at, tags_at, alts_at, counted, here, gone, tags, grants, content, comments_here, repliers, root, root_life, removed, reply_at, arrived`

// save writes the row of a post that load has locked. If load found none and there is one now, it
// fails, and the transaction is retried. address writes the tables of the circles and mentions.
func (t *Tx) save(r *record) {
	arrived := `CASE WHEN $30 > 0 THEN ` + nowAs("$29") + ` ELSE `
	text := `INSERT INTO posts (id, ` + savedColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, ` + arrived + `0 END)`
	if r.found {
		text = `UPDATE posts SET (` + savedColumns + `) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
			$23, $24, $25, $26, $27, $28, ` + arrived + `arrived END) WHERE id = $1`
	}
	p, at := &r.Post, r.Times
	if len(p.Grants) == 0 { // they end with the post
		r.grants = nil
	}
	t.later(text, p.ID, p.Author, p.CreatedAt, int(r.reach()), p.Origin, string(p.Reply), string(p.React), p.Version, r.likesHere, r.reported.Likes,
		r.reported.Comments, at.Created, at.Deleted, at.Caption, at.Tags, at.Alts, at.Counted, at.Here, t.goneStamp(r.Alive()), List(p.Tags), List(r.grants),
		[]byte(p.Content()), r.commentsHere, r.repliers, p.Root, r.rootLife, r.removed, at.Reply,
		queueNow(t.opts), boolean(r.arrives))
	r.found, r.arrives = true, false
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// goneStamp returns the value of a column gone.
func (t *Tx) goneStamp(there bool) int64 {
	if there {
		return 0
	}
	return social.Stamp(t.now)
}

// address writes the circles and mentions of a new post. before reports whether the post had a row,
// here whether it was made here; to are the circles of one made here.
func (t *Tx) address(r *record, to []circle, before, here bool) {
	p := &r.Post
	if before {
		t.later(`DELETE FROM post_circles WHERE post = $1`, p.ID)
		t.later(`DELETE FROM post_mentions WHERE post = $1`, p.ID)
		t.later(`DELETE FROM reply_mentions WHERE reply = $1`, p.ID)
	}
	t.mention(r, here)
	switch {
	case p.IsReply() || len(p.Audience.Circles) == 0:
	case here:
		t.place(r, to)
	default:
		t.placeReported(r)
	}
	if p.Closed {
		t.close(p.ID)
	}
}

// narrow is address for a post that keeps its replies, with an audience from [social.Post.Narrow]. A
// circle that it still addresses may have been deleted and created again since, and an agent whom it
// still mentions erased, so their rows stay.
func (t *Tx) narrow(r *record) {
	p := &r.Post
	t.later(`DELETE FROM post_circles WHERE post = $1 AND circle <> '`+goneCircle+`' AND NOT (circle = ANY ($2))`, p.ID, append([]string{}, p.Audience.Circles...))
	t.later(`UPDATE post_circles SET created_at = $2 WHERE post = $1`, p.ID, p.CreatedAt)
	if p.Closed {
		t.close(p.ID)
	}
	if r.removed == removedEverywhere {
		t.mentionNobody(p.ID)
	} else {
		t.later(`DELETE FROM post_mentions WHERE post = $1 AND NOT (agent = ANY ($2))`, p.ID, append([]string{}, p.Mentions...))
	}
	t.later(`DELETE FROM reply_mentions WHERE reply = $1 AND NOT (agent = ANY ($2))`, p.ID, append([]string{}, p.Mentions...))
	t.mention(r, false)
}

// close adds the rows of [goneCircle].
func (t *Tx) close(posts ...string) {
	t.later(`INSERT INTO post_circles (post, circle, author, created_at, incarnation)
		SELECT p.id, '`+goneCircle+`', p.author, p.created_at, 0 FROM posts p WHERE p.id = ANY ($1) ON CONFLICT DO NOTHING`, posts)
}
