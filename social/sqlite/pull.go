package sqlite

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"github.com/freshet/freshet/social"
)

// bound is a position as a parameter of "below".
func bound(p social.Position) (at int64, id string) {
	if p.Zero() {
		return math.MaxInt64, ""
	}
	return p.At, p.ID
}

// source is the text of a query for the newest posts of each of some keys: the
// ids of authors, circles or agents. SQLite has no LATERAL; a correlated list of
// row ids reads as far into an index as it must, and no further.
//
// ?1 the reader, ?2 the keys, ?3 and ?4 the bound above, ?5 and ?6 the one
// below, ?7 how many of each key, ?8 the only author, ” for all.
type source string

const (
	// What an author's followers may see.
	openPosts source = `SELECT k.value, p.author, p.created_at, p.id FROM json_each(?2) k CROSS JOIN posts p ON p.seq IN (
		SELECT q.seq FROM posts q WHERE q.author = k.value AND q.gone = 0 AND q.reach > 0
		AND (q.created_at, q.id) < (?3, ?4) AND (q.created_at, q.id) > (?5, ?6)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +?7) WHERE ?1 = ?1 AND ?8 = ?8` + newestFirst

	// What an author has posted here.
	ownPosts source = `SELECT k.value, p.author, p.created_at, p.id FROM json_each(?2) k CROSS JOIN posts p ON p.seq IN (
		SELECT q.seq FROM posts q WHERE q.author = k.value AND q.gone = 0 AND q.origin = ''
		AND (q.created_at, q.id) < (?3, ?4) AND (q.created_at, q.id) > (?5, ?6)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +?7) WHERE ?1 = ?1 AND ?8 = ?8` + newestFirst

	// What is addressed to a circle by its owner.
	circlePosts source = `SELECT k.value, p.author, p.created_at, p.id FROM json_each(?2) k
		CROSS JOIN circles c ON c.id = k.value AND c.gone = 0 AND (?8 = '' OR c.owner = ?8)
		CROSS JOIN posts p ON p.id IN (
		SELECT q.post FROM post_circles q WHERE q.circle = k.value AND q.author = c.owner
		AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0)
		AND (q.created_at, q.post) < (?3, ?4) AND (q.created_at, q.post) > (?5, ?6)
		ORDER BY q.created_at DESC, q.post DESC LIMIT +?7)
		WHERE NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = ?1 AND b.other = c.owner)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = c.owner AND b.other = ?1)` + newestFirst

	// What mentions an agent.
	mentionPosts source = `SELECT k.value, p.author, p.created_at, p.id FROM json_each(?2) k CROSS JOIN posts p ON p.id IN (
		SELECT q.post FROM post_mentions q WHERE q.agent = k.value AND (?8 = '' OR q.author = ?8)
		AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = ?1 AND b.other = q.author)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = ?1)
		AND (q.created_at, q.post) < (?3, ?4) AND (q.created_at, q.post) > (?5, ?6)
		ORDER BY q.created_at DESC, q.post DESC LIMIT +?7)` + newestFirst

	// What is public, whoever wrote it.
	publicPosts source = `SELECT k.value, p.author, p.created_at, p.id FROM json_each(?2) k CROSS JOIN posts p ON p.seq IN (
		SELECT q.seq FROM posts q WHERE q.gone = 0 AND q.reach = 2
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = ?1 AND b.other = q.author)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = ?1)
		AND (q.created_at, q.id) < (?3, ?4) AND (q.created_at, q.id) > (?5, ?6)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +?7) WHERE ?8 = ?8` + newestFirst

	newestFirst = ` ORDER BY p.created_at DESC, p.id DESC LIMIT +?9`
)

// span asks for the newest n of a reader between two positions.
type span struct {
	reader       string
	below, above social.Position
	author       string // the only one; "" for all
	n            int
}

// entries reads (author, created at, id).
func (q querying) entries(text string, args ...any) (list []social.Entry, err error) {
	err = q.each(func(rows *sql.Rows) error {
		var e social.Entry
		err := rows.Scan(&e.Author, &e.At, &e.ID)
		list = append(list, e)
		return err
	}, text, args...)
	return list, err
}

// firstOfEach is the most of each key that are read before it is known whose
// more are needed.
const firstOfEach = 20

// newest reads the newest n of all keys together: a few of each, and then the
// rest of those all of whose few are among them.
func (q querying) newest(s source, keys []string, sp span) ([]social.Entry, error) {
	if len(keys) == 0 || sp.n <= 0 {
		return nil, nil
	}
	first := min(sp.n, firstOfEach, 2*sp.n/len(keys)+1)
	if len(keys) == 1 {
		first = sp.n
	}
	list, more, err := q.ofEach(s, keys, sp, first)
	if err != nil || len(more) == 0 || first == sp.n {
		return list, err
	}
	if len(list) == sp.n { // what is older is not among the newest
		sp.above = list[sp.n-1].Position
	}
	rest, _, err := q.ofEach(s, more, sp, sp.n)
	return top(append(list, rest...), sp.n), err
}

// ofEach reads the newest n of all from the newest few of each key; more are the
// keys all of whose few are among them.
func (q querying) ofEach(s source, keys []string, sp span, few int) (list []social.Entry, more []string, err error) {
	at, id := bound(sp.below)
	limit := sp.n
	if s == circlePosts {
		limit = -1 // a post comes with each circle
	}
	count := map[string]int{}
	err = q.each(func(rows *sql.Rows) error {
		var key string
		var e social.Entry
		err := rows.Scan(&key, &e.Author, &e.At, &e.ID)
		list = append(list, e)
		if count[key]++; count[key] == few {
			more = append(more, key)
		}
		return err
	}, string(s), sp.reader, array(keys), at, id, sp.above.At, sp.above.ID, few, sp.author, limit)
	return top(list, sp.n), more, err
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
	err = s.readers.snapshot(ctx, func(q *reading) error {
		followees, err := q.texts(`SELECT f.author FROM follows f LEFT JOIN authors a ON a.id = f.author
			WHERE f.agent = ?1 AND f.gone = 0 AND (?2 OR a.delivery IS NULL OR a.delivery <> 'pull')`, query.Reader, query.Whole)
		if err != nil {
			return err
		}
		var server []string
		if i := slices.Index(followees, social.Server); i >= 0 {
			followees = slices.Delete(followees, i, i+1)
			if query.Whole {
				server = []string{social.Server}
			}
		}
		list, err = q.gather(sp, []part{
			{openPosts, followees},
			{publicPosts, server},
			{ownPosts, []string{query.Reader}},
			{mentionPosts, []string{query.Reader}},
		}, true)
		return err
	})
	return list, failed(ctx, "pull", err)
}

// part is a source and its keys.
type part struct {
	source source
	keys   []string
}

// gather reads the newest of several sources together, and, where asked, of the
// circles that the reader is in.
func (q querying) gather(sp span, parts []part, circles bool) (list []social.Entry, err error) {
	if circles {
		of, err := q.texts(`SELECT circle FROM members WHERE agent = ? AND gone = 0`, sp.reader)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{circlePosts, of})
	}
	for _, p := range parts {
		some, err := q.newest(p.source, p.keys, sp)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return top(list, sp.n), nil
}

// Newest implements [social.Lists].
func (s *Store) Newest(ctx context.Context, authors []string, below social.Position, n int) (list []social.Entry, err error) {
	err = s.readers.snapshot(ctx, func(q *reading) error {
		list, err = q.newest(openPosts, authors, span{below: below, n: n})
		return err
	})
	return list, failed(ctx, "read newest", err)
}

// NewestPublic implements [social.Lists].
func (s *Store) NewestPublic(ctx context.Context, n int) (list []social.Entry, err error) {
	err = s.readers.snapshot(ctx, func(q *reading) error {
		list, err = q.newest(publicPosts, []string{social.Server}, span{n: n})
		return err
	})
	return list, failed(ctx, "read public posts", err)
}

// PairEntries implements [social.Lists].
func (s *Store) PairEntries(ctx context.Context, author, agent string, above social.Position, n int) (list []social.Entry, err error) {
	sp := span{reader: agent, above: above, author: author, n: n}
	err = s.readers.snapshot(ctx, func(q *reading) error {
		var pushed bool
		if err := q.row(`SELECT EXISTS (SELECT 1 FROM follows f LEFT JOIN authors a ON a.id = f.author
			WHERE f.agent = ? AND f.author = ? AND f.gone = 0 AND ifnull(a.delivery, 'push') <> 'pull')`, agent, author).Scan(&pushed); err != nil {
			return err
		}
		parts := []part{{mentionPosts, []string{agent}}}
		if pushed {
			parts = append(parts, part{openPosts, []string{author}})
		}
		if agent == author {
			parts = append(parts, part{ownPosts, []string{author}})
		}
		list, err = q.gather(sp, parts, true)
		return err
	})
	return list, failed(ctx, "read pair", err)
}

// MemberEntries implements [social.Lists].
func (s *Store) MemberEntries(ctx context.Context, circle, agent string, above social.Position, n int) (list []social.Entry, err error) {
	err = s.readers.snapshot(ctx, func(q *reading) error {
		var member bool
		if err := q.row(`SELECT EXISTS (SELECT 1 FROM members WHERE circle = ? AND agent = ? AND gone = 0)`, circle, agent).Scan(&member); err != nil || !member {
			return err
		}
		list, err = q.newest(circlePosts, []string{circle}, span{reader: agent, above: above, n: n})
		return err
	})
	return list, failed(ctx, "read member", err)
}
