package sqlstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
)

// Who sees a post must not depend on the clocks of servers. This file has the two ways in which the
// database orders what decides it:
//
//   - The joinings and posts of a group have places in one order, which the group's row keeps.
//   - Whatever refers to an agent's id refers to one life of the id: the lives are told apart, not
//     ordered.
//
// docs/decisions/order.md lists all stamps that are compared.

// placed is true if the member m of a circle sees a post that addresses it, a row pc: the post has a
// later place than the joining, or the member sees all posts.
const placed = `(m.since <= 1 OR m.since < pc.at)`

// isPlaced is [placed] for rows that were read: since is the member's, at the post's.
func isPlaced(since, at int64) bool { return since <= 1 || since < at }

// placeText gives a post made here, with the stamp $2 and the time $3, a place in each of the groups
// $1. The lag is how many seconds the place of a post is later than its time, at most.
const placeText = `UPDATE circles SET posted = greatest(posted, joined + 1, $2::bigint),
	lag = greatest(lag, greatest(posted, joined + 1, $2::bigint) / 1000000 - $3::bigint) WHERE id ` + ofList

// place addresses a post made here to the circles that its author may post to. In a group that shows
// members the posts since they joined, it comes after all joinings so far: joinings and posts change
// the group's row, so they get their places one after another. The row is locked with the commit:
// nothing that holds it waits for a post, or for an agent who is doing something.
func (t *Tx) place(r *record, to []circle) {
	var ids, ordered []string
	var incarnations, own []int64
	for i := range to {
		c := &to[i]
		ids, incarnations, own = append(ids, c.ID), append(incarnations, c.put), append(own, 0)
		if !c.Open() {
			own[i] = 1
		}
		if c.ordered() {
			ordered = append(ordered, c.ID)
		}
	}
	p := &r.Post
	if len(ordered) > 0 {
		t.lockLater(ordered)
		t.later(placeText, ordered, r.Times.Created, p.CreatedAt)
	}
	t.later(`INSERT INTO post_circles (post, circle, author, created_at, incarnation, at, own)
		SELECT $1, d.circle, $2, $3, d.put, coalesce((SELECT nullif(c.posted, 0) FROM circles c WHERE c.id = d.circle), $4), d.own > 0
		FROM unnest((SELECT $5::text[]), (SELECT $6::bigint[]), (SELECT $7::bigint[])) d (circle, put, own)`,
		p.ID, p.Author, p.CreatedAt, r.Times.Created, Table{ids, incarnations, own})
}

// placeReported addresses a post that an event reported to the circles that existed, or will have
// existed, at its time; of groups made here, only its author's, as others may have taken the id. Its
// place is its own time, or that of its creation if the event reports a later change.
func (t *Tx) placeReported(r *record) {
	p, ids := &r.Post, r.Post.Audience.Circles
	t.lockLater(ids)
	t.later(`UPDATE circles SET reported = greatest(reported, $2::bigint) WHERE id `+ofList+` AND gone = 0 AND (told OR owner = $3)`,
		ids, r.Times.Created, p.Author)
	t.later(`INSERT INTO post_circles (post, circle, author, created_at, incarnation, at, own)
		SELECT $1, j.value, $3, $4, coalesce((SELECT 0::bigint FROM circles c
			WHERE c.id = j.value AND c.gone = 0 AND NOT c.told AND c.owner <> $3), $5::bigint), $6::bigint,
			coalesce((SELECT c.owner = $3 AND c.kind = 'circle' AND c.gone = 0 AND c.dropped < $5 FROM circles c WHERE c.id = j.value), false)
		FROM unnest((SELECT $2::text[])) j (value)`,
		p.ID, ids, p.Author, p.CreatedAt, r.Times.Created, reportedAt(r))
}

// lockLater locks circles with the commit, by id.
func (t *Tx) lockLater(circles []string) {
	if !t.d.OneWriter {
		t.later(`SELECT 1 FROM circles WHERE id `+ofList+` ORDER BY id`+locks[changing], circles)
	}
}

// reportedAt returns the stamp of a post that an event reported: not later than the second in which
// the post was created, as the event may report a later change of it.
func reportedAt(r *record) int64 { return min(r.Times.Created, (r.Post.CreatedAt+1)*1e6-1) }

// noLife is the life of a reference to an agent that counts for nobody.
const noLife = -1

// lifeOf selects the life of the agent of a column: the stamp up to which earlier ones are erased.
func lifeOf(column string) string { return erasedAgent(column) }

// surely is the latest erasure that a post is surely later than, if an event reported it: the clock
// of the other system may be ahead.
func surely(r *record) int64 { return reportedAt(r) - feed.MaxClockSkew.Microseconds() }

// mention writes the mentions of a post. Those of a reply, and of a post that was removed from
// everywhere, grant nothing. Stored ones stay as they are.
func (t *Tx) mention(r *record, here bool) {
	p := &r.Post
	if len(p.Mentions) == 0 {
		return
	}
	life, args := lifeOf("j.value"), []any{p.ID, p.Mentions}
	if !here && !p.IsReply() {
		life = `CASE WHEN ` + life + ` = 0 OR ` + life + ` < $3 THEN ` + life + ` ELSE ` + strconv.Itoa(noLife) + ` END`
		args = append(args, surely(r))
	}
	if p.IsReply() || r.removed == removedEverywhere {
		t.later(`INSERT INTO reply_mentions (reply, agent, life) SELECT $1, j.value, `+life+`
			FROM unnest((SELECT $2::text[])) j (value) WHERE true ON CONFLICT DO NOTHING`, args...)
		return
	}
	author, created := fmt.Sprintf("$%d", len(args)+1), fmt.Sprintf("$%d", len(args)+2)
	t.later(`INSERT INTO post_mentions (post, agent, author, created_at, life)
		SELECT $1, j.value, `+author+`, `+created+`, `+life+` FROM unnest((SELECT $2::text[])) j (value) WHERE true ON CONFLICT DO NOTHING`, append(args, p.Author, p.CreatedAt)...)
}

// mentionNobody ends what the mentions of a post grant. They stay mentions.
func (t *Tx) mentionNobody(post string) {
	t.later(`INSERT INTO reply_mentions (reply, agent, life) SELECT post, agent, life FROM post_mentions WHERE post = $1 ON CONFLICT DO NOTHING`, post)
	t.later(`DELETE FROM post_mentions WHERE post = $1`, post)
}

// grant returns the grants of a post in the form of [grantOf]. Those of kept stay as they are.
func (t *Tx) grant(r *record, here bool, kept []string) []string {
	agents := r.Post.Grants
	if len(agents) == 0 {
		return nil
	}
	lives := map[string]int64{}
	mapOf(&t.Query, lives, `SELECT id, erased_agent FROM authors WHERE id `+ofList+` AND erased_agent > 0`, agents)
	list := make([]string, len(agents))
	for i, agent := range agents {
		life := lives[agent]
		if !here && life > 0 && life >= surely(r) {
			life = noLife
		}
		list[i] = grantOf(agent, life)
		same := slices.IndexFunc(kept, func(grant string) bool { return granted(grant) == agent })
		if same >= 0 {
			list[i] = kept[same]
		}
	}
	return list
}

// grantOf is the stored grant to an agent: the id and, unless it is the first, the life of the id.
func grantOf(agent string, life int64) string {
	if life == 0 {
		return agent
	}
	return agent + " " + strconv.FormatInt(life, 10)
}

// granted returns the agent of a stored grant.
func granted(grant string) string {
	agent, _, _ := strings.Cut(grant, " ")
	return agent
}

// grantedToReader and mentionOf select the form of [grantOf] for the reader $1, and for a mention m.
const (
	grantedToReader = `CASE WHEN ` + erasedReader + ` = 0 THEN $1 ELSE $1 || ' '::text || ` + erasedReader + ` END`
	mentionOf       = `CASE WHEN m.life = 0 THEN m.agent ELSE m.agent || ' '::text || m.life END`
)
