package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/freshet/freshet/social"
)

// readPosts reads the posts that the memo has not.
func (a *asking) readPosts(missing []string) error {
	if len(missing) == 0 {
		return nil
	}
	a.newPost = make(map[string]*postFacts, len(missing))
	err := a.q.each(func(rows *sql.Rows) error {
		p, err := scanPost(rows)
		a.newPost[p.ID] = p
		return err
	}, `SELECT p.id, p.author, p.origin, p.reach, p.reply, p.react, p.created, p.version, p.created_at,
		p.likes_here + p.likes_reported, p.comments_reported, p.content, p.grants,
		(SELECT json_group_array(m.agent) FROM post_mentions m WHERE m.post = p.id),
		(SELECT json_group_array(pc.circle) FROM post_circles pc WHERE pc.post = p.id)
		FROM json_each(?) j CROSS JOIN posts p ON p.id = j.value WHERE p.gone = 0`, array(missing))
	if err != nil {
		return err
	}
	for i, p := range a.posts {
		if a.facts[i].post == nil {
			a.facts[i].post = a.newPost[p.ID]
		}
	}
	return nil
}

func scanPost(rows *sql.Rows) (*postFacts, error) {
	p := &postFacts{}
	var reach social.Reach
	var grants, mentions, circles string
	if err := rows.Scan(&p.ID, &p.Author, &p.Origin, &reach, &p.Reply, &p.React, &p.created, &p.Version, &p.CreatedAt,
		&p.Likes, &p.Comments, &p.content, &grants, &mentions, &circles); err != nil {
		return p, err
	}
	p.Audience = social.Audience{Public: reach == social.ToAll, Followers: reach == social.ToFollowers}
	for _, list := range []struct {
		text string
		into *[]string
	}{{grants, &p.Grants}, {mentions, &p.Mentions}, {circles, &p.Audience.Circles}} {
		var err error
		if *list.into, err = texts(list.text); err != nil {
			return p, fmt.Errorf("whom %s is for is damaged: %w", p.ID, err)
		}
	}
	return p, nil
}

// readTies reads what the memo has not of the reader: what they have to do with authors,
// which posts they like, and what they are in.
func (a *asking) readTies(authors, likes []string) error {
	if a.own == nil {
		if err := a.readOwn(); err != nil {
			return err
		}
	}
	if len(authors) > 0 {
		if err := a.readAuthors(authors); err != nil {
			return err
		}
	}
	if len(likes) > 0 {
		return a.readLikes(likes)
	}
	return nil
}

func (a *asking) readOwn() error {
	a.own = &readerFacts{circles: map[string]string{}}
	if err := a.q.row(`SELECT EXISTS (SELECT 1 FROM follows WHERE agent = ? AND author = '`+social.Server+`' AND gone = 0)`,
		a.reader).Scan(&a.own.server); err != nil {
		return err
	}
	return a.q.each(func(rows *sql.Rows) error {
		var id, owner string
		err := rows.Scan(&id, &owner)
		a.own.circles[id] = owner
		return err
	}, `SELECT c.id, c.owner FROM members m JOIN circles c ON c.id = m.circle AND c.gone = 0 WHERE m.agent = ? AND m.gone = 0`, a.reader)
}

func (a *asking) readAuthors(authors []string) error {
	a.newTies = make(map[string]cardFacts, len(authors))
	err := a.q.each(func(rows *sql.Rows) error {
		var id string
		f := cardFacts{author: &authorFacts{}}
		err := rows.Scan(&id, &f.author.name, &f.author.image, &f.author.erased, &f.ties.follows, &f.ties.blocked)
		a.newTies[id] = f
		return err
	}, `SELECT j.value, ifnull(a.name, ''), ifnull(a.image_url, ''), ifnull(a.erased, 0),
		EXISTS (SELECT 1 FROM follows f WHERE f.agent = ?1 AND f.author = j.value AND f.gone = 0),
		EXISTS (SELECT 1 FROM blocks b WHERE b.agent = ?1 AND b.other = j.value)
			OR EXISTS (SELECT 1 FROM blocks b WHERE b.agent = j.value AND b.other = ?1)
		FROM json_each(?2) j LEFT JOIN authors a ON a.id = j.value`, a.reader, array(authors))
	if err != nil {
		return err
	}
	for i := range a.facts {
		if f := &a.facts[i]; f.post != nil {
			if t, ok := a.newTies[f.post.Author]; ok {
				f.author, f.ties = t.author, t.ties
			}
		}
	}
	return nil
}

func (a *asking) readLikes(posts []string) error {
	a.newLike = make(map[string]bool, len(posts))
	for _, id := range posts {
		a.newLike[id] = false
	}
	err := a.q.each(func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		a.newLike[id] = true
		return err
	}, `SELECT j.value FROM json_each(?2) j CROSS JOIN likes l ON l.post = j.value AND l.agent = ?1`, a.reader, array(posts))
	if err != nil {
		return err
	}
	for i := range a.facts {
		if f := &a.facts[i]; f.post != nil && a.newLike[f.post.ID] {
			f.liked = true
		}
	}
	return nil
}
