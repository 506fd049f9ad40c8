package postgres

import (
	"strings"

	"github.com/freshet/freshet/social/sqlstore"
)

// sources: LATERAL reads as far into an index as it must for each key, and no further.
// What is looked up for each row has an OFFSET, so that the planner cannot make a join of
// whole tables of it, and takes it for likely: it would rather read all rows of a key and
// sort them than walk on until a page is full, if it took few rows to be left.
var sources = sqlstore.Sources{
	Open:  ofReach(`1, 2`),
	ToAll: ofReach(`2`),
	Own:   ofReach(`0, 1, 2`, ` AND q.origin = ''`),

	Replies:    ofReach(`3`, repliesThere(` AND x.reach = 2`)),
	OwnReplies: ofReach(`3, 4`, repliesThere(``)),

	Circles:   circles(``),
	CirclesBy: circles(` AND q.author = @author`),

	Mentions:   mentions(``),
	MentionsBy: mentions(` AND q.author = @author`),

	Public: `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.id FROM posts q WHERE q.gone = 0 AND q.reach = 2` + notBlocked + `
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT @few) p` + newestFirst,
}

// ofReach reads posts of authors of each reach by itself, as the index has them. The
// reaches are no constants: for one the planner might walk what is public of all authors.
func ofReach(reaches string, more ...string) string {
	return `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key) CROSS JOIN unnest('{` + reaches + `}'::smallint[]) r (reach) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.id FROM posts q WHERE q.author = k.key AND q.gone = 0 AND q.reach = r.reach` + strings.Join(more, "") + `
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT @few) p` + newestFirst
}

func circles(by string) string {
	return `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key)
		JOIN circles c ON c.id = k.key AND c.gone = 0 JOIN members m ON m.circle = c.id AND m.agent = @reader AND m.gone = 0
		CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.post AS id FROM post_circles q WHERE q.circle = k.key` + by + `
		AND (q.author = c.owner OR c.kind <> 'circle') AND q.incarnation > c.dropped AND q.created_at >= m.since / 1000000
		AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0 AND x.created > m.since OFFSET 0)` + notBlocked + `
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT @few) p
		ORDER BY p.created_at DESC, p.id DESC`
}

func mentions(by string) string {
	return `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.post AS id FROM post_mentions q WHERE q.agent = k.key` + by + `
		AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0 OFFSET 0)` + notBlocked + `
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT @few) p` + newestFirst
}

const (
	notBlocked = ` AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = q.author OFFSET 0)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = @reader OFFSET 0)`

	newestFirst = ` ORDER BY p.created_at DESC, p.id DESC LIMIT @n`
)

// repliesThere leaves out replies whose root has ended, or is not so any more, or is of an
// author whom the reader blocks or is blocked by.
func repliesThere(so string) string {
	return ` AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.root AND x.gone = 0 AND x.deleted < q.root_life` + so + `
	AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = x.author)
	AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = x.author AND b.other = @reader) OFFSET 0)`
}
