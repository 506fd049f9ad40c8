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
		FROM posts p WHERE p.id `+ofList+` AND p.gone = 0`, missing)
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
	var all []Reading
	if a.own == nil {
		all = append(all, a.ownReadings()...)
	}
	if len(m.authors) > 0 {
		all = append(all, a.authorsReading(m.authors))
	}
	if len(m.circles) > 0 {
		all = append(all, a.circlesReading(m.circles))
	}
	if len(m.likes) > 0 {
		all = append(all, a.likesReading(m.likes))
	}
	a.q.all(all...)
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

func (a *asking) ownReadings() []Reading {
	a.own = &readerFacts{circles: map[string]memberFacts{}}
	return []Reading{
		reads(into(&a.own.erased), `SELECT `+erasedReader, a.reader),
		reads(into(&a.own.server), `SELECT EXISTS (SELECT 1 FROM follows WHERE agent = $1 AND author = '`+social.Server+`' AND gone = 0 AND at > `+erasedReader+`)`, a.reader),
		{
			Statement{`SELECT m.circle, m.since, CASE WHEN m.since > 0 THEN ` + muteEnd("$1", "m.circle") + ` ELSE -1 END FROM members m WHERE m.agent = $1 AND m.gone = 0 AND m.at > ` + erasedReader, []any{a.reader}},
			func(scan Scan) error {
				var id string
				var m memberFacts
				err := scan(&id, &m.since, &m.muteEnd)
				a.own.circles[id] = m
				return err
			},
		},
	}
}

func (a *asking) circlesReading(ids []string) Reading {
	a.newCircles = make(map[string]*circleFacts, len(ids))
	return Reading{
		Statement{`SELECT j.value, coalesce(` + circleThere + `, false), coalesce(c.owner, ''), coalesce(c.name, ''),
			coalesce(c.kind = 'circle', true), coalesce(c.dropped, 0) FROM unnest((SELECT $1::text[])) j (value) LEFT JOIN circles c ON c.id = j.value`, []any{ids}},
		func(scan Scan) error {
			var id string
			c := &circleFacts{}
			err := scan(&id, &c.there, &c.owner, &c.name, &c.plain, &c.dropped)
			a.newCircles[id], a.circles[id] = c, c
			return err
		},
	}
}

func (a *asking) authorsReading(authors []string) Reading {
	a.newTies = make(map[string]cardFacts, len(authors))
	return Reading{
		Statement{`SELECT j.value, coalesce(a.name, ''), coalesce(a.image_url, ''), coalesce(a.erased, 0), coalesce(a.suspended_until, 0), coalesce(a.not_recommended, false),
			coalesce((SELECT f.at FROM follows f WHERE f.agent = $1 AND f.author = j.value AND f.gone = 0 AND f.at > ` + erasedReader + `), 0),
			` + blocked(`$1`, `j.value`) + `
			FROM unnest((SELECT $2::text[])) j (value) LEFT JOIN authors a ON a.id = j.value`, []any{a.reader, authors}},
		func(scan Scan) error {
			var id string
			f := cardFacts{author: &authorFacts{}}
			err := scan(&id, &f.author.name, &f.author.image, &f.author.erased, &f.author.suspended, &f.author.notRecommended, &f.ties.followed, &f.ties.blocked)
			a.newTies[id] = f
			return err
		},
	}
}

func (a *asking) likesReading(posts []string) Reading {
	a.newLike = make(map[string]int64, len(posts))
	return Reading{
		Statement{`SELECT j.value, coalesce(l.incarnation, 0) FROM unnest((SELECT $2::text[])) j (value)
			LEFT JOIN likes l ON l.post = j.value AND l.agent = $1 AND l.at > ` + erasedReader, []any{a.reader, posts}},
		func(scan Scan) error {
			var id string
			var incarnation int64
			err := scan(&id, &incarnation)
			a.newLike[id] = incarnation
			return err
		},
	}
}
