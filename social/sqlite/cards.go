package sqlite

import (
	"strings"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

// factsFrom selects what [social.Decide] must know of posts p and the reader
// $1, and must be joined with [sqlstore.Parties]. "There" is false of tombstones,
// and of posts of an author who is being erased. What was given to an id before its
// erasure, or before the post or the circle was made again, is not there either.
const factsFrom = `p.author, p.origin, p.reach, p.reply, p.react, ifnull(a.delivery, 'push'),
	p.gone = 0 AND p.created > ifnull(a.erased, 0) AS there,
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = p.author AND f.gone = 0
		AND f.at > ifnull(r.erased_agent, 0) AND f.at > ifnull(a.erased, 0)),
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = '` + social.Server + `' AND f.gone = 0 AND f.at > ifnull(r.erased_agent, 0)),
	` + memberOf + `,
	p.created > ifnull(r.erased_agent, 0) AND EXISTS (SELECT 1 FROM post_mentions m WHERE m.post = p.id AND m.agent = $1),
	p.grants <> '' AND p.created > ifnull(r.erased_agent, 0) AND EXISTS (SELECT 1 FROM json_each(p.grants) g WHERE g.value = $1),
	EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = p.author)
		OR EXISTS (SELECT 1 FROM blocks b WHERE b.agent = p.author AND b.other = $1),
	p.deleted, p.root, p.root_life`

// memberOf says whether the reader $1 is in a circle that p addresses, since p was created,
// and that is its author's: the id of a circle that was dropped may be another's now. Who
// posts to a group was a member of it then.
const memberOf = `EXISTS (SELECT 1 FROM post_circles pc
	JOIN circles c ON c.id = pc.circle AND (c.owner = pc.author OR c.kind <> 'circle') AND c.gone = 0 AND c.dropped < pc.incarnation
		AND c.put > ifnull((SELECT o.erased_agent FROM authors o WHERE o.id = c.owner), 0)
	JOIN members m ON m.circle = pc.circle AND m.agent = $1 AND m.gone = 0 AND m.at > ifnull(r.erased_agent, 0)
		AND m.since < p.created AND m.since / 1000000 <= p.created_at WHERE pc.post = p.id)`

const (
	cardHead = factsFrom + `, j.i, p.version, p.created_at, p.likes_here + p.likes_reported, ` + sqlstore.Commented + `, `
	cardFrom = cardHead + `CASE WHEN p.version = j.version THEN NULL ELSE p.content END, ifnull(a.name, ''), ifnull(a.image_url, ''),
	EXISTS (SELECT 1 FROM likes l WHERE l.post = p.id AND l.agent = $1 AND l.incarnation > p.deleted AND l.at > ifnull(r.erased_agent, 0)), p.grants <> ''`
	cardsText = `SELECT ` + cardFrom + `
	FROM (SELECT key AS i, value ->> 0 AS id, value ->> 1 AS version FROM json_each($2)) j
	CROSS JOIN posts p ON p.id = j.id ` + sqlstore.Parties + `
	WHERE p.gone = 0`
	// A blob would be read as SQLite's own binary JSON.
	tilesText = `SELECT ` + cardHead + `ifnull(CAST(p.content AS TEXT) -> '$.images[0]', 'null'), '', '', false, true
	FROM (SELECT key AS i, value AS id FROM json_each($2)) j CROSS JOIN posts p ON p.id = j.id ` + sqlstore.Parties + `
	WHERE p.gone = 0`
)

// cardsOfText has a reader for each row in the place of the one that $1 is. What is asked
// is taken out of its JSON once, not again for each part of the answer.
var cardsOfText = `WITH j AS MATERIALIZED (SELECT key AS i, value ->> 0 AS reader, value ->> 1 AS id, 0 AS version FROM json_each($1))
	SELECT ` + strings.ReplaceAll(cardFrom, "$1", "j.reader") + `
	FROM j CROSS JOIN posts p ON p.id = j.id ` + strings.ReplaceAll(sqlstore.Parties, "$1", "j.reader") + `
	WHERE p.gone = 0`

const standingsText = `SELECT ` + factsFrom + `, j.key, p.created_at FROM json_each($2) j CROSS JOIN posts p ON p.id = j.value
	` + sqlstore.Parties + ` WHERE p.author <> ''`

const postFacts = `(SELECT json_group_array(m.agent) FROM post_mentions m WHERE m.post = p.id),
	(SELECT json_group_array(pc.incarnation || ' ' || pc.circle) FROM post_circles pc WHERE pc.post = p.id)`

// receiversText limits each part by itself, so that a page of a million followers reads
// a page of them; who is blocked is left out before that. Followers need no such look,
// since a block ends the follow.
const receiversText = `SELECT agent, min(rank) FROM (
	SELECT $2 AS agent, 0 AS rank WHERE $2 > $3 AND $5
	UNION ALL SELECT * FROM (SELECT agent, 1 FROM follows WHERE $6 AND author = $2 AND gone = 0 AND agent > $3 ORDER BY agent LIMIT $4)
	UNION ALL SELECT * FROM (SELECT DISTINCT m.agent, 2 FROM post_circles pc
		JOIN circles c ON c.id = pc.circle AND (c.owner = pc.author OR c.kind <> 'circle') AND c.gone = 0 AND c.dropped < pc.incarnation
		JOIN members m ON m.circle = pc.circle AND m.gone = 0 AND m.since < $7 AND m.since / 1000000 <= pc.created_at
		WHERE pc.post = $1 AND m.agent > $3
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = m.agent AND b.other = $2)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $2 AND b.other = m.agent) ORDER BY m.agent LIMIT $4)
	UNION ALL SELECT * FROM (SELECT m.agent, 3 FROM post_mentions m WHERE m.post = $1 AND m.agent > $3
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = m.agent AND b.other = $2)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $2 AND b.other = m.agent) ORDER BY m.agent LIMIT $4)
	) GROUP BY agent ORDER BY agent LIMIT $4`
