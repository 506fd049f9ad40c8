package sqlite

import (
	"strings"

	"github.com/freshet/freshet/social/sqlstore"
)

// sources: SQLite has no LATERAL; a correlated list of row ids reads as far into an
// index as it must, and no further.
var sources = sqlstore.Sources{
	Open:  ofReach(`[1, 2]`),
	ToAll: ofReach(`[2]`),
	Own:   ofReach(`[0, 1, 2]`, ` AND q.origin = ''`),

	Replies:    ofReach(`[3]`, repliesThere(` AND x.reach = 2`)),
	OwnReplies: ofReach(`[3, 4]`, repliesThere(``)),

	Circles:   circles(``),
	CirclesBy: circles(` AND q.author = @author`),

	Mentions:   mentions(``),
	MentionsBy: mentions(` AND q.author = @author`),

	Public: `SELECT k.value, p.author, p.created_at, p.id FROM json_each(@keys) k CROSS JOIN posts p ON p.seq IN (
		SELECT q.seq FROM posts q WHERE q.gone = 0 AND q.reach = 2
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = q.author)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = @reader)
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +@few)` + newestFirst + ` LIMIT +@n`,
}

// ofReach reads posts of authors of each reach by itself, as the index has them.
func ofReach(reaches string, more ...string) string {
	return `SELECT k.value, p.author, p.created_at, p.id FROM json_each(@keys) k CROSS JOIN json_each('` + reaches + `') r CROSS JOIN posts p ON p.seq IN (
		SELECT q.seq FROM posts q WHERE q.author = k.value AND q.gone = 0 AND q.reach = r.value` + strings.Join(more, "") + `
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT +@few)` + newestFirst + ` LIMIT +@n`
}

func circles(by string) string {
	return `SELECT k.value, p.author, p.created_at, p.id FROM json_each(@keys) k CROSS JOIN circles c ON c.id = k.value AND c.gone = 0
		CROSS JOIN members m ON m.circle = c.id AND m.agent = @reader AND m.gone = 0 CROSS JOIN posts p ON p.id IN (
		SELECT q.post FROM post_circles q WHERE q.circle = k.value` + by + `
		AND (q.author = c.owner OR c.kind <> 'circle') AND q.incarnation > c.dropped AND q.created_at >= m.since / 1000000
		AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0 AND x.created > m.since)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = q.author)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = @reader)
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT +@few)` + newestFirst
}

func mentions(by string) string {
	return `SELECT k.value, p.author, p.created_at, p.id FROM json_each(@keys) k CROSS JOIN posts p ON p.id IN (
		SELECT q.post FROM post_mentions q WHERE q.agent = k.value` + by + `
		AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = q.author)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = @reader)
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT +@few)` + newestFirst + ` LIMIT +@n`
}

const newestFirst = ` ORDER BY p.created_at DESC, p.id DESC`

// repliesThere leaves out replies whose root has ended, or is not so any more, or is of an
// author whom the reader blocks or is blocked by.
func repliesThere(so string) string {
	return ` AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.root AND x.gone = 0 AND x.deleted < q.root_life` + so + `
	AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = x.author)
	AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = x.author AND b.other = @reader))`
}
