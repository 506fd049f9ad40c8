package sqlstore

import "strings"

// pullSources are the statements for the newest posts of several keys, newest first: key, author,
// created at, id. For each key they read an index no further than necessary. Named arguments are
// reader and keys; the positions below which (below, belowID) and above which (above, aboveID) the
// posts are; few, the number per key; author, the only one; and n, the number for all keys
// together.
//
// The lookups for each row have an OFFSET, so that PostgreSQL's planner cannot turn them into joins
// of whole tables, and expects most rows to pass: if it expected few, it would rather read and sort
// all rows of a key than walk the index until a page is full.
var pullSources = struct {
	open  string // keys are authors: posts that their followers may see; perhaps more than few of each
	toAll string // keys are authors: posts that everybody may see
	// Keys are authors: posts that only their followers may see.
	toFollowers string
	own         string // keys are authors: posts that they made here; perhaps more than few of each
	// Keys are authors: their replies under posts that everybody may see, except with a block between
	// the reader and the author of the root; and all, for themselves. Neither has those under
	// deleted posts.
	replies, ownReplies string
	// Keys are circles: posts addressed to them that the reader sees through each and has not muted;
	// not limited to n, as a post may occur once per circle.
	circles  string
	ofCircle string // as circles, also of groups that the reader has muted
	// Keys are plain circles: posts of their owner that are addressed to them, as the owner reads them.
	ownCircles string
	mentions   string // keys are agents: posts that mention them
	// circlesBy and mentionsBy are the same for a single author, and read no posts of others.
	circlesBy, mentionsBy string
	public                string // any single key: public posts
}{
	open:        ofReach(``, `1, 2`, ``),
	toAll:       ofReach(``, `2`, ``),
	toFollowers: ofReach(``, `1`, ``),
	own:         ofReach(``, `0, 1, 2`, ` AND q.origin = ''`),
	replies:     replies(`3`, ` AND q.removed < 2`+repliesThere(` AND x.reach = 2`+notBlocked(`@reader`, `x.author`))),
	ownReplies:  replies(`3, 4`, repliesThere(``)),
	circles:     circles(` AND NOT (`+mutedGroup("@reader")+`)`, ``),
	ofCircle:    circles(``, ``),
	circlesBy:   circles(``, byAuthor),
	ownCircles: newestOf(` JOIN circles c ON c.id = k.key AND c.gone = 0 AND c.owner = @reader`, `post`, `post_circles q WHERE q.circle = k.key
		AND q.author = c.owner AND q.incarnation > c.dropped AND `+postThere),
	mentions:   mentions(``),
	mentionsBy: mentions(byAuthor),
	public:     newestOf(``, `id`, `posts q WHERE q.gone = 0 AND q.reach = 2`+notBlocked(`@reader`, `q.author`)) + ` LIMIT @n`,
}

const byAuthor = ` AND q.author = @author`

// postThere is true if the post that a row q names has not been deleted.
const postThere = `EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0 OFFSET 0)`

// newestOf reads, for each key and each row of join, the newest rows q; the column id holds the
// post. SQLite has no LATERAL: a correlated list of row ids also reads an index only as far as
// necessary.
func newestOf(join, id, rows string) string {
	listed := map[string]string{`id`: `p.seq IN (SELECT q.seq`, `post`: `p.id IN (SELECT q.post`}[id]
	return `SELECT k.key, p.author, p.created_at, p.id FROM unnest((SELECT @keys::text[])) k (key)` + join + `
		CROSS JOIN ` + Either(`LATERAL (SELECT q.author, q.created_at, q.`+id+` AS id`, `posts p ON `+listed) + ` FROM ` + rows + `
		AND (q.created_at, q.` + id + `) < (@below, @belowID) AND (q.created_at, q.` + id + `) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.` + id + ` DESC LIMIT @few)` + Either(` p`, ``) + `
		ORDER BY p.created_at DESC, p.id DESC`
}

// ofReach reads posts of authors separately for each reach, as the index has them. The reaches are
// no constants: for a constant the planner might scan the public posts of all authors.
func ofReach(join, reaches, so string) string {
	each := Either(`unnest('{`+reaches+`}'::smallint[]) r (reach)`, `(SELECT value AS reach FROM json_each('[`+reaches+`]')) r`)
	return newestOf(join+` CROSS JOIN `+each, `id`, `posts q WHERE q.author = k.key AND q.gone = 0 AND q.reach = r.reach`+so) + ` LIMIT @n`
}

// replies reads replies of authors like ofReach, except those of before an author's erasure.
func replies(reaches, so string) string {
	return ofReach(` LEFT JOIN authors e ON e.id = k.key`, reaches, ` AND q.created > coalesce(e.erased, 0)`+so)
}

// circles reads posts of circles since the reader joined. The lag bounds the walk of the index and
// excludes no post: see [Tx.place].
func circles(in, by string) string {
	return newestOf(` JOIN circles c ON c.id = k.key AND c.gone = 0 JOIN members m ON m.circle = c.id AND m.agent = @reader AND m.gone = 0`+in, `post`,
		`post_circles q WHERE q.circle = k.key`+by+`
		AND (q.author = c.owner OR c.kind <> 'circle') AND q.incarnation > c.dropped
		AND q.created_at >= m.since / 1000000 - c.lag AND `+strings.Replace(placed, "pc.", "q.", 1)+`
		AND `+postThere+notBlocked(`@reader`, `q.author`))
}

func mentions(by string) string {
	return newestOf(` LEFT JOIN authors e ON e.id = k.key`, `post`, `post_mentions q WHERE q.agent = k.key`+by+`
		AND q.life = coalesce(e.erased_agent, 0) AND `+postThere+notBlocked(`@reader`, `q.author`)) + ` LIMIT @n`
}

// repliesThere excludes replies if the root post was deleted, or does not meet a condition now.
func repliesThere(so string) string {
	return ` AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.root AND x.gone = 0 AND x.deleted < q.root_life` + so + ` OFFSET 0)`
}
