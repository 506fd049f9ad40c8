package postgres

import (
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/sqlstore"
)

var dialect = sqlstore.Dialect{
	Name:   "postgres",
	Reason: reason,

	Damaged: damaged,

	Locks:      [4]string{"", ` FOR KEY SHARE`, ` FOR NO KEY UPDATE`, ` FOR UPDATE`},
	MakeAgents: `INSERT INTO authors (id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`,

	Records: `SELECT ` + sqlstore.RecordColumns + `,
		ARRAY(SELECT c.circle FROM post_circles c WHERE c.post = p.id ORDER BY c.circle)
		FROM posts p WHERE p.id = ANY ($1) ORDER BY ` + sqlstore.LockOrder,

	SaveAuthor: `UPDATE authors SET name = $2, image_url = $3, bio = $4, card_at = $5, has_card = true
		WHERE id = $1 AND $5 > erased AND ($5 > card_at OR $5 = card_at
		AND ($2 COLLATE "C", $3 COLLATE "C", $4 COLLATE "C") > (name, image_url, bio))`,

	Follows: `SELECT e.agent, e.author, coalesce(f.at, 0), coalesce(f.gone, 1),
			EXISTS (SELECT 1 FROM blocks b WHERE b.agent = e.agent AND b.other = e.author)
			OR EXISTS (SELECT 1 FROM blocks b WHERE b.agent = e.author AND b.other = e.agent)
		FROM unnest($1::text[], $2::text[]) e (agent, author) LEFT JOIN follows f ON f.agent = e.agent AND f.author = e.author`,

	SaveFollows: `INSERT INTO follows (agent, author, at, gone) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
		ON CONFLICT (agent, author) DO UPDATE SET at = excluded.at, gone = excluded.gone`,

	SaveCounts: `UPDATE authors a SET followers = d.followers, following = d.following
		FROM unnest($1::text[], $2::bigint[], $3::bigint[]) d (id, followers, following) WHERE a.id = d.id`,

	SaveMembers: `INSERT INTO members (circle, agent, at, gone, incarnation, since)
		SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
		ON CONFLICT (circle, agent) DO UPDATE SET at = excluded.at, gone = excluded.gone, incarnation = excluded.incarnation, since = excluded.since`,

	EraseTime: `SELECT greatest($2::bigint,
		(SELECT max(created) + 1 FROM posts WHERE author = $1 AND gone = 0),
		(SELECT max(at) + 1 FROM follows WHERE author = $1 AND gone = 0),
		(SELECT max(at) + 1 FROM follows WHERE agent = $1),
		(SELECT greatest(card_at, erased) + 1 FROM authors WHERE id = $1),
		(SELECT max(at) + 1 FROM members WHERE agent = $1 AND gone = 0),
		(SELECT max(greatest(put, replaced)) + 1 FROM circles WHERE owner = $1 AND gone = 0),
		(SELECT max(at) + 1 FROM invitations WHERE agent = $1),
		(SELECT max(at) + 1 FROM likes WHERE agent = $1),
		(SELECT max(at) + 1 FROM blocks WHERE agent = $1),
		(SELECT max(at) + 1 FROM post_keys WHERE author = $1))`,

	Erase: `UPDATE authors SET name = '', image_url = '', bio = '', card_at = $2, has_card = false,
		erased = $2, erased_agent = greatest(erased_agent, $3), erasing = greatest(erasing, $4) WHERE id = $1`,

	// The oldest first. What somebody changes at this moment is left to the next time.
	Purges: []string{
		`DELETE FROM follows WHERE ctid = ANY (ARRAY(SELECT ctid FROM follows WHERE gone > 0 AND gone <= $1 ORDER BY gone LIMIT $2 FOR UPDATE SKIP LOCKED))`,
		`DELETE FROM members WHERE ctid = ANY (ARRAY(SELECT ctid FROM members WHERE gone > 0 AND gone <= $1 ORDER BY gone LIMIT $2 FOR UPDATE SKIP LOCKED))`,
		`DELETE FROM post_circles WHERE ctid = ANY (ARRAY(SELECT pc.ctid FROM circles c JOIN post_circles pc ON pc.circle = c.id
			WHERE c.gone > 0 AND c.gone <= $1 AND c.size = 0 LIMIT $2 FOR UPDATE OF pc SKIP LOCKED))`,
		`DELETE FROM circles WHERE id = ANY (ARRAY(SELECT id FROM circles c WHERE gone > 0 AND gone <= $1 AND size = 0
			AND NOT EXISTS (SELECT 1 FROM post_circles pc WHERE pc.circle = c.id OFFSET 0) ORDER BY gone LIMIT $2 FOR UPDATE SKIP LOCKED))`,
		`DELETE FROM authors WHERE id = ANY (ARRAY(SELECT id FROM authors WHERE erased > 0 AND erased_agent = 0 AND erased <= $1 AND erasing = 0
			AND NOT has_card AND followers = 0 AND following = 0 AND delivery = 'push' ORDER BY erased LIMIT $2 FOR UPDATE SKIP LOCKED))`,
	},
	PurgeKeys: `DELETE FROM post_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM post_keys WHERE at <= $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))`,
	OverPosts: `SELECT id FROM posts p WHERE gone > 0 AND gone <= $1 AND NOT EXISTS (SELECT 1 FROM revived v WHERE v.post = p.id OFFSET 0)
		ORDER BY gone LIMIT $2 FOR UPDATE SKIP LOCKED`,

	Facts:     factsFrom,
	Cards:     cardsText,
	CardsOf:   cardsOfText,
	Tiles:     tilesText,
	Standings: standingsText,
	Receivers: receiversText,
	Celebrities: `SELECT agent, author FROM follows WHERE agent = ANY ($1) AND author = '` + social.Server + `' AND gone = 0
		UNION ALL (SELECT f.agent, f.author FROM authors a JOIN follows f ON f.author = a.id
			WHERE a.delivery <> 'push' AND f.agent = ANY ($1) AND f.gone = 0 ORDER BY f.author)
		UNION ALL SELECT k.agent, '` + jobs.Everybody + `' FROM unnest($1::text[]) k (agent)
			JOIN jobs j ON j.kind = '` + string(jobs.Pair) + `' AND j.key = '` + jobs.Everybody + `/' || k.agent AND j.state IN ('pending', 'failed', 'running')`,
	Sources: sources,

	Now:        now,
	Mark:       markText,
	Expire:     expireText,
	Lease:      leaseText,
	CountJobs:  statsText,
	OldestJobs: oldestText,
	Sweep:      sweepText,

	Renew:    renewText,
	Done:     doneText,
	Fail:     failText,
	GiveBack: giveBackText,
	TakeBack: takeBackText,
}
