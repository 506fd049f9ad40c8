package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// circle is a circle's row.
type circle struct {
	social.Circle
	put, dropped, replaced int64
	joined                 int64 // the latest [circle.since] and [circle.began] of a member
	posted                 int64 // the place of the latest post made here; see [Tx.place]
	reported               int64 // the latest time of a post that an event reported
	erased                 int64 // stamp up to which the owner is erased, with everything they made
	fromEvent              bool  // an event created it
	found                  bool
}

// circleColumns are the columns of a circle c for the fields of [social.Circle] except its id.
const circleColumns = `c.owner, c.name, c.size, c.kind, c.post, c.history, c.members_visible_to, c.until`

func columnsOf(c *social.Circle) []any {
	return into(&c.Owner, &c.Name, &c.Size, &c.Kind, &c.Post, &c.History, &c.MembersVisibleTo, &c.Until)
}

func (c *circle) alive() bool { return c.put > max(c.dropped, c.erased) }

// isGroup reports whether the circle exists and is a group or an event.
func (c *circle) isGroup() bool { return c.alive() && c.Open() }

// latest is the latest stamp of a change of the circle itself, or of a post that an event reported:
// what was reported before a change made here is earlier than it.
func (c *circle) latest() int64 { return max(c.put, c.dropped, c.replaced, c.erased, c.reported) }

// floor is the stamp as of which agents without a row are not members.
func (c *circle) floor() int64 { return max(c.dropped, c.replaced, c.erased) }

// erasedAgent selects the stamp up to which the agent of a column is erased.
func erasedAgent(column string) string {
	return strings.Replace(erasedReader, "$1", column, 1)
}

// circleThere is true for a circle c that exists: see [circle.alive].
var circleThere = `c.gone = 0 AND c.put > ` + erasedAgent("c.owner")

// circle reads one; mode changing locks it, and with it its members.
func (q *Query) circle(mode lock, id string) *circle {
	c := &circle{Circle: social.Circle{ID: id}}
	c.found = q.row(append(columnsOf(&c.Circle), &c.put, &c.dropped, &c.replaced, &c.joined, &c.posted, &c.reported, &c.fromEvent, &c.erased),
		`SELECT `+circleColumns+`, put, dropped, replaced, joined, posted, reported, told, `+erasedAgent("c.owner")+` FROM circles c WHERE id = $1`+locks[mode], id)
	return c
}

// openCircle locks and reads a circle for a change. If its owner was erased, it drops the circle
// first, or passes it on, as the erasure would.
func (t *Tx) openCircle(id string) *circle {
	c := t.circle(changing, id)
	if !c.alive() {
		t.row(into(&c.reported), `SELECT coalesce(max(incarnation), 0) FROM post_circles WHERE circle = $1`, id)
		if c.put > c.dropped {
			t.endCircle(c)
		}
	}
	return c
}

// endCircle drops a circle whose owner was erased, unless it is a group that a member can own.
func (t *Tx) endCircle(c *circle) {
	passed := t.passOn(c)
	if passed {
		return
	}
	c.Name = ""
	t.dropCircle(c, max(c.erased, c.put))
}

// saveCircle writes the row of a locked circle. If the row did not exist and does now, it fails,
// and the transaction is retried.
func (t *Tx) saveCircle(c *circle) {
	const columns = `owner, name, put, dropped, replaced, size, gone, kind, post, history, members_visible_to, until, told, joined, posted, reported`
	text := `INSERT INTO circles (id, ` + columns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`
	if c.found {
		text = `UPDATE circles SET (` + columns + `) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) WHERE id = $1`
	}
	c.found = true
	t.exec(text, c.ID, c.Owner, c.Name, c.put, c.dropped, c.replaced, c.Size, t.goneStamp(c.alive()),
		string(c.Kind), c.Post, c.History, c.MembersVisibleTo, c.Until, c.fromEvent, c.joined, c.posted, c.reported)
}

// PutCircle implements [social.Circles].
func (s *Store) PutCircle(ctx context.Context, c social.Circle, members []string, at time.Time) (stored social.Circle, err error) {
	if err := checkCircle(c, members); err != nil {
		return social.Circle{}, err
	}
	if err := social.CheckTime(at, s.opts.Clock()); err != nil {
		return social.Circle{}, err
	}
	err = s.write(ctx, func(t *Tx) {
		stored = social.Circle{} // of an attempt that is repeated
		kept := t.openCircle(c.ID)
		if kept.alive() && kept.Owner != c.Owner {
			t.fail(errNotOwned(c.ID))
			return
		}
		agents := t.agents(doing, append(slices.Clone(members), c.Owner)...)
		kept.erased = agents[c.Owner].ErasedAgent
		if !at.IsZero() && social.Stamp(at) <= kept.erased {
			return // the circle belongs to an agent who had the id before
		}
		stamp := t.circleTime(kept, at, agents)
		t.putCircle(kept, c, stamp, !at.IsZero())
		if members != nil {
			t.replaceMembers(kept, members, stamp, !at.IsZero())
		}
		if kept.alive() {
			stored = kept.Circle
		}
	})
	if err != nil {
		return social.Circle{}, s.failed(ctx, "put circle", err)
	}
	return stored, nil
}

func checkCircle(c social.Circle, members []string) error {
	if err := c.Validate(); err != nil {
		return err
	}
	for _, m := range members {
		if err := social.CheckAgent(m); err != nil {
			return fmt.Errorf("members: %w", err)
		}
	}
	return nil
}

// circleTime returns the stamp of a change of a circle that affects its members. One made here is
// later than all of theirs, and than the erasures of the agents that it names.
func (t *Tx) circleTime(c *circle, at time.Time, named map[string]*agent) int64 {
	if !at.IsZero() {
		return social.Stamp(at)
	}
	var latest int64
	t.row(into(&latest), `SELECT coalesce(max(at), 0) FROM members WHERE circle = $1`, c.ID)
	for _, a := range named {
		latest = max(latest, a.ErasedAgent)
	}
	return social.ChangeTime(at, t.now, max(latest, c.latest()))
}

// putCircle changes the circle itself as of a stamp, if that supersedes its state. If an event
// creates the circle, or creates it again, agents added by earlier events become members. If the
// API creates it, memberships that events reported for the id belong to another circle and end.
func (t *Tx) putCircle(kept *circle, c social.Circle, at int64, fromEvent bool) {
	alive := kept.alive()
	if !social.Supersedes(true, at, alive, max(kept.put, kept.dropped)) {
		return
	}
	if err := t.completeCircle(kept, &c, fromEvent); err != nil {
		t.fail(err)
		return
	}
	if !alive {
		kept.fromEvent = fromEvent
		switch {
		case fromEvent:
		case c.Open():
			t.dropCircle(kept, at-1)
		default: // a plain circle only has posts of its owner, which stay
			t.endWaiting(kept, at-1)
		}
	}
	c.Size = kept.Size
	kept.Circle, kept.put = c, at
	t.saveCircle(kept)
	if alive {
		return
	}
	kept.posted = 0 // no member sees posts to the circle from before it was created again
	if !c.Open() {
		t.later(`UPDATE post_circles SET own = true WHERE author = $1 AND circle = $2 AND incarnation > $3 AND NOT own`, c.Owner, c.ID, kept.dropped)
		t.later(`UPDATE moderated_circles SET own = true WHERE author = $1 AND circle = $2 AND incarnation > $3 AND NOT own`, c.Owner, c.ID, kept.dropped)
	}
	t.admitWaiting(kept)
	t.keepOwner(kept)
	t.saveCircle(kept)
}

// completeCircle checks the fields that a call of the API or an event sends for a circle, and fills in
// those that it leaves out.
func (t *Tx) completeCircle(kept *circle, c *social.Circle, fromEvent bool) error {
	var before *social.Circle // nil if the circle is created
	if kept.alive() {
		before = &kept.Circle
	}
	if !fromEvent {
		if err := checkUntil(before, *c, t.now); err != nil {
			return err
		}
	}
	if before == nil {
		if err := t.checkOwned(c.Owner); err != nil {
			return err
		}
	}
	return c.Complete(before)
}

// admitWaiting admits the agents who were added before an event created the circle, as
// [Tx.admitted] does.
func (t *Tx) admitWaiting(c *circle) {
	waiting := t.present(c.ID)
	if len(waiting) == 0 {
		return
	}
	t.agents(doing, append(waiting, c.Owner)...)
	out := t.blockedAmong(c.Owner, waiting)
	if c.Open() {
		out = append(out, t.inMaxGroups(c, waiting)...)
	}
	if len(out) > 0 {
		t.setMembers(c, membership{agents: out})
	}
	for _, agent := range waiting {
		if !slices.Contains(out, agent) {
			t.changeMember(c, agent, true)
		}
	}
	t.exec(`UPDATE members SET joined = at, since = CASE WHEN $2 THEN at ELSE CAST($3 AS bigint) END WHERE circle = $1 AND gone = 0`, c.ID, c.ordered(), c.sinceAll())
	t.row(into(&c.joined), `SELECT coalesce(max(greatest(since, joined)), 0) FROM members WHERE circle = $1 AND gone = 0`, c.ID)
	t.membersChanged(c.ID, waiting, jobs.PrioritySoon)
}

// endWaiting ends memberships that events reported up to a stamp.
func (t *Tx) endWaiting(c *circle, at int64) {
	if at <= c.replaced {
		return
	}
	c.replaced = at
	t.setMembers(c, membership{agents: t.present(c.ID), at: at, ended: true})
}

// keepOwner makes the owner of a group a member again, even if an event has ended that: as of the
// group's creation, for posts since then, and as of now.
func (t *Tx) keepOwner(c *circle) {
	if c.isGroup() {
		t.setMembers(c, membership{agents: c.owners(), on: true, at: c.put})
		t.setMembers(c, membership{agents: c.owners(), on: true})
	}
}

// checkOwned refuses another circle to an agent who has as many as allowed.
func (t *Tx) checkOwned(owner string) error {
	var n int
	t.row(into(&n), `SELECT count(*) FROM circles WHERE owner = $1 AND gone = 0`, owner)
	if n >= social.MaxOwnedCircles {
		return fmt.Errorf("%w: %s has %d circles, groups and events, no more are allowed", feed.ErrLimit, owner, n)
	}
	return nil
}

// changeCircle runs a change of a circle if by may make it.
func (s *Store) changeCircle(ctx context.Context, id, by string, at time.Time, do func(*Tx, *circle)) error {
	if err := social.CheckCircleID(id); err != nil {
		return err
	}
	if err := social.CheckTime(at, s.opts.Clock()); err != nil {
		return err
	}
	return s.failed(ctx, "change circle", s.write(ctx, func(t *Tx) {
		c := t.openCircle(id)
		if by != "" || at.IsZero() {
			if err := t.checkOwner(c, by); err != nil {
				t.fail(err)
				return
			}
		}
		do(t, c)
	}))
}

// checkUntil checks the end of an event that a call creates (kept is nil) or changes.
func checkUntil(kept *social.Circle, c social.Circle, now time.Time) error {
	if kept != nil {
		c.Until = cmp.Or(c.Until, kept.Until)
	}
	return c.CheckUntil(kept, now)
}

func noCircle(id string) error { return fmt.Errorf("circle %s: %w", id, feed.ErrNotFound) }

// DropCircle implements [social.Circles].
func (s *Store) DropCircle(ctx context.Context, id, by string, at time.Time) error {
	return s.changeCircle(ctx, id, by, at, func(t *Tx, c *circle) { t.dropCircle(c, t.circleTime(c, at, nil)) })
}

func (t *Tx) dropCircle(c *circle, at int64) {
	if at <= c.dropped {
		return
	}
	c.dropped = at
	members := t.present(c.ID)
	if !c.alive() {
		// Agents who were added later wait until the circle is created again.
		t.membersChanged(c.ID, members, jobs.PriorityRemoval)
	}
	t.setMembers(c, membership{agents: members, at: at, ended: true})
	t.keepOwner(c)
	t.exec(`DELETE FROM invitations WHERE circle = $1`, c.ID) // invitations are made here, all of them before this
	t.saveCircle(c)
}
