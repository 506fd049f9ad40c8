package postgres

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/freshet/freshet/social"
)

// factsFrom selects what [social.Decide] must know of posts p and the reader
// $1, and must be joined with their authors a. "There" is false of tombstones,
// and of posts of an author who is being erased.
//
// OFFSET 0 keeps PostgreSQL from answering an EXISTS with a hash of all that the
// reader follows or likes: a probe for each post costs the same for every reader.
const factsFrom = `p.author, p.origin, p.reach, p.reply, p.react, coalesce(a.delivery, 'push'),
	p.gone = 0 AND p.created > coalesce(a.erased, 0) AS there,
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = p.author AND f.gone = 0 OFFSET 0),
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = '` + social.Server + `' AND f.gone = 0 OFFSET 0),
	` + memberOf + `,
	EXISTS (SELECT 1 FROM post_mentions m WHERE m.post = p.id AND m.agent = $1 OFFSET 0),
	$1 = ANY (p.grants),
	EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = p.author OFFSET 0)
		OR EXISTS (SELECT 1 FROM blocks b WHERE b.agent = p.author AND b.other = $1 OFFSET 0)`

// memberOf says whether the reader $1 is in a circle that p addresses, and that
// is its author's: the id of a circle that was dropped may be another's now.
const memberOf = `EXISTS (SELECT 1 FROM post_circles pc
	JOIN circles c ON c.id = pc.circle AND c.owner = pc.author AND c.gone = 0
	JOIN members m ON m.circle = pc.circle AND m.agent = $1 AND m.gone = 0 WHERE pc.post = p.id OFFSET 0)`

// facts are a post, as far as the rules need it, and a reader's relation to it.
type facts struct {
	post  social.Post
	rel   social.Relation
	there bool
}

// into lists where factsFrom is read to.
func (f *facts) into(delivery *social.Delivery, reach *social.Reach) []any {
	return []any{
		&f.post.Author, &f.post.Origin, reach, &f.post.Reply, &f.post.React, delivery, &f.there,
		&f.rel.Follows, &f.rel.FollowsServer, &f.rel.Member, &f.rel.Mentioned, &f.rel.Granted, &f.rel.Blocked,
	}
}

// scan reads a row of factsFrom and what else it has.
func (f *facts) scan(scan func(...any) error, more ...any) error {
	var delivery social.Delivery
	var reach social.Reach
	if err := scan(append(f.into(&delivery, &reach), more...)...); err != nil {
		return err
	}
	f.post.Audience = social.Audience{Public: reach == social.ToAll, Followers: reach == social.ToFollowers}
	f.rel.Pulled = delivery == social.Pull
	f.post.Deleted = !f.there
	return nil
}

func (f *facts) decide() social.Decision { return social.Decide(&f.post, f.rel) }

// facts reads those of one post.
func (q querying) facts(reader, id string) (*facts, error) {
	f := &facts{rel: social.Relation{Reader: reader}}
	var ok bool
	err := f.scan(func(into ...any) (err error) {
		ok, err = found(q.row(`SELECT `+factsFrom+` FROM posts p LEFT JOIN authors a ON a.id = p.author WHERE p.id = $2`, reader, id), into...)
		return err
	})
	f.there = f.there && ok
	f.post.Deleted = !f.there
	return f, err
}

// Cards implements [social.Cards] with one statement.
func (s *Store) Cards(ctx context.Context, reader string, posts []social.Known) ([]social.Card, error) {
	cards := make([]social.Card, len(posts))
	ids, known := make([]string, len(posts)), make([]int64, len(posts))
	for i, p := range posts {
		cards[i].ID = p.ID
		ids[i], known[i] = p.ID, p.Version
	}
	if len(posts) == 0 {
		return cards, nil
	}
	err := s.read(ctx, func(q querying) error {
		return q.each(func(rows pgx.Rows) error {
			i, c, err := scanCard(func(int) string { return reader }, rows)
			if err == nil && c.Visible {
				c.ID = posts[i-1].ID
				cards[i-1] = c
			}
			return err
		}, cardsText, reader, ids, known)
	})
	if err != nil {
		return nil, failed(ctx, "read cards", err)
	}
	return cards, nil
}

// CardsOf implements [social.CardsOfMany].
func (s *Store) CardsOf(ctx context.Context, asked []social.Asked) ([]social.Card, error) {
	cards := make([]social.Card, len(asked))
	readers, ids := make([]string, len(asked)), make([]string, len(asked))
	for i, a := range asked {
		cards[i].ID = a.ID
		readers[i], ids[i] = a.Reader, a.ID
	}
	if len(asked) == 0 {
		return cards, nil
	}
	err := s.read(ctx, func(q querying) error {
		return q.each(func(rows pgx.Rows) error {
			i, c, err := scanCard(func(i int) string { return readers[i-1] }, rows)
			if err == nil && c.Visible {
				c.ID = ids[i-1]
				cards[i-1] = c
			}
			return err
		}, cardsOfText, readers, ids)
	})
	if err != nil {
		return nil, failed(ctx, "read cards of many readers", err)
	}
	return cards, nil
}

const (
	cardFrom = factsFrom + `, j.i, p.version, p.created_at, p.likes_here + p.likes_reported, p.comments_reported,
	CASE WHEN p.version <> j.version THEN p.content END, coalesce(a.name, ''), coalesce(a.image_url, ''),
	EXISTS (SELECT 1 FROM likes l WHERE l.post = p.id AND l.agent = $1 OFFSET 0), cardinality(p.grants) > 0`
	cardsText = `SELECT ` + cardFrom + `
	FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY j (id, version, i)
	JOIN posts p ON p.id = j.id LEFT JOIN authors a ON a.id = p.author
	WHERE p.gone = 0`
)

// cardsOfText has a reader for each row in the place of the one that $1 is.
var cardsOfText = `SELECT ` + strings.ReplaceAll(cardFrom, "$1", "j.reader") + `
	FROM (SELECT u.*, 0 AS version FROM unnest($1::text[], $2::text[]) WITH ORDINALITY u (reader, id, i)) j
	JOIN posts p ON p.id = j.id LEFT JOIN authors a ON a.id = p.author
	WHERE p.gone = 0`

// scanCard reads a row; reader tells whom the one with this number is for.
func scanCard(reader func(i int) string, rows pgx.Rows) (i int, c social.Card, err error) {
	var f facts
	var content []byte
	var granted bool
	if err := f.scan(rows.Scan, &i, &c.Version, &c.CreatedAt, &c.Likes, &c.Comments, &content,
		&c.Author.Name, &c.Author.ImageURL, &c.HasLiked, &granted); err != nil {
		return 0, social.Card{}, err
	}
	f.rel.Reader = reader(i)
	d := f.decide()
	c.Author.ID, c.Content = f.post.Author, json.RawMessage(content)
	c.Public = d.Visible && f.post.Audience.Public && !granted
	c.Visible, c.Reason, c.CanReply, c.CanReact = d.Visible, d.Reason, d.CanReply, d.CanReact
	return i, c, nil
}

// Standings implements [social.Lists].
func (s *Store) Standings(ctx context.Context, agent string, ids []string) ([]social.Standing, error) {
	list := make([]social.Standing, len(ids))
	for i, id := range ids {
		list[i].ID = id
	}
	if len(ids) == 0 {
		return list, nil
	}
	err := s.read(ctx, func(q querying) error {
		return q.each(func(rows pgx.Rows) error {
			f := facts{rel: social.Relation{Reader: agent}}
			var i int
			var at int64
			if err := f.scan(rows.Scan, &i, &at); err != nil {
				return err
			}
			d := f.decide()
			e := social.Entry{Position: social.Position{At: at, ID: ids[i-1]}, Author: f.post.Author}
			list[i-1] = social.Standing{Entry: e, Found: true, Listed: d.Listed, Reason: d.Reason}
			return nil
		}, standingsText, agent, ids)
	})
	if err != nil {
		return nil, failed(ctx, "read standings", err)
	}
	return list, nil
}

const standingsText = `SELECT ` + factsFrom + `, j.i, p.created_at FROM unnest($2::text[]) WITH ORDINALITY j (id, i)
	JOIN posts p ON p.id = j.id LEFT JOIN authors a ON a.id = p.author WHERE p.author <> ''`
