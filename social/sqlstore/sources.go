package sqlstore

import "strings"

// sources are the statements for the newest posts of each of some keys, newest first: key,
// author, created at, id. They read as far into an index as they must for each key, and no
// further. Named arguments are the reader and the keys; positions below which (below, belowID)
// and above which (above, aboveID) the posts are; few, how many of each key; author, the only
// one; and n, how many of all keys together.
//
// What is looked up for each row has an OFFSET, so that PostgreSQL's planner cannot make a join
// of whole tables of it, and takes it for likely: it would rather read all rows of a key and
// sort them than walk on until a page is full, if it took few rows to be left.
var sources = struct {
	open  string // keys are authors: what their followers may see; perhaps more than few of each
	toAll string // keys are authors: what everybody may see
	own   string // keys are authors: what they have posted here; perhaps more than few of each
	// Keys are authors: their replies to what everybody may see, and all. What has ended, or
	// is of who blocks the reader or is blocked, is left out.
	replies, ownReplies string
	circles             string // keys are circles: what is addressed to them, as the reader sees it by each; n does not hold, as a post comes with each circle
	mentions            string // keys are agents: what mentions them
	// circlesBy and mentionsBy are the same of the one author, and read nothing of others'.
	circlesBy, mentionsBy string
	public                string // one key, whatever it is: what is public
}{
	open:       ofReach(`1, 2`),
	toAll:      ofReach(`2`),
	own:        ofReach(`0, 1, 2`, ` AND q.origin = ''`),
	replies:    ofReach(`3`, repliesThere(` AND x.reach = 2`)),
	ownReplies: ofReach(`3, 4`, repliesThere(``)),
	circles:    circles(``),
	circlesBy:  circles(byAuthor),
	mentions:   mentions(``),
	mentionsBy: mentions(byAuthor),
	public:     newestOf(``, `id`, `posts q WHERE q.gone = 0 AND q.reach = 2`+notBlocked) + ` LIMIT @n`,
}

const (
	byAuthor   = ` AND q.author = @author`
	notBlocked = ` AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = q.author OFFSET 0)
		AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = q.author AND b.other = @reader OFFSET 0)`
)

// newestOf reads, for each key and each row of what it is joined with, the newest rows q, whose
// post is in the column id.
func newestOf(join, id, rows string) string {
	return `SELECT k.key, p.author, p.created_at, p.id FROM unnest((SELECT @keys::text[])) k (key)` + join + `
		CROSS JOIN LATERAL (SELECT q.author, q.created_at, q.` + id + ` AS id FROM ` + rows + `
		AND (q.created_at, q.` + id + `) < (@below, @belowID) AND (q.created_at, q.` + id + `) > (@above, @aboveID)
		ORDER BY q.created_at DESC, q.` + id + ` DESC LIMIT @few) p
		ORDER BY p.created_at DESC, p.id DESC`
}

// ofReach reads posts of authors of each reach by itself, as the index has them. The
// reaches are no constants: for one the planner might walk what is public of all authors.
func ofReach(reaches string, more ...string) string {
	return newestOf(` CROSS JOIN unnest('{`+reaches+`}'::smallint[]) r (reach)`, `id`,
		`posts q WHERE q.author = k.key AND q.gone = 0 AND q.reach = r.reach`+strings.Join(more, "")) + ` LIMIT @n`
}

func circles(by string) string {
	return newestOf(` JOIN circles c ON c.id = k.key AND c.gone = 0 JOIN members m ON m.circle = c.id AND m.agent = @reader AND m.gone = 0`, `post`,
		`post_circles q WHERE q.circle = k.key`+by+`
		AND (q.author = c.owner OR c.kind <> 'circle') AND q.incarnation > c.dropped AND q.created_at >= m.since / 1000000
		AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0 AND x.created > m.since OFFSET 0)`+notBlocked)
}

func mentions(by string) string {
	return newestOf(``, `post`, `post_mentions q WHERE q.agent = k.key`+by+`
		AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.post AND x.gone = 0 OFFSET 0)`+notBlocked) + ` LIMIT @n`
}

// repliesThere leaves out replies whose root has ended, or is not so any more, or is of an
// author whom the reader blocks or is blocked by.
func repliesThere(so string) string {
	return ` AND EXISTS (SELECT 1 FROM posts x WHERE x.id = q.root AND x.gone = 0 AND x.deleted < q.root_life` + so + `
	AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = @reader AND b.other = x.author)
	AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = x.author AND b.other = @reader) OFFSET 0)`
}
