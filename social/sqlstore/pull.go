package sqlstore

import (
	"context"
	"math"
	"slices"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
)

// bound returns the parameters of a position below which posts are read.
func bound(p social.Position) (at int64, id string) {
	if p.Zero() {
		return math.MaxInt64, ""
	}
	return p.At, p.ID
}

// span selects the newest n posts for a reader between two positions.
type span struct {
	reader       string
	below, above social.Position
	author       string // the only author, for circlesBy and mentionsBy
	n            int
}

// firstOfEach is the maximum number read of each key in the first statement.
const firstOfEach = 20

// search is the reading of the newest posts of a part's keys.
type search struct {
	part
	span
	few  int            // how many of each key
	list []social.Entry // the newest n of all that were found
	more []string       // the keys with all their few in the list
}

// newest reads the newest n of all keys of a source together.
func (q *Query) newest(source string, keys []string, sp span) []social.Entry {
	return q.gather(sp, []part{{source, keys}})
}

// gather reads the newest of several sources together: first a few of each key, then the rest of
// those keys with all their few in the list. More readings run before, in the first round trip.
func (q *Query) gather(sp span, parts []part, more ...Reading) (list []social.Entry) {
	var first, rest []*search
	for _, p := range parts {
		if len(p.keys) == 0 || sp.n <= 0 {
			continue
		}
		few := min(sp.n, firstOfEach, 2*sp.n/len(p.keys)+1)
		if len(p.keys) == 1 {
			few = sp.n
		}
		first = append(first, &search{part: p, span: sp, few: few})
	}
	q.find(first, more...)
	for _, s := range first {
		list = append(list, s.list...)
		if len(s.more) == 0 || s.few == sp.n {
			continue
		}
		left := &search{part: part{s.source, s.more}, span: sp, few: sp.n}
		if len(s.list) == sp.n { // older ones are not among the newest
			left.above = s.list[sp.n-1].Position
		}
		rest = append(rest, left)
	}
	q.find(rest)
	for _, s := range rest {
		list = append(list, s.list...)
	}
	return top(list, sp.n)
}

// find runs readings and searches in one round trip.
func (q *Query) find(searches []*search, readings ...Reading) {
	for _, s := range searches {
		readings = append(readings, s.reading())
	}
	q.all(readings...)
	for _, s := range searches {
		s.list = top(s.list, s.n)
	}
}

func (s *search) reading() Reading {
	at, id := bound(s.below)
	count := map[string]int{}
	return Reading{Statement{s.source, []any{Named{
		"reader": s.reader, "keys": s.keys, "below": at, "belowID": id, "above": s.above.At, "aboveID": s.above.ID,
		"few": s.few, "author": s.author, "n": s.n,
	}}}, func(scan Scan) error {
		var key string
		var e social.Entry
		err := scan(&key, &e.Author, &e.At, &e.ID)
		s.list = append(s.list, e)
		count[key]++
		if count[key] == s.few {
			s.more = append(s.more, key)
		}
		return err
	}}
}

// top sorts by position and returns the newest n, each once.
func top(list []social.Entry, n int) []social.Entry {
	slices.SortFunc(list, func(a, b social.Entry) int { return b.Compare(a.Position) })
	list = slices.CompactFunc(list, func(a, b social.Entry) bool { return a.ID == b.ID })
	return list[:min(n, len(list))]
}

// Statements for whom the agent $1 follows: everybody, or those whose posts are in lists.
const (
	followedText    = `SELECT author FROM follows WHERE agent = $1 AND gone = 0`
	followedInLists = `SELECT f.author FROM follows f LEFT JOIN authors a ON a.id = f.author
		WHERE f.agent = $1 AND f.gone = 0 AND (a.delivery IS NULL OR a.delivery <> 'pull')`
)

// Pull implements [social.Lists].
func (s *Store) Pull(ctx context.Context, query social.PullQuery) (list []social.Entry, err error) {
	sp := span{reader: query.Reader, below: query.Below, n: query.N}
	err = s.snapshot(ctx, func(q *Query) {
		var followees, circles, server []string
		followed := followedInLists
		if query.Whole {
			followed = followedText
		}
		q.all(readsTexts(&followees, followed, query.Reader),
			readsTexts(&circles, `SELECT circle FROM members WHERE agent = $1 AND gone = 0`, query.Reader))
		i := slices.Index(followees, social.Server)
		if i >= 0 {
			followees = slices.Delete(followees, i, i+1)
			if query.Whole {
				server = []string{social.Server}
			}
		}
		list = q.gather(sp, []part{
			{pullSources.open, followees},
			{pullSources.public, server},
			{pullSources.own, []string{query.Reader}},
			{pullSources.mentions, []string{query.Reader}},
			{pullSources.circles, circles},
		})
	})
	return list, s.failed(ctx, "pull", err)
}

// part is a source and its keys.
type part struct {
	source string
	keys   []string
}

// circlesBy selects the circles that the reader $1 is in and the agent $2 may have posted to: the
// agent's own, and groups.
const circlesBy = `SELECT c.id FROM circles c JOIN members m ON m.circle = c.id AND m.agent = $1 AND m.gone = 0
	WHERE c.owner = $2 AND c.gone = 0 AND m.since = 0
	UNION ALL SELECT circle FROM members WHERE agent = $1 AND gone = 0 AND since > 0`

// heardBy are the circles of circlesBy without the groups that the reader has muted.
var heardBy = circlesBy + ` AND NOT ` + mutes("$1", social.MuteCircle, "members.circle")

// Newest implements [social.Lists].
func (s *Store) Newest(ctx context.Context, authors []string, below social.Position, n int) (list []social.Entry, err error) {
	err = s.snapshot(ctx, func(q *Query) { list = q.newest(pullSources.open, authors, span{below: below, n: n}) })
	return list, s.failed(ctx, "read newest", err)
}

// NewestPublic implements [social.Lists].
func (s *Store) NewestPublic(ctx context.Context, n int) (list []social.Entry, err error) {
	err = s.snapshot(ctx, func(q *Query) { list = q.newest(pullSources.public, []string{social.Server}, span{n: n}) })
	return list, s.failed(ctx, "read public posts", err)
}

// PairEntries implements [social.Lists].
func (s *Store) PairEntries(ctx context.Context, author, agent string, above social.Position, n int) (list []social.Entry, err error) {
	sp := span{reader: agent, above: above, author: author, n: n}
	err = s.snapshot(ctx, func(q *Query) {
		var pushed bool
		var circles []string
		q.all(reads(into(&pushed), `SELECT EXISTS (SELECT 1 FROM follows f LEFT JOIN authors a ON a.id = f.author
			WHERE f.agent = $1 AND f.author = $2 AND f.gone = 0 AND coalesce(a.delivery, 'push') <> 'pull')`, agent, author),
			readsTexts(&circles, heardBy, agent, author))
		parts := []part{{pullSources.circlesBy, circles}, {pullSources.mentionsBy, []string{agent}}}
		if pushed {
			parts = append(parts, part{pullSources.open, []string{author}})
		}
		if agent == author {
			parts = append(parts, part{pullSources.own, []string{author}})
		}
		list = q.gather(sp, parts)
	})
	return list, s.failed(ctx, "read pair", err)
}

// MemberEntries implements [social.Lists].
func (s *Store) MemberEntries(ctx context.Context, circle, agent string, above social.Position, n int) (list []social.Entry, err error) {
	err = s.snapshot(ctx, func(q *Query) {
		list = q.newest(pullSources.circles, []string{circle}, span{reader: agent, above: above, n: n})
	})
	return list, s.failed(ctx, "read member", err)
}

// receiverReasons are the reasons by their rank in receiversText.
var receiverReasons = []social.Reason{social.Self, social.Follow, social.Member, social.Mention}

// receiversText selects agents, with their rank in receiverReasons, for the post $1 of the author
// $2: those after $3, at most $4; the author if $5, followers if $6. Each part has its own limit, so
// that one page of a million followers reads only one page of them; before the limit, each part
// excludes blocked agents. Followers need no such check, since a block ends the follow.
var receiversText = `SELECT agent, min(rank) FROM (
	SELECT $2::text COLLATE "C" AS agent, 0 AS rank WHERE $2::text COLLATE "C" > $3 AND $5
	UNION ALL SELECT * FROM (SELECT agent, 1 FROM follows WHERE $6 AND author = $2 AND gone = 0 AND agent > $3 ORDER BY agent LIMIT $4) by_follow
	UNION ALL SELECT * FROM (SELECT DISTINCT m.agent, 2 FROM post_circles pc
		` + addressedCircle + `
		JOIN members m ON m.circle = pc.circle AND m.gone = 0 AND ` + placed + `
		WHERE pc.post = $1 AND m.agent > $3 AND NOT (` + mutedGroup("m.agent") + `)` + notBlocked(`m.agent`, `$2`) + ` ORDER BY m.agent LIMIT $4) by_circle
	UNION ALL SELECT * FROM (SELECT m.agent, 3 FROM post_mentions m WHERE m.post = $1 AND m.agent > $3
		AND m.life = ` + lifeOf("m.agent") + notBlocked(`m.agent`, `$2`) + ` ORDER BY m.agent LIMIT $4) by_mention
	) receivers GROUP BY agent ORDER BY agent LIMIT $4`

// Receivers implements [social.Lists].
func (s *Store) Receivers(ctx context.Context, pages []social.ReceiverPage, n int) (list []social.Receivers, err error) {
	ids := convert.Each(pages, func(p social.ReceiverPage) string { return p.Post })
	err = s.snapshot(ctx, func(q *Query) {
		list = make([]social.Receivers, len(pages))
		posts, authors := map[string]*record{}, map[string]authorOfPost{}
		q.all(readsRecords(posts, free, ids), readsAuthors(authors, ids))
		var lists []Reading
		for i, p := range pages {
			r := posts[p.Post]
			if r == nil || r.Post.Author == "" {
				continue
			}
			a := authors[p.Post]
			list[i].Post, list[i].Delivery = r.Post, a.delivery
			if r.reach() > social.ToAll {
				continue
			}
			erased := r.Times.Created <= a.erased
			followers := (r.Post.Deleted || a.delivery != social.Pull) && r.reach() >= social.ToFollowers && !erased
			lists = append(lists, Reading{
				Statement{receiversText, []any{p.Post, r.Post.Author, p.After, n, r.Post.Origin == "", followers}},
				appendReceiver(&list[i].List),
			})
		}
		q.all(lists...)
	})
	return list, s.failed(ctx, "read receivers", err)
}

func appendReceiver(list *[]social.Receiver) func(Scan) error {
	return func(scan Scan) error {
		var r social.Receiver
		var rank int
		err := scan(&r.Agent, &rank)
		if err == nil {
			r.Reason = receiverReasons[rank]
			*list = append(*list, r)
		}
		return err
	}
}

// authorOfPost is what a delivery needs to know of a post's author.
type authorOfPost struct {
	delivery social.Delivery
	erased   int64 // the last erasure, or 0
}

// readsAuthors is a reading of the authors of posts, by post.
func readsAuthors(authors map[string]authorOfPost, posts []string) Reading {
	return Reading{Statement{`SELECT p.id, coalesce(a.delivery, 'push'), coalesce(a.erased, 0)
		FROM posts p LEFT JOIN authors a ON a.id = p.author WHERE p.id ` + ofList, []any{posts}}, func(scan Scan) error {
		var id string
		var a authorOfPost
		err := scan(&id, &a.delivery, &a.erased)
		authors[id] = a
		return err
	}}
}
