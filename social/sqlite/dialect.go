package sqlite

import (
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/sqlstore"
)

// dialect needs no locks: there is one writer at a time.
var dialect = sqlstore.Dialect{
	Name:   "sqlite",
	Reason: reason,

	Damaged: sqlitefile.Refused,

	Records: `SELECT ` + sqlstore.RecordColumns + `,
		(SELECT json_group_array(circle) FROM (SELECT c.circle FROM post_circles c WHERE c.post = p.id ORDER BY c.circle))
		FROM posts p WHERE p.id = ANY ($1) ORDER BY ` + sqlstore.LockOrder,

	SaveAuthor: `INSERT INTO authors (id, name, image_url, bio, card_at, has_card) VALUES ($1, $2, $3, $4, $5, 1)
		ON CONFLICT (id) DO UPDATE SET name = $2, image_url = $3, bio = $4, card_at = $5, has_card = 1
		WHERE $5 > erased AND ($5 > card_at OR $5 = card_at AND ($2, $3, $4) > (name, image_url, bio))`,

	Follows: `SELECT j.value ->> 0, j.value ->> 1, ifnull(f.at, 0), ifnull(f.gone, 1),
			EXISTS (SELECT 1 FROM blocks WHERE agent = j.value ->> 0 AND other = j.value ->> 1)
			OR EXISTS (SELECT 1 FROM blocks WHERE agent = j.value ->> 1 AND other = j.value ->> 0)
		FROM json_each($1) j LEFT JOIN follows f ON f.agent = j.value ->> 0 AND f.author = j.value ->> 1`,

	SaveFollows: `INSERT INTO follows (agent, author, at, gone)
		SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each($1) WHERE true
		ON CONFLICT (agent, author) DO UPDATE SET at = excluded.at, gone = excluded.gone`,

	SaveCounts: `INSERT INTO authors (id, followers, following)
		SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each($1) WHERE true
		ON CONFLICT (id) DO UPDATE SET followers = excluded.followers, following = excluded.following`,

	SaveMembers: `INSERT INTO members (circle, agent, at, gone, incarnation, since) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (circle, agent) DO UPDATE SET at = excluded.at, gone = excluded.gone, incarnation = excluded.incarnation, since = excluded.since`,

	EraseTime: `SELECT max($2,
		ifnull((SELECT max(created) + 1 FROM posts WHERE author = $1 AND gone = 0), 0),
		ifnull((SELECT max(at) + 1 FROM follows WHERE author = $1 AND gone = 0), 0),
		ifnull((SELECT max(at) + 1 FROM follows WHERE agent = $1), 0),
		ifnull((SELECT max(max(card_at, erased)) + 1 FROM authors WHERE id = $1), 0),
		ifnull((SELECT max(at) + 1 FROM members WHERE agent = $1 AND gone = 0), 0),
		ifnull((SELECT max(max(put, replaced)) + 1 FROM circles WHERE owner = $1 AND gone = 0), 0),
		ifnull((SELECT max(at) + 1 FROM invitations WHERE agent = $1), 0),
		ifnull((SELECT max(at) + 1 FROM likes WHERE agent = $1), 0),
		ifnull((SELECT max(at) + 1 FROM blocks WHERE agent = $1), 0),
		ifnull((SELECT max(at) + 1 FROM post_keys WHERE author = $1), 0))`,

	Erase: `INSERT INTO authors (id, card_at, erased, erased_agent, erasing) VALUES ($1, $2, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET name = '', image_url = '', bio = '', card_at = $2, has_card = 0,
		erased = $2, erased_agent = max(erased_agent, $3), erasing = max(erasing, $4)`,

	Purges: []string{
		`DELETE FROM follows WHERE (agent, author) IN (SELECT agent, author FROM follows WHERE gone > 0 AND gone <= $1 LIMIT $2)`,
		`DELETE FROM members WHERE (circle, agent) IN (SELECT circle, agent FROM members WHERE gone > 0 AND gone <= $1 LIMIT $2)`,
		`DELETE FROM post_circles WHERE (post, circle) IN (SELECT pc.post, pc.circle FROM circles c JOIN post_circles pc ON pc.circle = c.id
			WHERE c.gone > 0 AND c.gone <= $1 AND c.size = 0 LIMIT $2)`,
		`DELETE FROM circles WHERE id IN (SELECT id FROM circles c WHERE gone > 0 AND gone <= $1 AND size = 0
			AND NOT EXISTS (SELECT 1 FROM post_circles pc WHERE pc.circle = c.id) LIMIT $2)`,
		`DELETE FROM authors WHERE id IN (SELECT id FROM authors WHERE erased > 0 AND erased_agent = 0 AND erased <= $1 AND erasing = 0
			AND has_card = 0 AND followers = 0 AND following = 0 AND delivery = 'push' LIMIT $2)`,
	},
	PurgeKeys: `DELETE FROM post_keys WHERE (author, key) IN (SELECT author, key FROM post_keys WHERE at <= $1 LIMIT $2)`,
	OverPosts: `SELECT id FROM posts p WHERE gone > 0 AND gone <= $1 AND NOT EXISTS (SELECT 1 FROM revived v WHERE v.post = p.id) LIMIT $2`,

	Facts:     factsFrom,
	Cards:     cardsText,
	CardsOf:   cardsOfText,
	Tiles:     tilesText,
	PostFacts: postFacts,
	Standings: standingsText,
	Receivers: receiversText,
	Celebrities: `SELECT f.agent, f.author FROM json_each($1) k CROSS JOIN follows f ON f.agent = k.value LEFT JOIN authors a ON a.id = f.author
		WHERE f.gone = 0 AND (f.author = '` + social.Server + `' OR a.delivery <> 'push')
		UNION ALL SELECT k.value, '` + jobs.Everybody + `' FROM json_each($1) k
			JOIN jobs j ON j.kind = '` + string(jobs.Pair) + `' AND j.key = '` + jobs.Everybody + `/' || k.value AND j.state IN ('pending', 'failed', 'running')
		ORDER BY 2`,
	Sources: sources,

	Now:        now,
	Mark:       markText,
	Due:        dueText,
	Expire:     expireText,
	Choose:     [2]string{overdueText, othersText},
	CountJobs:  `SELECT kind, state, count(*) FROM jobs WHERE state IN ('pending', 'running', 'failed', 'dead') GROUP BY state, kind`,
	OldestJobs: oldestText,
	Sweep:      `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE state = 'completed' AND finished <= $1 - $2 ORDER BY finished LIMIT $3)`,

	Renew:    renewText,
	Done:     completeText,
	Fail:     failText,
	GiveBack: giveBackText,
	TakeBack: takeBackText,
	Remove:   removeText,
}
