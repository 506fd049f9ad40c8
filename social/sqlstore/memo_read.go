package sqlstore

import (
	"fmt"
	"strings"

	"github.com/freshet/freshet/social"
)

// readPosts reads the posts that the memo lacks.
func (a *asking) readPosts(missing []string) {
	if len(missing) == 0 {
		return
	}
	a.newPost = make(map[string]*postFacts, len(missing))
	a.q.each(func(scan Scan) error {
		p, err := scanPost(scan)
		a.newPost[p.ID] = p
		return err
	}, `SELECT p.id, p.author, p.origin, p.reach, p.reply, p.react, p.created, p.deleted, p.version, p.created_at, p.arrived,
		`+counted+`, p.content, p.grants, p.root, p.root_life, 
		`+listOf(mentionOf, `post_mentions m WHERE m.post = p.id`)+`,
		`+listOf(`pc.incarnation || ' ' || pc.at || ' ' || pc.circle`, `post_circles pc WHERE pc.post = p.id`)+`, `+ownCircle+`, p.removed, `+removalsOfPost+`
		FROM posts p WHERE p.id = ANY ($1) AND p.gone = 0`, missing)
	for i, p := range a.posts {
		if a.facts[i].post == nil {
			a.facts[i].post = a.newPost[p.ID]
		}
	}
}

func scanPost(scan Scan) (*postFacts, error) {
	p := &postFacts{}
	var reach social.Reach
	var circles, removals []string
	var removed int
	if err := scan(&p.ID, &p.Author, &p.Origin, &reach, &p.Reply, &p.React, &p.created, &p.deleted, &p.Version, &p.CreatedAt, &p.arrived,
		&p.Likes, &p.Comments, &p.Likers, &p.Commenters, &p.content, &p.Grants, &p.Root, &p.rootLife, &p.mentioned, &circles, &p.ownCircle, &removed, &removals); err != nil {
		return p, err
	}
	p.Audience = reach.Audience()
	for _, c := range circles {
		var to address
		if _, err := fmt.Sscan(c, &to.incarnation, &to.at); err != nil {
			return p, Damaged(err)
		}
		id := c[strings.LastIndexByte(c, ' ')+1:] // may be [goneCircle]
		p.Audience.Circles, p.addressed = append(p.Audience.Circles, id), append(p.addressed, to)
	}
	p.Removed = removed == removedEverywhere
	var err error
	p.removals, err = parseRemovals(removals)
	return p, err
}

// readTies reads what the memo lacks about the reader: relations to authors, likes of posts, and
// circles.
func (a *asking) readTies(m missing) {
	if a.own == nil {
		a.readOwn()
	}
	if len(m.authors) > 0 {
		a.readAuthors(m.authors)
	}
	if len(m.circles) > 0 {
		a.readCircles(m.circles)
	}
	likes := m.likes
	if len(likes) > 0 {
		a.newLike = make(map[string]int64, len(likes))
		mapOf(a.q, a.newLike, `SELECT j.value, coalesce(l.incarnation, 0) FROM unnest($2::text[]) j (value)
			LEFT JOIN likes l ON l.post = j.value AND l.agent = $1 AND l.at > $3`, a.reader, likes, a.own.erased)
	}
	for i := range a.facts {
		f := &a.facts[i]
		if f.post == nil {
			continue
		}
		if t, ok := a.newTies[f.post.Author]; ok {
			f.author, f.ties = t.author, t.ties
		}
		if liked, ok := a.newLike[f.post.ID]; ok {
			f.liked = liked
		}
	}
}

func (a *asking) readOwn() {
	a.own = &readerFacts{circles: map[string]memberFacts{}}
	a.q.row(into(&a.own.erased), `SELECT erased_agent FROM authors WHERE id = $1`, a.reader)
	a.q.row(into(&a.own.server), `SELECT EXISTS (SELECT 1 FROM follows WHERE agent = $1 AND author = '`+social.Server+`' AND gone = 0 AND at > $2)`,
		a.reader, a.own.erased)
	a.q.each(func(scan Scan) error {
		var id string
		var m memberFacts
		err := scan(&id, &m.since, &m.muted)
		a.own.circles[id] = m
		return err
	}, `SELECT m.circle, m.since, `+mutedGroup("$1")+` FROM members m WHERE m.agent = $1 AND m.gone = 0 AND m.at > $2`, a.reader, a.own.erased)
}

func (a *asking) readCircles(ids []string) {
	a.newCircles = make(map[string]*circleFacts, len(ids))
	a.q.each(func(scan Scan) error {
		var id string
		c := &circleFacts{}
		err := scan(&id, &c.there, &c.owner, &c.name, &c.plain, &c.dropped)
		a.newCircles[id], a.circles[id] = c, c
		return err
	}, `SELECT j.value, coalesce(`+circleThere+`, false), coalesce(c.owner, ''), coalesce(c.name, ''),
		coalesce(c.kind = 'circle', true), coalesce(c.dropped, 0) FROM unnest($1::text[]) j (value) LEFT JOIN circles c ON c.id = j.value`, ids)
}

func (a *asking) readAuthors(authors []string) {
	a.newTies = make(map[string]cardFacts, len(authors))
	a.q.each(func(scan Scan) error {
		var id string
		f := cardFacts{author: &authorFacts{}}
		err := scan(&id, &f.author.name, &f.author.image, &f.author.erased, &f.ties.followed, &f.ties.blocked)
		a.newTies[id] = f
		return err
	}, `SELECT j.value, coalesce(a.name, ''), coalesce(a.image_url, ''), coalesce(a.erased, 0),
		coalesce((SELECT f.at FROM follows f WHERE f.agent = $1 AND f.author = j.value AND f.gone = 0 AND f.at > $3), 0),
		`+blocked(`$1`, `j.value`)+`
		FROM unnest($2::text[]) j (value) LEFT JOIN authors a ON a.id = j.value`, a.reader, authors, a.own.erased)
}
