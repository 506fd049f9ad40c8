package sqlstore

import (
	"context"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Values of the column state of moderated, and what removals says of them, with the circle moderatedCircle.
const (
	stateNone = iota
	stateHeld
	stateRemoved

	moderatedCircle = "*" // no circle has this id
	byHolder        = "held"
)

// moderationStates are the states by their column.
var moderationStates = [...]social.ModerationState{social.Unmoderated, social.HeldPost, social.RemovedPost}

// Moderate implements [social.Moderation].
func (s *Store) Moderate(ctx context.Context, m social.Moderate) (changed bool, err error) {
	if err := m.Check(s.opts.Clock()); err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *Tx) {
		changed = false
		switch m.Action {
		case social.ActionHold:
			changed = t.moderatePost(m, stateHeld)
		case social.ActionRemove:
			changed = t.moderatePost(m, stateRemoved)
		case social.ActionRestore:
			changed = t.moderatePost(m, stateNone)
		case social.ActionSuspend, social.ActionLift:
			changed = t.suspend(m)
		}
		if t.decideReports(m, changed) {
			changed = true
		}
		t.audit(m.By, m.Action, m.Object, m.Reason)
	})
	return changed && err == nil, s.failed(ctx, "moderate", err)
}

// moderation is the row of a moderated post.
type moderation struct {
	state   int
	removed int          // the column of the post, without this
	reach   social.Reach // the same
}

// moderatePost brings a post into a state, and reports whether it was in another.
func (t *Tx) moderatePost(m social.Moderate, to int) (changed bool) {
	id := m.Object.ID
	r := t.load(id)
	if r.Post.IsReply() {
		t.lockRoots(id)
	}
	f := t.facts("", id)
	rootGone := r.Post.IsReply() && !f.rel.RootExists
	if !f.there || rootGone {
		return t.fail(fmt.Errorf("%s: %w", id, feed.ErrNotFound))
	}
	var was moderation
	t.row(into(&was.state, &was.removed, &was.reach), `SELECT state, removed, reach FROM moderated WHERE post = $1`, id)
	if t.err != nil || was.state == to {
		return false
	}
	change := social.Change{Type: social.PostRestored, Other: r.Post.Author, Object: id}
	if to == stateNone {
		t.restorePost(r, was)
	} else {
		by := social.ByAdmin
		change.Type = social.PostRemoved
		if to == stateHeld {
			by, change.Type = byHolder, social.PostHeld
		}
		t.exec(`INSERT INTO removals (post, circle, removed_by, agent, reason, at, incarnation) VALUES ($1, '`+moderatedCircle+`', $2, '', $3, $4, 0)
			ON CONFLICT (post, circle) DO UPDATE SET removed_by = excluded.removed_by, reason = excluded.reason, at = excluded.at`,
			id, by, m.Reason, social.Stamp(t.now))
		t.exec(`INSERT INTO moderated (post, state, removed, reach) VALUES ($1, $2, $3, $4) ON CONFLICT (post) DO UPDATE SET state = excluded.state`,
			id, to, r.removed, int(r.reach()))
		if was.state == stateNone {
			t.hidePost(r)
		}
	}
	t.change(change)
	t.untellPost(&r.Post)
	return true
}

// hidePost takes a post out of its audience. So it is like a post that was removed from everywhere: every
// statement, rule and count that knows these leaves it out.
func (t *Tx) hidePost(r *record) {
	p, before := &r.Post, r.removed
	was := social.Post{ID: p.ID, Audience: p.Audience}
	t.uncomment(r)
	r.removed = removedEverywhere
	p.Version++
	if !p.IsReply() {
		p.Audience = social.Audience{}
		if before < removedEverywhere {
			t.later(`INSERT INTO moderated_circles (post, circle, author, created_at, incarnation, at, own)
				SELECT post, circle, author, created_at, incarnation, at, own FROM post_circles WHERE post = $1`, p.ID)
			t.later(`DELETE FROM post_circles WHERE post = $1`, p.ID)
			t.mentionNobody(p.ID)
		}
		t.enqueue(jobs.Spec{Kind: jobs.Deliver, Key: p.ID, Priority: jobs.PriorityRemoval})
		t.indexed(&was, jobs.PriorityRemoval)
	}
	t.save(r)
}

// restorePost gives a post the audience of before back. Circles that have been deleted meanwhile, and agents who
// were erased, do not count, as their rows say which life of an id they mean.
func (t *Tx) restorePost(r *record, was moderation) {
	p := &r.Post
	r.removed = was.removed
	p.Version++
	if !p.IsReply() {
		p.Audience = was.reach.Audience()
		p.Audience.Circles = t.texts(`SELECT circle FROM moderated_circles WHERE post = $1 AND circle <> '`+goneCircle+`'`, p.ID)
		if was.removed < removedEverywhere {
			t.later(`INSERT INTO post_circles (post, circle, author, created_at, incarnation, at, own)
				SELECT post, circle, author, created_at, incarnation, at, own FROM moderated_circles WHERE post = $1 ON CONFLICT DO NOTHING`, p.ID)
			t.later(`INSERT INTO post_mentions (post, agent, author, created_at, life)
				SELECT m.reply, m.agent, $2, $3, m.life FROM reply_mentions m WHERE m.reply = $1 ON CONFLICT DO NOTHING`, p.ID, p.Author, p.CreatedAt)
			t.later(`DELETE FROM reply_mentions WHERE reply = $1`, p.ID)
		}
	}
	t.save(r)
	t.later(`DELETE FROM removals WHERE post = $1 AND circle = '`+moderatedCircle+`'`, p.ID)
	t.forgetModeration(p.ID)
	if p.IsReply() {
		t.comment(r)
		return
	}
	var followers int64
	t.row(into(&followers), `SELECT followers FROM authors WHERE id = $1`, p.Author)
	t.published(p, followers)
}

// forgetModeration removes what restores posts.
func (t *Tx) forgetModeration(posts ...string) {
	t.later(`DELETE FROM moderated_circles WHERE post = ANY ($1)`, posts)
	t.later(`DELETE FROM moderated WHERE post = ANY ($1)`, posts)
}

// keepModerated narrows what restores a moderated post to what another report of it says, and leaves out of that whom
// the stored post did not address.
func (t *Tx) keepModerated(p, stored *social.Post) {
	var moderated bool
	t.row(into(&moderated), `SELECT EXISTS (SELECT 1 FROM moderated WHERE post = $1)`, p.ID)
	if !moderated {
		return
	}
	p.Mentions, p.Grants = social.Common(stored.Mentions, p.Mentions), social.Common(stored.Grants, p.Grants)
	t.later(`UPDATE moderated SET reach = least(reach, $2) WHERE post = $1`, p.ID, int(p.Audience.Reach()))
	t.later(`DELETE FROM moderated_circles WHERE post = $1 AND circle <> '`+goneCircle+`' AND NOT (circle = ANY ($2))`, p.ID, append([]string{}, p.Audience.Circles...))
}

// suspend sets or lifts the suspension of an agent, and reports whether that changes anything.
func (t *Tx) suspend(m social.Moderate) (changed bool) {
	t.lockAgents(changing, m.Object.ID)
	var until int64
	var reason string
	t.row(into(&until, &reason), `SELECT suspended_until, suspended_for FROM authors WHERE id = $1`, m.Object.ID)
	to, why := m.Until*1e6, m.Reason
	if m.Action == social.ActionLift {
		why = ""
	}
	if t.err != nil || until == to && reason == why {
		return false
	}
	t.exec(`INSERT INTO authors (id, suspended_until, suspended_for) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET suspended_until = excluded.suspended_until, suspended_for = excluded.suspended_for`, m.Object.ID, to, why)
	return true
}

// checkActor fails if the agent who makes the call must not write: see [social.WithActor].
func (t *Tx) checkActor() {
	shown := t.actor.Public || t.actor.Removes
	if t.actor.Agent == "" || !shown || t.checked {
		return
	}
	var until, erased int64
	var reason string
	t.row(into(&until, &reason, &erased), `SELECT suspended_until, suspended_for, erased_agent FROM authors WHERE id = $1`, t.actor.Agent)
	t.checkRow(until, reason, erased)
}

// checkRow is checkActor with the columns of its row.
func (t *Tx) checkRow(until int64, reason string, erased int64) {
	t.checked = true
	if err := t.actor.Check(social.Stamp(t.now), until, reason, erased); err != nil {
		t.fail(err)
		return
	}
}

// audit adds an entry to the audit log, with the commit.
func (t *Tx) audit(who string, action social.Action, object social.Object, reason string) {
	t.later(`INSERT INTO audit (at, who, action, kind, object, reason) VALUES ($1, $2, $3, $4, $5, $6)`,
		t.now.Unix(), who, string(action), string(object.Kind), object.ID, reason)
}

// Audit implements [social.Moderation].
func (s *Store) Audit(ctx context.Context, below int64, n int) (list []social.AuditEntry, err error) {
	err = s.read(ctx, func(q *Query) {
		list = rowsOf(q, func(e *social.AuditEntry) []any {
			return into(&e.Seq, &e.At, &e.Who, &e.Action, &e.Object.Kind, &e.Object.ID, &e.Reason)
		}, `SELECT seq, at, who, action, kind, object, reason FROM audit WHERE seq < $1 OR $1 = 0 ORDER BY seq DESC LIMIT $2`, below, n)
	})
	for i := range list {
		if list[i].Action == social.ActionList && list[i].Object.ID == "" {
			list[i].Object = social.Object{} // the column has the kind of what it might have named
		}
	}
	return list, s.failed(ctx, "read the audit log", err)
}
