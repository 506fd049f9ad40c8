package postgres

import (
	"strings"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

// factsFrom selects what [social.Decide] must know of posts p and the reader
// $1, and must be joined with [sqlstore.Parties]. "There" is false of tombstones,
// and of posts of an author who is being erased. What was given to an id before its
// erasure, or before the post or the circle was made again, is not there either.
//
// OFFSET 0 keeps PostgreSQL from answering an EXISTS with a hash of all that the
// reader follows or likes: a probe for each post costs the same for every reader.
const factsFrom = `p.author, p.origin, p.reach, p.reply, p.react, coalesce(a.delivery, 'push'),
	p.gone = 0 AND p.created > coalesce(a.erased, 0) AS there,
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = p.author AND f.gone = 0
		AND f.at > coalesce(r.erased_agent, 0) AND f.at > coalesce(a.erased, 0) OFFSET 0),
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = '` + social.Server + `' AND f.gone = 0
		AND f.at > coalesce(r.erased_agent, 0) OFFSET 0),
	` + memberOf + `,
	p.created > coalesce(r.erased_agent, 0) AND EXISTS (SELECT 1 FROM post_mentions m WHERE m.post = p.id AND m.agent = $1 OFFSET 0),
	p.created > coalesce(r.erased_agent, 0) AND $1 = ANY (p.grants),
	EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = p.author OFFSET 0)
		OR EXISTS (SELECT 1 FROM blocks b WHERE b.agent = p.author AND b.other = $1 OFFSET 0),
	p.deleted, p.root, p.root_life`

// memberOf says whether the reader $1 is in a circle that p addresses, since p was created,
// and that is its author's: the id of a circle that was dropped may be another's now. Who
// posts to a group was a member of it then.
const memberOf = `EXISTS (SELECT 1 FROM post_circles pc
	JOIN circles c ON c.id = pc.circle AND (c.owner = pc.author OR c.kind <> 'circle') AND c.gone = 0 AND c.dropped < pc.incarnation
		AND c.put > coalesce((SELECT o.erased_agent FROM authors o WHERE o.id = c.owner), 0)
	JOIN members m ON m.circle = pc.circle AND m.agent = $1 AND m.gone = 0 AND m.at > coalesce(r.erased_agent, 0)
		AND m.since < p.created AND m.since / 1000000 <= p.created_at WHERE pc.post = p.id OFFSET 0)`

const (
	cardHead = factsFrom + `, j.i - 1, p.version, p.created_at, p.likes_here + p.likes_reported, ` + sqlstore.Commented + `, `
	cardFrom = cardHead + `CASE WHEN p.version <> j.version THEN p.content END, coalesce(a.name, ''), coalesce(a.image_url, ''),
	EXISTS (SELECT 1 FROM likes l WHERE l.post = p.id AND l.agent = $1 AND l.incarnation > p.deleted AND l.at > coalesce(r.erased_agent, 0) OFFSET 0),
	cardinality(p.grants) > 0`
	cardsText = `SELECT ` + cardFrom + `
	FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY j (id, version, i)
	JOIN posts p ON p.id = j.id ` + sqlstore.Parties + `
	WHERE p.gone = 0`
	// The functions of json, not jsonb, answer what is stored.
	tilesText = `SELECT ` + cardHead + `coalesce(p.content::json #>> '{images,0}', 'null'), '', '', false, true
	FROM unnest($2::text[]) WITH ORDINALITY j (id, i) JOIN posts p ON p.id = j.id ` + sqlstore.Parties + `
	WHERE p.gone = 0`
)

// cardsOfText has a reader for each row in the place of the one that $1 is.
var cardsOfText = `SELECT ` + strings.ReplaceAll(cardFrom, "$1", "j.reader") + `
	FROM (SELECT u.*, 0 AS version FROM unnest($1::text[], $2::text[]) WITH ORDINALITY u (reader, id, i)) j
	JOIN posts p ON p.id = j.id ` + strings.ReplaceAll(sqlstore.Parties, "$1", "j.reader") + `
	WHERE p.gone = 0`

const standingsText = `SELECT ` + factsFrom + `, j.i - 1, p.created_at FROM unnest($2::text[]) WITH ORDINALITY j (id, i)
	JOIN posts p ON p.id = j.id ` + sqlstore.Parties + ` WHERE p.author <> ''`

// receiversText limits each part by itself, so that a page of a million followers reads
// a page of them; who is blocked is left out before that. Followers need no such look,
// since a block ends the follow.
const receiversText = `SELECT agent, min(rank) FROM (
	SELECT $2::text COLLATE "C" AS agent, 0 AS rank WHERE $2::text COLLATE "C" > $3 AND $5
	UNION ALL SELECT * FROM (SELECT agent, 1 FROM follows WHERE $6 AND author = $2 AND gone = 0 AND agent > $3 ORDER BY agent LIMIT $4) f
	UNION ALL SELECT * FROM (SELECT DISTINCT m.agent, 2 FROM post_circles pc
		JOIN circles c ON c.id = pc.circle AND (c.owner = pc.author OR c.kind <> 'circle') AND c.gone = 0 AND c.dropped < pc.incarnation
		JOIN members m ON m.circle = pc.circle AND m.gone = 0 AND m.since < $7 AND m.since / 1000000 <= pc.created_at
		WHERE pc.post = $1 AND m.agent > $3
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = m.agent AND b.other = $2)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $2 AND b.other = m.agent) ORDER BY m.agent LIMIT $4) c
	UNION ALL SELECT * FROM (SELECT m.agent, 3 FROM post_mentions m WHERE m.post = $1 AND m.agent > $3
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = m.agent AND b.other = $2)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $2 AND b.other = m.agent) ORDER BY m.agent LIMIT $4) m
	) r GROUP BY agent ORDER BY agent LIMIT $4`
