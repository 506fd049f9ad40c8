package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Values of the column removed of a post.
const (
	removedNowhere = iota
	removedPartly  // from some groups
	removedEverywhere
)

// removalsOfPost lists the removals of a post p; see [parseRemovals].
var removalsOfPost = listOf(`rm.circle || ' ' || rm.removed_by || ' ' || rm.at || ' ' || rm.reason`, `removals rm WHERE rm.post = p.id AND p.removed > 0`)

func parseRemovals(rows []string) (list []social.Removal, err error) {
	for _, row := range rows {
		part := strings.SplitN(row, " ", 4)
		if len(part) < 4 {
			return nil, Damaged(fmt.Errorf("removal %q", row))
		}
		at, err := strconv.ParseInt(part[2], 10, 64)
		if err != nil {
			return nil, Damaged(err)
		}
		r := social.Removal{Circle: part[0], By: part[1], At: at / 1e6, Reason: part[3]}
		if r.Circle == moderatedCircle {
			r.Circle, r.By, r.Held = "", social.ByAdmin, r.By == byHolder
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b social.Removal) int {
		return cmp.Or(strings.Compare(a.Circle, b.Circle), cmp.Compare(a.At, b.At), strings.Compare(a.By, b.By))
	})
	return list, nil
}

// removedFrom reports whether a list of removals contains a circle.
func removedFrom(list []social.Removal, circle string) bool {
	return slices.ContainsFunc(list, func(r social.Removal) bool { return r.Circle == circle })
}

// RemovePost implements [social.Posts].
func (s *Store) RemovePost(ctx context.Context, id, by, circle, reason string) error {
	if err := checkChange(id, by, time.Time{}, s.opts.Clock()); err != nil {
		return err
	}
	if circle != "" {
		if err := social.CheckCircleID(circle); err != nil {
			return err
		}
	}
	if err := social.CheckReason(reason); err != nil {
		return err
	}
	return s.failed(ctx, "remove post", s.write(ctx, func(t *Tx) {
		r := t.load(id)
		if r.Post.IsReply() {
			t.lockRoots(id)
		}
		f := t.facts(by, id)
		rootGone := r.Post.IsReply() && !f.rel.RootExists
		if !f.there || f.post.Deleted || rootGone {
			t.fail(fmt.Errorf("%s: %w", id, feed.ErrNotFound))
			return
		}
		m := t.removing(r, by, circle)
		if len(m.from) == 0 {
			t.fail(refusedRemoval(f, id, by, circle, m))
			return
		}
		m.reason = reason
		t.remove(r, m)
	}))
}

// removing is a removal: by whom, and from which groups; "" is the thread of a reply.
type removing struct {
	agent, by, reason string
	from              []string
	alive             []string     // all groups and circles that the root post addresses
	reach             social.Reach // of the root post
}

// removing finds what an agent, or "" for an admin, may remove a post from. Groups that it was
// removed from before count, so that a repetition changes nothing.
func (t *Tx) removing(r *record, by, circle string) removing {
	m := removing{agent: by, by: social.ByGroupOwner, reach: r.Post.Audience.Reach()}
	root, author := r.Post.ID, ""
	var remote bool
	if r.Post.IsReply() {
		root = r.Post.Root
		t.row(into(&author, &m.reach, &remote), `SELECT author, reach, origin <> '' FROM posts WHERE id = $1`, root)
	}
	if by == "" {
		m.by = social.ByAdmin
	}
	owned := t.addressedGroups(root, r.Post.ID, by, &m)
	ofThread := r.Post.IsReply() && circle == ""
	switch {
	case ofThread && by == "":
		m.from = []string{""}
	case ofThread && by == author && !remote:
		m.by, m.from = social.ByPostAuthor, []string{""}
	case by == "" && circle == "", r.Post.IsReply() && m.reach > social.Addressed:
	case circle == "":
		m.from = owned
	case slices.Contains(owned, circle):
		m.from = []string{circle}
	}
	return m
}

// addressedGroups reads the circles that a root post addresses, and returns the groups of these that
// an agent owns, or all for an admin.
func (t *Tx) addressedGroups(root, post, by string, m *removing) (owned []string) {
	t.each(func(scan Scan) error {
		var id, owner string
		var group, addressed bool
		err := scan(&id, &owner, &group, &addressed)
		if addressed {
			m.alive = append(m.alive, id)
		}
		if group && (by == "" || by == owner) {
			owned = append(owned, id)
		}
		return err
	}, `SELECT c.id, c.owner, c.kind <> 'circle', j.addressed FROM (
			SELECT pc.circle, pc.incarnation, true AS addressed FROM post_circles pc WHERE pc.post = $1
			UNION ALL SELECT rm.circle, rm.incarnation, false FROM removals rm WHERE rm.post = $2 AND $1 = $2
		) j JOIN circles c ON c.id = j.circle AND c.dropped < j.incarnation AND `+circleThere+` ORDER BY c.id`, root, post)
	return owned
}

// refusedRemoval returns the reason why nothing may be removed.
func refusedRemoval(f *facts, id, by, circle string, m removing) error {
	switch {
	case by == "" && circle == "":
		return feed.Errorf(feed.ErrInvalid, "circle is missing: an admin removes a post from a group that it addresses, or deletes it")
	case by == "" && !f.post.IsReply(), by != "" && !f.decide().Visible:
		return fmt.Errorf("%s: %w", id, feed.ErrNotFound)
	case f.post.IsReply() && m.reach > social.Addressed:
		return feed.Errorf(feed.ErrForbidden, "not only groups see the post above %s: only the author of that post may remove the reply", id)
	}
	return feed.Errorf(feed.ErrForbidden, "%s may not change %s: not allowed", cmp.Or(by, "an admin"), id)
}

// insertRemoval stores a removal, unless there is one. One from a group that was deleted since, whose
// id another group has now, is replaced.
const insertRemoval = `INSERT INTO removals AS k (post, circle, removed_by, agent, reason, at, incarnation)
	VALUES ($1, $2, $3, $4, $5, $6, coalesce((SELECT c.put FROM circles c WHERE c.id = $2), 0))
	ON CONFLICT (post, circle) DO UPDATE SET removed_by = excluded.removed_by, agent = excluded.agent, reason = excluded.reason, at = excluded.at,
		incarnation = excluded.incarnation
	WHERE k.incarnation < coalesce((SELECT c.dropped FROM circles c WHERE c.id = k.circle), 0)`

// remove removes a post from groups, or a reply from groups or its thread.
func (t *Tx) remove(r *record, m removing) {
	at, changed := social.Stamp(t.now), false
	for _, circle := range m.from {
		n := t.exec(insertRemoval, r.Post.ID, circle, m.by, m.agent, m.reason, at)
		changed = changed || n > 0
	}
	if !changed {
		return
	}
	if !r.Post.IsReply() {
		t.removeFromGroups(r, m)
		return
	}
	gone := append(t.texts(`SELECT circle FROM removals WHERE post = $1`, r.Post.ID), m.from...)
	shown := slices.ContainsFunc(m.alive, func(circle string) bool { return !slices.Contains(gone, circle) })
	everywhere := slices.Contains(gone, "") || m.reach == social.Addressed && !shown
	if everywhere && r.removed < removedEverywhere {
		t.uncomment(r)
	}
	t.setRemoved(r, everywhere)
}

func (t *Tx) setRemoved(r *record, everywhere bool) {
	was := r.removed
	r.removed = max(r.removed, removedPartly)
	if everywhere {
		r.removed = removedEverywhere
	}
	if was == removedEverywhere { // perhaps only as long as moderators hide it
		restored := removedPartly
		if everywhere {
			restored = removedEverywhere
		}
		t.exec(`UPDATE moderated SET removed = greatest(removed, $2) WHERE post = $1`, r.Post.ID, restored)
	}
	t.exec(`UPDATE posts SET removed = $2 WHERE id = $1`, r.Post.ID, r.removed)
}

// removeFromGroups ends the addressing of groups by a post. One without any other audience stays
// visible to its author alone: its mentions grant nothing any more. The others whom a post mentions
// do not get into its audience because a group has left it.
func (t *Tx) removeFromGroups(r *record, m removing) {
	t.exec(`DELETE FROM post_circles WHERE post = $1 AND circle `+ofList2, r.Post.ID, m.from)
	t.close(r.Post.ID)
	for _, circle := range m.from {
		t.membersChanged(circle, t.present(circle), jobs.PriorityRemoval)
	}
	left := slices.ContainsFunc(m.alive, func(circle string) bool { return !slices.Contains(m.from, circle) })
	everywhere := m.reach == social.Addressed && !left
	if everywhere {
		for _, agent := range r.Post.Mentions {
			t.enqueue(jobs.Spec{Kind: jobs.AuthorAgent, Key: jobs.PairKey(r.Post.Author, agent), Priority: jobs.PriorityRemoval})
		}
		t.mentionNobody(r.Post.ID)
	}
	t.setRemoved(r, everywhere)
}

// keepRemoved applies the removals of a post to another report of it.
func (t *Tx) keepRemoved(p *social.Post, r *record) {
	if r.removed == removedNowhere {
		return
	}
	gone := t.texts(`SELECT rm.circle FROM removals rm LEFT JOIN circles c ON c.id = rm.circle WHERE rm.post = $1 AND rm.incarnation > coalesce(c.dropped, 0)`, p.ID)
	if r.removed == removedEverywhere {
		t.keepModerated(p, &r.Post)
	}
	before := len(p.Audience.Circles)
	p.Audience.Circles = some(slices.DeleteFunc(slices.Clone(p.Audience.Circles), func(circle string) bool { return slices.Contains(gone, circle) }))
	p.Closed = p.Closed || len(p.Audience.Circles) < before
	if before > 0 && len(p.Audience.Circles) == 0 && p.Audience.Reach() == social.Addressed {
		r.removed = removedEverywhere
	}
	p.Removed = r.removed == removedEverywhere
	if p.Removed {
		p.Audience = social.Audience{}
	}
}

// forgetRemovals ends the removals of posts whose author is erased: another may have the id now.
func (t *Tx) forgetRemovals(records ...*record) {
	var ids []string
	for _, r := range records {
		if r.removed > removedNowhere {
			ids = append(ids, r.Post.ID)
		}
		r.removed = removedNowhere
	}
	if len(ids) > 0 {
		t.later(`UPDATE posts SET removed = $2 WHERE id = ANY ($1)`, ids, removedNowhere)
		t.later(`DELETE FROM removals WHERE post = ANY ($1)`, ids)
		t.forgetModeration(ids...)
	}
}
