package postgres

import "github.com/freshet/freshet/social/sqlstore"

// sources: LATERAL reads as far into an index as it must for each key, and no further.
// What is looked up for each row is written as a scalar subquery, which the planner
// cannot make a join of whole tables.
var sources = sqlstore.Sources{
	Open: `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.id FROM posts q WHERE q.author = k.key AND q.gone = 0 AND q.reach > 0
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT @few) p` + newestFirst,

	Own: `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.id FROM posts q WHERE q.author = k.key AND q.gone = 0 AND q.origin = ''
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT @few) p` + newestFirst,

	Circles: `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key)
		JOIN circles c ON c.id = k.key AND c.gone = 0 AND (@author = '' OR c.owner = @author) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.post AS id FROM post_circles q WHERE q.circle = k.key AND q.author = c.owner
		AND (SELECT x.gone FROM posts x WHERE x.id = q.post) = 0
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT @few) p
		WHERE NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = c.owner)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = c.owner AND b.other = @reader)
		ORDER BY p.created_at DESC, p.id DESC`,

	Mentions: `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.post AS id FROM post_mentions q WHERE q.agent = k.key AND (@author = '' OR q.author = @author)
		AND (SELECT x.gone FROM posts x WHERE x.id = q.post) = 0` + notBlocked + `
		AND (q.created_at, q.post) < (@below, @belowID) AND (q.created_at, q.post) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.post DESC LIMIT @few) p` + newestFirst,

	Public: `SELECT k.key, p.author, p.created_at, p.id FROM unnest(@keys::text[]) k (key) CROSS JOIN LATERAL (
		SELECT q.author, q.created_at, q.id FROM posts q WHERE q.gone = 0 AND q.reach = 2` + notBlocked + `
		AND (q.created_at, q.id) < (@below, @belowID) AND (q.created_at, q.id) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.id DESC LIMIT @few) p` + newestFirst,
}

const (
	notBlocked = ` AND (SELECT count(*) FROM blocks b WHERE b.agent = @reader AND b.other = q.author) = 0
		AND (SELECT count(*) FROM blocks b WHERE b.agent = q.author AND b.other = @reader) = 0`

	newestFirst = ` ORDER BY p.created_at DESC, p.id DESC LIMIT @n`
)
