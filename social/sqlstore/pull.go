package sqlstore

import (
	"context"
	"math"
	"slices"

	"github.com/freshet/freshet/social"
)

// Sources are the statements for the newest posts of each of some keys, newest first:
// key, author, created at, id. They read as far into an index as they must for each key,
// and no further. Named arguments are the reader and the keys; positions below which
// (below, belowID) and above which (above, aboveID) the posts are; few, how many of each
// key; author, the only one; and n, how many of all keys together.
type Sources struct {
	Open  string // keys are authors: what their followers may see; perhaps more than few of each
	ToAll string // keys are authors: what everybody may see
	Own   string // keys are authors: what they have posted here; perhaps more than few of each
	// Keys are authors: their replies to what everybody may see, and all. What has ended, or
	// is of who blocks the reader or is blocked, is left out.
	Replies, OwnReplies string
	Circles             string // keys are circles: what is addressed to them, as the reader sees it by each; n does not hold, as a post comes with each circle
	Mentions            string // keys are agents: what mentions them
	// CirclesBy and MentionsBy are the same of the one author, and read nothing of others'.
	CirclesBy, MentionsBy string
	Public                string // one key, whatever it is: what is public
}

// bound is a position as a parameter of "below".
func bound(p social.Position) (at int64, id string) {
	if p.Zero() {
		return math.MaxInt64, ""
	}
	return p.At, p.ID
}

// span asks for the newest n of a reader between two positions.
type span struct {
	reader       string
	below, above social.Position
	author       string // the only one of CirclesBy and MentionsBy
	n            int
}

// firstOfEach is the most of each key that are read before it is known whose
// more are needed.
const firstOfEach = 20

// newest reads the newest n of all keys of a source together: a few of each, and then
// the rest of those all of whose few are among them.
func (q *Query) newest(source string, keys []string, sp span) []social.Entry {
	if len(keys) == 0 || sp.n <= 0 {
		return nil
	}
	first := min(sp.n, firstOfEach, 2*sp.n/len(keys)+1)
	if len(keys) == 1 {
		first = sp.n
	}
	list, more := q.ofEach(source, keys, sp, first)
	if len(more) == 0 || first == sp.n {
		return list
	}
	if len(list) == sp.n { // what is older is not among the newest
		sp.above = list[sp.n-1].Position
	}
	rest, _ := q.ofEach(source, more, sp, sp.n)
	return top(append(list, rest...), sp.n)
}

// ofEach reads the newest n of all from the newest few of each key; more are the
// keys all of whose few are among them.
func (q *Query) ofEach(source string, keys []string, sp span, few int) (list []social.Entry, more []string) {
	at, id := bound(sp.below)
	count := map[string]int{}
	q.each(func(scan Scan) error {
		var key string
		var e social.Entry
		err := scan(&key, &e.Author, &e.At, &e.ID)
		list = append(list, e)
		if count[key]++; count[key] == few {
			more = append(more, key)
		}
		return err
	}, source, Named{
		"reader": sp.reader, "keys": keys, "below": at, "belowID": id, "above": sp.above.At, "aboveID": sp.above.ID,
		"few": few, "author": sp.author, "n": sp.n,
	})
	return top(list, sp.n), more
}

// top sorts by position and keeps the newest n, each once.
func top(list []social.Entry, n int) []social.Entry {
	slices.SortFunc(list, func(a, b social.Entry) int { return b.Compare(a.Position) })
	list = slices.CompactFunc(list, func(a, b social.Entry) bool { return a.ID == b.ID })
	return list[:min(n, len(list))]
}

// Pull implements [social.Lists].
func (s *Store) Pull(ctx context.Context, query social.PullQuery) (list []social.Entry, err error) {
	sp := span{reader: query.Reader, below: query.Below, n: query.N}
	from := &s.d.Sources
	err = s.snapshot(ctx, func(q *Query) {
		followees := q.texts(`SELECT f.author FROM follows f LEFT JOIN authors a ON a.id = f.author
			WHERE f.agent = $1 AND f.gone = 0 AND ($2 OR a.delivery IS NULL OR a.delivery <> 'pull')`, query.Reader, query.Whole)
		var server []string
		if i := slices.Index(followees, social.Server); i >= 0 {
			followees = slices.Delete(followees, i, i+1)
			if query.Whole {
				server = []string{social.Server}
			}
		}
		list = q.gather(sp,
			part{from.Open, followees},
			part{from.Public, server},
			part{from.Own, []string{query.Reader}},
			part{from.Mentions, []string{query.Reader}},
			part{from.Circles, q.texts(`SELECT circle FROM members WHERE agent = $1 AND gone = 0`, query.Reader)},
		)
	})
	return list, s.failed(ctx, "pull", err)
}

// part is a source and its keys.
type part struct {
	source string
	keys   []string
}

// gather reads the newest of several sources together.
func (q *Query) gather(sp span, parts ...part) (list []social.Entry) {
	for _, p := range parts {
		list = append(list, q.newest(p.source, p.keys, sp)...)
	}
	return top(list, sp.n)
}

// addressed are the sources of what the one author of a span addresses to its reader, by
// circles and mentions.
func (q *Query) addressed(sp span) []part {
	return []part{
		{q.d.Sources.CirclesBy, q.texts(circlesBy, sp.reader, sp.author)},
		{q.d.Sources.MentionsBy, []string{sp.reader}},
	}
}

// circlesBy are the circles that the reader $1 is in and the agent $2 may have posted to:
// their own, and groups.
const circlesBy = `SELECT c.id FROM circles c JOIN members m ON m.circle = c.id AND m.agent = $1 AND m.gone = 0
	WHERE c.owner = $2 AND c.gone = 0 AND m.since = 0
	UNION ALL SELECT circle FROM members WHERE agent = $1 AND gone = 0 AND since > 0`

// Newest implements [social.Lists].
func (s *Store) Newest(ctx context.Context, authors []string, below social.Position, n int) (list []social.Entry, err error) {
	err = s.snapshot(ctx, func(q *Query) { list = q.newest(q.d.Sources.Open, authors, span{below: below, n: n}) })
	return list, s.failed(ctx, "read newest", err)
}

// NewestPublic implements [social.Lists].
func (s *Store) NewestPublic(ctx context.Context, n int) (list []social.Entry, err error) {
	err = s.snapshot(ctx, func(q *Query) { list = q.newest(q.d.Sources.Public, []string{social.Server}, span{n: n}) })
	return list, s.failed(ctx, "read public posts", err)
}

// PairEntries implements [social.Lists].
func (s *Store) PairEntries(ctx context.Context, author, agent string, above social.Position, n int) (list []social.Entry, err error) {
	sp := span{reader: agent, above: above, author: author, n: n}
	from := &s.d.Sources
	err = s.snapshot(ctx, func(q *Query) {
		var pushed bool
		q.row(into(&pushed), `SELECT EXISTS (SELECT 1 FROM follows f LEFT JOIN authors a ON a.id = f.author
			WHERE f.agent = $1 AND f.author = $2 AND f.gone = 0 AND coalesce(a.delivery, 'push') <> 'pull')`, agent, author)
		parts := q.addressed(sp)
		if pushed {
			parts = append(parts, part{from.Open, []string{author}})
		}
		if agent == author {
			parts = append(parts, part{from.Own, []string{author}})
		}
		list = q.gather(sp, parts...)
	})
	return list, s.failed(ctx, "read pair", err)
}

// MemberEntries implements [social.Lists].
func (s *Store) MemberEntries(ctx context.Context, circle, agent string, above social.Position, n int) (list []social.Entry, err error) {
	err = s.snapshot(ctx, func(q *Query) {
		list = q.newest(q.d.Sources.Circles, []string{circle}, span{reader: agent, above: above, n: n})
	})
	return list, s.failed(ctx, "read member", err)
}

// receiverReasons are the reasons by their rank in [Dialect.Receivers].
var receiverReasons = []social.Reason{social.Self, social.Follow, social.Member, social.Mention}

// Receivers implements [social.Lists].
func (s *Store) Receivers(ctx context.Context, post string, followers bool, after string, n int) (list []social.Receiver, err error) {
	err = s.snapshot(ctx, func(q *Query) {
		var author, origin string
		var reach social.Reach
		var created int64
		var erased bool
		if !q.row(into(&author, &origin, &reach, &created, &erased), `SELECT p.author, p.origin, p.reach, p.created, p.created <= coalesce(a.erased, 0)
			FROM posts p LEFT JOIN authors a ON a.id = p.author WHERE p.id = $1`, post) || author == "" || reach > social.ToAll {
			return
		}
		q.each(func(scan Scan) error {
			var r social.Receiver
			var rank int
			err := scan(&r.Agent, &rank)
			if err == nil {
				r.Reason = receiverReasons[rank]
				list = append(list, r)
			}
			return err
		}, q.d.Receivers, post, author, after, n, origin == "", followers && reach >= social.ToFollowers && !erased, created)
	})
	return list, s.failed(ctx, "read receivers", err)
}
