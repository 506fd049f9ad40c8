package postgres

import (
	"context"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

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
// ids of authors, circles or agents. LATERAL reads as far into an index as it
// must for each, and no further. What is looked up for each row is written as a
// scalar subquery, which the planner cannot make a join of whole tables.
type source string

const (
	// What an author's followers may see.
	openPosts source = `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.id FROM posts q WHERE q.author = k.key AND q.gone = 0 AND q.reach > 0
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT @few) p` + newestFirst

	// What an author has posted here.
	ownPosts source = `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.id FROM posts q WHERE q.author = k.key AND q.gone = 0 AND q.origin = ''
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT @few) p` + newestFirst

	// What is addressed to a circle by its owner. A post comes with each circle, so
	// that all are read.
	circlePosts source = `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key)
		JOIN circles c ON c.id = k.key AND c.gone = 0 AND (@author = '' OR c.owner = @author) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.post AS id FROM post_circles q WHERE q.circle = k.key AND q.author = c.owner
		AND (SELECT x.gone FROM posts x WHERE x.id = q.post) = 0
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT @few) p
		WHERE NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = c.owner)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = c.owner AND b.other = @reader)
		ORDER BY p.created_at DESC, p.id DESC`

	// What mentions an agent.
	mentionPosts source = `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.post AS id FROM post_mentions q WHERE q.agent = k.key AND (@author = '' OR q.author = @author)
		AND (SELECT x.gone FROM posts x WHERE x.id = q.post) = 0` + notBlocked + `
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT @few) p` + newestFirst

	// What is public, whoever wrote it.
	publicPosts source = `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.id FROM posts q WHERE q.gone = 0 AND q.reach = 2` + notBlocked + `
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT @few) p` + newestFirst

	notBlocked = ` AND (SELECT count(*) FROM blocks b WHERE b.agent = @reader AND b.other = q.author) = 0
		AND (SELECT count(*) FROM blocks b WHERE b.agent = q.author AND b.other = @reader) = 0`

	newestFirst = ` ORDER BY p.created_at DESC, p.id DESC LIMIT @n`
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
	err = q.each(func(rows pgx.Rows) error {
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
	count := map[string]int{}
	err = q.each(func(rows pgx.Rows) error {
		var key string
		var e social.Entry
		err := rows.Scan(&key, &e.Author, &e.At, &e.ID)
		list = append(list, e)
		if count[key]++; count[key] == few {
			more = append(more, key)
		}
		return err
	}, string(s), pgx.NamedArgs{
		"reader": sp.reader, "keys": keys, "below": at, "belowID": id, "above": sp.above.At, "aboveID": sp.above.ID,
		"few": few, "author": sp.author, "n": sp.n,
	})
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
	err = s.snapshot(ctx, func(q querying) error {
		followees, err := q.texts(`SELECT f.author FROM follows f LEFT JOIN authors a ON a.id = f.author
			WHERE f.agent = $1 AND f.gone = 0 AND ($2 OR a.delivery IS NULL OR a.delivery <> 'pull')`, query.Reader, query.Whole)
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
		list, err = q.gather(sp,
			part{openPosts, followees},
			part{publicPosts, server},
			part{ownPosts, []string{query.Reader}},
			part{mentionPosts, []string{query.Reader}},
		)
		return err
	})
	return list, failed(ctx, "pull", err)
}

// part is a source and its keys.
type part struct {
	source source
	keys   []string
}

// gather reads the newest of several sources together, and of the circles that
// the reader is in.
func (q querying) gather(sp span, parts ...part) (list []social.Entry, err error) {
	of, err := q.texts(`SELECT circle FROM members WHERE agent = $1 AND gone = 0`, sp.reader)
	if err != nil {
		return nil, err
	}
	for _, p := range append(parts, part{circlePosts, of}) {
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
	err = s.snapshot(ctx, func(q querying) error {
		list, err = q.newest(openPosts, authors, span{below: below, n: n})
		return err
	})
	return list, failed(ctx, "read newest", err)
}

// NewestPublic implements [social.Lists].
func (s *Store) NewestPublic(ctx context.Context, n int) (list []social.Entry, err error) {
	err = s.snapshot(ctx, func(q querying) error {
		list, err = q.newest(publicPosts, []string{social.Server}, span{n: n})
		return err
	})
	return list, failed(ctx, "read public posts", err)
}

// PairEntries implements [social.Lists].
func (s *Store) PairEntries(ctx context.Context, author, agent string, above social.Position, n int) (list []social.Entry, err error) {
	sp := span{reader: agent, above: above, author: author, n: n}
	err = s.snapshot(ctx, func(q querying) error {
		var pushed bool
		if err := q.row(`SELECT EXISTS (SELECT 1 FROM follows f LEFT JOIN authors a ON a.id = f.author
			WHERE f.agent = $1 AND f.author = $2 AND f.gone = 0 AND coalesce(a.delivery, 'push') <> 'pull')`, agent, author).Scan(&pushed); err != nil {
			return err
		}
		parts := []part{{mentionPosts, []string{agent}}}
		if pushed {
			parts = append(parts, part{openPosts, []string{author}})
		}
		if agent == author {
			parts = append(parts, part{ownPosts, []string{author}})
		}
		list, err = q.gather(sp, parts...)
		return err
	})
	return list, failed(ctx, "read pair", err)
}

// MemberEntries implements [social.Lists].
func (s *Store) MemberEntries(ctx context.Context, circle, agent string, above social.Position, n int) (list []social.Entry, err error) {
	err = s.snapshot(ctx, func(q querying) error {
		var member bool
		if err := q.row(`SELECT EXISTS (SELECT 1 FROM members WHERE circle = $1 AND agent = $2 AND gone = 0)`, circle, agent).Scan(&member); err != nil || !member {
			return err
		}
		list, err = q.newest(circlePosts, []string{circle}, span{reader: agent, above: above, n: n})
		return err
	})
	return list, failed(ctx, "read member", err)
}
