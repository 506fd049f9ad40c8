package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// present returns the agents stored as members.
func (t *Tx) present(circle string) []string {
	return t.texts(`SELECT agent FROM members WHERE circle = $1 AND gone = 0`, circle)
}

func (t *Tx) membersChanged(circle string, members []string, priority int) {
	for _, agent := range members {
		t.enqueue(jobs.Spec{Kind: jobs.Member, Key: jobs.PairKey(circle, agent), Priority: priority})
	}
}

// replaceMembers replaces the members as of a stamp, unless they were replaced later. Later changes
// of single members stay. Of two replacements at one stamp, agents named in both remain.
func (t *Tx) replaceMembers(c *circle, named []string, stamp int64, fromEvent bool) {
	if stamp <= c.dropped || stamp < c.replaced {
		return
	}
	if c.Open() {
		named = append(slices.Clone(named), c.Owner)
	}
	named = slices.Compact(slices.Sorted(slices.Values(named)))
	others := slices.DeleteFunc(t.present(c.ID), func(agent string) bool {
		_, there := slices.BinarySearch(named, agent)
		return there
	})
	t.setMembers(c, membership{agents: others, at: stamp}, membership{agents: named, on: true, at: stamp, fromEvent: fromEvent})
	c.replaced = stamp
	t.saveCircle(c)
}

// membership is a change of the membership of agents in a circle, at a stamp; 0 is here and now.
type membership struct {
	agents    []string
	on        bool
	at        int64
	ended     bool // the circle was deleted then, and with it memberships added here during its life
	fromEvent bool // by an event: agents who are not admitted are left out
}

// place is an agent's membership in a circle.
type place struct {
	social.Register
	kept        social.Register // the row: counted in the circle's size, even if an erasure has ended it
	incarnation int64           // of the circle at the time they were added
	since       int64           // see [circle.since]
	joined      int64           // see [circle.began]; 0 if an older version stored it
}

// holds reports whether a change at a stamp supersedes the stored state.
func (m *membership) holds(k place, stamp int64) bool {
	if social.Supersedes(m.on, stamp, k.On, k.At) {
		return true
	}
	if m.on || !k.kept.On {
		return false
	}
	return stamp >= k.kept.At || m.ended && stamp >= k.incarnation
}

// effect returns by how much a membership that changes alters the circle's size, and the priority of
// the jobs of the change.
func (m *membership) effect() (by, priority int) {
	if m.on {
		return 1, jobs.PrioritySoon
	}
	return -1, jobs.PriorityRemoval
}

// placesToSave are columns of rows of members.
type placesToSave struct {
	agents                                []string
	at, gone, incarnations, since, joined []int64
}

func (p *placesToSave) add(agent string, at, gone, incarnation, since, joined int64) {
	p.agents = append(p.agents, agent)
	p.at, p.gone = append(p.at, at), append(p.gone, gone)
	p.incarnations, p.since, p.joined = append(p.incarnations, incarnation), append(p.since, since), append(p.joined, joined)
}

// membersSet is what a change of memberships does.
type membersSet struct {
	rows    placesToSave
	joined  []string // agents who become members
	changed int      // memberships that begin or end
}

// setMembers applies changes of memberships of a locked circle that supersede the stored state, and
// returns how many did. No agent may occur twice. The caller writes the circle's row with
// saveCircle.
func (t *Tx) setMembers(c *circle, list ...membership) (changed int) {
	var all []string
	for _, m := range list {
		all = append(all, m.agents...)
	}
	if len(all) == 0 {
		return 0
	}
	places := t.members(c, all)
	var set membersSet
	for _, m := range list {
		for _, agent := range t.admitted(c, m) {
			if err := t.setMember(c, &m, agent, places[agent], &set); err != nil {
				t.fail(err)
				return set.changed
			}
		}
	}
	if c.Size > social.MaxCircleMembers {
		t.fail(fmt.Errorf("%w: a circle has at most %d members", feed.ErrLimit, social.MaxCircleMembers))
		return set.changed
	}
	t.joined(c, set.joined)
	rows := &set.rows
	if len(rows.agents) > 0 {
		c.joined = max(c.joined, slices.Max(rows.since), slices.Max(rows.joined))
		t.exec(`INSERT INTO members (circle, agent, at, gone, incarnation, since, joined) SELECT $1, d.*
			FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) d (agent, at, gone, incarnation, since, joined) WHERE true
			ON CONFLICT (circle, agent) DO UPDATE SET at = excluded.at, gone = excluded.gone, incarnation = excluded.incarnation, since = excluded.since,
			joined = excluded.joined`, c.ID, Table{rows.agents, rows.at, rows.gone, rows.incarnations, rows.since, rows.joined})
	}
	return set.changed
}

// setMember applies a change to the membership of one agent.
func (t *Tx) setMember(c *circle, m *membership, agent string, k place, set *membersSet) error {
	by, priority := m.effect()
	stamp := m.at
	if stamp == 0 {
		if k.On == m.on && k.kept.On == m.on {
			return nil
		}
		stamp = social.ChangeTime(time.Time{}, t.now, k.At)
	}
	if !m.holds(k, stamp) {
		rejoined := k.On && k.since > 1 && stamp >= k.since
		if rejoined && !m.on { // they joined again after this end
			set.rows.add(agent, k.At, 0, k.incarnation, c.since(agent, k.At, m.fromEvent), k.At)
			t.membersChanged(c.ID, []string{agent}, priority)
		}
		return nil
	}
	since, began := k.since, k.joined
	if !k.On {
		since, began = c.since(agent, stamp, m.fromEvent), c.began(stamp, m.fromEvent)
	}
	set.rows.add(agent, stamp, t.goneStamp(m.on), cmp.Or(m.at, c.put), since, began)
	if k.kept.On != m.on {
		c.Size += by
	}
	if k.On != m.on || k.kept.On != m.on {
		set.changed++
		t.membersChanged(c.ID, []string{agent}, priority)
	}
	if k.On != m.on {
		t.changeMember(c, agent, m.on)
	}
	if !m.on || k.On {
		return nil
	}
	set.joined = append(set.joined, agent)
	if m.fromEvent || agent == c.Owner {
		return nil
	}
	return c.CheckOpen(t.now)
}

// changeMember notes that an agent joins or leaves a group. Circles are private to their owners.
func (t *Tx) changeMember(c *circle, agent string, on bool) {
	switch {
	case !c.Open():
	case on:
		t.change(social.Change{Type: social.MemberJoined, Agent: agent, Object: c.ID})
	default:
		t.change(social.Change{Type: social.MemberLeft, Agent: agent, Object: c.ID})
		t.untell(c.Owner, agent)
	}
}

// members locks agents, and the owner, and reads their memberships. A membership from before the
// agent's erasure is off.
func (t *Tx) members(c *circle, ids []string) map[string]place {
	agents := t.agents(doing, append(slices.Clone(ids), c.owners()...)...)
	out := make(map[string]place, len(ids))
	t.each(func(scan Scan) error {
		var agent string
		var k place
		var gone int64
		err := scan(&agent, &k.At, &gone, &k.incarnation, &k.since, &k.joined)
		k.On = gone == 0
		k.kept = k.Register
		out[agent] = k
		return err
	}, `SELECT agent, at, gone, incarnation, since, joined FROM members WHERE circle = $1 AND agent `+ofList2, c.ID, ids)
	for id, a := range agents {
		k := out[id]
		k.On = k.On && k.At > a.ErasedAgent
		if !k.On {
			k.At = max(k.At, a.ErasedAgent, c.floor())
		}
		out[id] = k
	}
	return out
}

// AddMember implements [social.Circles].
func (s *Store) AddMember(ctx context.Context, id, agent, by string, at time.Time) (bool, error) {
	return s.member(ctx, id, agent, by, true, at)
}

// RemoveMember implements [social.Circles].
func (s *Store) RemoveMember(ctx context.Context, id, agent, by string, at time.Time) (bool, error) {
	changed, err := s.member(ctx, id, agent, by, false, at)
	if by == agent && errors.Is(err, feed.ErrNotFound) {
		err = nil // as for a circle that the agent is not a member of
	}
	return changed, err
}

// checkJoining returns why by, who is the agent if own is set, may not make the agent a member.
func (t *Tx) checkJoining(c *circle, agent, by string, own bool) error {
	switch {
	case own && t.role(c, agent) == social.NoRole:
		return noCircle(c.ID)
	case by != "" && c.Open():
		return t.checkConsent(c, []string{agent})
	}
	return nil
}

// member changes one membership.
func (s *Store) member(ctx context.Context, id, agent, by string, on bool, at time.Time) (changed bool, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return false, err
	}
	own := by == agent
	if own {
		by = "" // no rights of an owner are needed
	}
	err = s.changeCircle(ctx, id, by, at, func(t *Tx, c *circle) {
		if on {
			if err := t.checkJoining(c, agent, by, own); err != nil {
				t.fail(err)
				return
			}
		}
		ownerLeaves := !on && c.isGroup() && c.Owner == agent
		switch {
		case ownerLeaves && at.IsZero():
			t.fail(feed.Errorf(feed.ErrForbidden, "%s owns %s and cannot leave it; hand it over or delete it: not allowed", agent, id))
			return
		case ownerLeaves: // an event does not change that
			return
		}
		joined := c.joined
		changed = t.setMembers(c, membership{agents: []string{agent}, on: on, at: social.Stamp(at), fromEvent: !at.IsZero()}) > 0
		if !c.found || changed || c.joined > joined {
			t.saveCircle(c) // memberships of a circle that does not exist yet are stored until it is created
		}
		switch {
		case !changed || !own || !c.Open():
		case on:
			t.tell(notice{c.Owner, social.NotifyJoined, c.ID, agent, ""})
		case c.isGroup():
			t.refuse(agent, c, c.ID)
		}
	})
	return changed && err == nil, err
}

// Members implements [social.Circles]. It decides and reads as of one moment: the id may belong to
// another circle in the next.
func (s *Store) Members(ctx context.Context, id, reader, after string, n int) (list []string, err error) {
	if err := social.CheckCircleID(id); err != nil {
		return nil, err
	}
	err = s.snapshot(ctx, func(q *Query) {
		c, role, err := q.circleFor(id, reader)
		if err != nil {
			q.fail(err)
			return
		}
		if reader != "" && !c.ShowsMembers(role) {
			q.fail(feed.Errorf(feed.ErrForbidden, "only %s may list the members of %s", c.MembersReaders(), id))
			return
		}
		list = q.texts(`SELECT m.agent FROM members m WHERE m.circle = $1 AND m.gone = 0
			AND m.agent > $2 AND m.at > `+erasedAgent("m.agent")+notBlocked(`$4`, `m.agent`)+` ORDER BY m.agent LIMIT $3`, id, after, n, reader)
	})
	return list, s.failed(ctx, "list members", err)
}

// Invited implements [social.Circles].
func (s *Store) Invited(ctx context.Context, id, by, after string, n int) (list []string, err error) {
	if err := social.CheckCircleID(id); err != nil {
		return nil, err
	}
	err = s.snapshot(ctx, func(q *Query) {
		if err := q.checkOwner(q.circle(free, id), by); err != nil {
			q.fail(err)
			return
		}
		list = q.texts(`SELECT i.agent FROM circles c JOIN invitations i ON i.circle = c.id
			WHERE c.id = $1 AND i.agent > $2 AND`+openInvitation("$4")+notBlocked(`$5`, `i.agent`)+` ORDER BY i.agent LIMIT $3`, id, after, n, s.opts.Clock().Unix(), by)
	})
	return list, s.failed(ctx, "list invitations", err)
}
