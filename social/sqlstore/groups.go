package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// ordered reports whether the order of joinings and posts decides what members see: the group shows
// them the posts since they joined.
func (c *circle) ordered() bool { return c.Open() && c.History != social.HistoryAll }

// sinceAll is the column since of members who see all posts: 0 in circles, 1 in groups.
func (c *circle) sinceAll() int64 {
	if c.Open() {
		return 1
	}
	return 0
}

// since returns the column since of a membership that begins at a stamp: the member sees the posts
// with a later place; see [Tx.place]. The locked circle has the places of all posts so far, and the
// joining comes after them, whatever the clocks of the servers that stored the posts. So does one
// that an event reports, after posts made here; but for posts that events report, their times count,
// as they may arrive in any order. An owner has been a member since the circle was created.
func (c *circle) since(agent string, stamp int64, fromEvent bool) int64 {
	switch {
	case !c.ordered():
		return c.sinceAll()
	case agent == c.Owner:
		return c.put
	case fromEvent:
		return max(stamp, c.posted+1)
	}
	return max(stamp, c.posted+1, c.reported+1)
}

// began returns the column joined of a membership that begins at a stamp: it is later than those of
// the members so far, whatever the clocks of the servers, so that the member who has been in the group
// longest has the lowest. Among joinings that events report, their times count.
func (c *circle) began(stamp int64, fromEvent bool) int64 {
	if fromEvent {
		return stamp
	}
	return max(stamp, c.joined+1)
}

// owners returns the owner as a list, empty if unknown.
func (c *circle) owners() []string {
	if c.Owner == "" {
		return nil
	}
	return []string{c.Owner}
}

// invited is the condition that an invitation is valid: newer than the last deletion of the circle
// and the erasure of its agent and owner.
const invited = ` i.at > c.dropped AND i.at > (SELECT coalesce(max(e.erased_agent), 0) FROM authors e WHERE e.id IN (i.agent, c.owner))`

// openInvitation is the condition that an invitation is valid and its event, if it is one, not over
// at the time of a parameter, in Unix seconds.
func openInvitation(now string) string {
	return invited + ` AND (c.until = 0 OR c.until > ` + now + `)`
}

// role returns an agent's role in a circle, as far as the agent may know it.
func (q *Query) role(c *circle, agent string) social.Role {
	var member, guest bool
	switch {
	case !c.alive():
		return social.NoRole
	case c.Owner == agent:
		return social.RoleOwner
	case c.Open():
		q.row(into(&member, &guest), `SELECT
			EXISTS (SELECT 1 FROM members WHERE circle = $1 AND agent = $2 AND gone = 0 AND at > `+erasedAgent("$2")+`),
			EXISTS (SELECT 1 FROM circles c JOIN invitations i ON i.circle = c.id AND i.agent = $2 WHERE c.id = $1 AND`+invited+`)`, c.ID, agent)
	}
	switch {
	case member:
		return social.RoleMember
	case guest:
		return social.RoleInvited
	}
	return social.NoRole
}

// admitted returns the agents of a change of membership without those who must not join: because of
// a block between them and the owner, or because they are in too many groups. A call of the API
// that adds such an agent fails; an event adds the others.
func (t *Tx) admitted(c *circle, m membership) []string {
	if !m.on || len(m.agents) == 0 || c.Owner == "" {
		return m.agents
	}
	out := t.blockedAmong(c.Owner, m.agents)
	if len(out) > 0 && !m.fromEvent {
		t.fail(errBlocked(c.Owner, out[0]))
		return nil
	}
	if m.fromEvent && c.Open() {
		out = append(out, t.inMaxGroups(c, m.agents)...)
	}
	return slices.DeleteFunc(slices.Clone(m.agents), func(agent string) bool { return slices.Contains(out, agent) })
}

// inMaxGroups returns those of the agents who are in the maximum number of groups, without the
// owner.
func (t *Tx) inMaxGroups(c *circle, agents []string) []string {
	return t.texts(`SELECT agent FROM members WHERE agent = ANY ($1) AND agent <> $3 AND gone = 0 AND since > 0
		GROUP BY agent HAVING count(*) >= $2 ORDER BY agent`, agents, social.MaxMemberships, c.Owner)
}

func errBlocked(agent, other string) error {
	return feed.Errorf(feed.ErrForbidden, "%s and %s: one of the two blocks the other", agent, other)
}

// blockedAmong returns those of the locked agents who are separated from an owner by a block. It
// locks the owner, so that a concurrent block waits: it would miss the change that follows.
func (t *Tx) blockedAmong(owner string, agents []string) []string {
	t.lockAgents(changing, owner)
	return t.texts(`SELECT other FROM blocks WHERE agent = $1 AND other `+ofList2+`
		UNION SELECT agent FROM blocks WHERE other = $1 AND agent `+ofList2+` ORDER BY 1`, owner, agents)
}

// joined removes the invitations of agents who become members of a group. It fails if one of them
// is in the maximum number of groups.
func (t *Tx) joined(c *circle, agents []string) {
	if !c.Open() || len(agents) == 0 {
		return
	}
	full := t.inMaxGroups(c, agents)
	if len(full) > 0 {
		t.fail(fmt.Errorf("%w: %s is in %d groups and events, no more are allowed", feed.ErrLimit, full[0], social.MaxMemberships))
		return
	}
	t.exec(`DELETE FROM invitations WHERE circle = $1 AND agent = ANY ($2)`, c.ID, agents)
	t.untell(agents...)
}

// Invite implements [social.Circles].
func (s *Store) Invite(ctx context.Context, id, agent, by string) (changed bool, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return false, err
	}
	err = s.changeCircle(ctx, id, by, time.Time{}, func(t *Tx, c *circle) { changed = t.invite(c, agent, by) })
	return changed && err == nil, err
}

func (t *Tx) invite(c *circle, agent, by string) bool {
	if !c.Open() {
		return t.fail(feed.Errorf(feed.ErrInvalid, "%s is a circle; only groups and events take invitations", c.ID))
	}
	if err := c.CheckOpen(t.now); err != nil {
		return t.fail(err)
	}
	erased := t.agents(doing, agent, c.Owner)[agent].ErasedAgent
	if len(t.blockedAmong(c.Owner, []string{agent})) > 0 {
		return t.fail(errBlocked(c.Owner, agent))
	}
	if t.role(c, agent) != social.NoRole {
		return false
	}
	if by != "" && t.refuses(agent, c) {
		return t.fail(feed.Errorf(feed.ErrForbidden, "%s cannot be invited to %s by %s for now: not allowed", agent, c.ID, c.Owner))
	}
	var ofCircle, ofAgent, byOwner int
	t.row(into(&ofCircle, &ofAgent, &byOwner), `SELECT (SELECT count(*) FROM invitations WHERE circle = $1), count(*), coalesce(sum(CASE WHEN c.owner = $3 THEN 1 ELSE 0 END), 0)
		FROM invitations i JOIN circles c ON c.id = i.circle WHERE i.agent = $2 AND (c.owner = $3 OR`+hearsInviter("$2")+`) AND`+openInvitation("$4"),
		c.ID, agent, c.Owner, t.now.Unix())
	switch {
	case ofCircle >= social.MaxCircleMembers:
		return t.fail(fmt.Errorf("%w: a group has at most %d open invitations", feed.ErrLimit, social.MaxCircleMembers))
	case byOwner >= social.MaxInvitedBy:
		return t.fail(fmt.Errorf("%w: %s has %d open invitations by %s, no more are allowed", feed.ErrLimit, agent, social.MaxInvitedBy, c.Owner))
	case ofAgent >= social.MaxInvitations:
		return t.fail(fmt.Errorf("%w: %s has %d open invitations, no more are allowed", feed.ErrLimit, agent, social.MaxInvitations))
	}
	t.exec(`INSERT INTO invitations (circle, agent, at) VALUES ($1, $2, $3) ON CONFLICT (circle, agent) DO UPDATE SET at = excluded.at`,
		c.ID, agent, social.ChangeTime(time.Time{}, t.now, max(c.latest(), erased)))
	t.change(social.Change{Type: social.InvitationMade, Agent: c.Owner, Other: agent, Object: c.ID})
	t.tell(notice{agent, social.NotifyInvitation, c.ID, c.Owner, ""})
	return true
}

// Withdraw implements [social.Circles].
func (s *Store) Withdraw(ctx context.Context, id, agent, by string) (changed bool, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return false, err
	}
	own := by == agent
	if own {
		by = ""
	}
	err = s.changeCircle(ctx, id, by, time.Time{}, func(t *Tx, c *circle) {
		invited := t.role(c, agent) == social.RoleInvited
		changed = t.exec(`DELETE FROM invitations WHERE circle = $1 AND agent = $2`, id, agent) > 0 && invited
		t.untell(agent)
		if changed && own {
			t.refuse(agent, c, "")
		}
	})
	if own && errors.Is(err, feed.ErrNotFound) {
		err = nil // as if the agent was not invited to an existing group
	}
	return changed && err == nil, err
}

// Circle implements [social.Circles].
func (s *Store) Circle(ctx context.Context, id string) (social.Circle, error) {
	c, _, err := s.CircleFor(ctx, id, "")
	return c, err
}

// CircleFor implements [social.Circles].
func (s *Store) CircleFor(ctx context.Context, id, agent string) (social.Circle, social.Role, error) {
	var c *circle
	var role social.Role
	err := s.snapshot(ctx, func(q *Query) {
		var err error
		c, role, err = q.circleFor(id, agent)
		if err != nil {
			q.fail(err)
			return
		}
		c.Muted = agent != "" && q.muted(id, agent)
		if role == social.RoleOwner || role == social.RoleMember {
			one := []social.Circle{c.Circle}
			q.newestIn(agent, one)
			c.Circle = one[0]
		}
	})
	if err != nil {
		return social.Circle{}, social.NoRole, s.failed(ctx, "read circle", err)
	}
	return c.Circle, role, nil
}

// circleFor reads a circle for an agent with a role in it, or for an admin ("").
func (q *Query) circleFor(id, agent string) (c *circle, role social.Role, err error) {
	c = q.circle(free, id)
	if agent != "" {
		role = q.role(c, agent)
	}
	if !c.alive() || agent != "" && role == social.NoRole {
		return nil, social.NoRole, noCircle(id)
	}
	return c, role, nil
}

// CirclePosts implements [social.Lists].
func (s *Store) CirclePosts(ctx context.Context, reader, id string, below social.Position, n int) (list []social.Entry, err error) {
	if err := social.CheckCircleID(id); err != nil {
		return nil, err
	}
	err = s.snapshot(ctx, func(q *Query) {
		c := q.circle(free, id)
		switch q.role(c, reader) {
		case social.NoRole:
			q.fail(noCircle(id))
			return
		case social.RoleInvited:
			q.fail(feed.Errorf(feed.ErrForbidden, "only members read the posts of %s: not allowed", id))
			return
		}
		list = q.newest(postsOf(&c.Circle), []string{id}, span{reader: reader, below: below, n: n})
	})
	return list, s.failed(ctx, "read posts of a circle", err)
}

// postsOf returns the source of the posts of a circle, for a member of a group or the owner.
func postsOf(c *social.Circle) string {
	if c.Open() {
		return pullSources.ofCircle
	}
	return pullSources.ownCircles
}

// newestIn sets for circles of a reader when their newest post was published. It reads one post of
// each, by an index.
func (q *Query) newestIn(reader string, list []social.Circle) {
	keys, newest := map[string][]string{}, map[string]int64{}
	for i := range list {
		source := postsOf(&list[i])
		keys[source] = append(keys[source], list[i].ID)
	}
	var readings []Reading
	for source, ids := range keys {
		s := search{part: part{source, ids}, span: span{reader: reader}, few: 1}
		readings = append(readings, Reading{s.reading().Statement, func(scan Scan) error {
			var circle string
			var at int64
			err := scan(&circle, new(string), &at, new(string))
			newest[circle] = at
			return err
		}})
	}
	q.all(readings...)
	for i := range list {
		list[i].NewestPostAt = newest[list[i].ID]
	}
}

// circlesAs select the circles c of the agent $1 by role. Those of others name their owners.
var circlesAs = map[social.Role]string{
	social.RoleOwner: `FROM circles c WHERE c.owner = $1`,
	social.RoleMember: `FROM members m JOIN circles c ON c.id = m.circle AND c.owner <> $1
		WHERE m.agent = $1 AND m.gone = 0 AND m.since > 0 AND m.at > ` + erasedAgent("$1") + notBlocked(`$1`, `c.owner`),
	social.RoleInvited: `FROM invitations i JOIN circles c ON c.id = i.circle WHERE i.agent = $1 AND` + openInvitation("$4") + ` AND` + hearsInviter("$1") + notBlocked(`$1`, `c.owner`),
}

// CirclesOf implements [social.Circles].
func (s *Store) CirclesOf(ctx context.Context, agent string, role social.Role, after string, n int) (list []social.Circle, err error) {
	args := []any{agent, after, n}
	if role == social.RoleInvited {
		args = append(args, s.opts.Clock().Unix())
	}
	err = s.snapshot(ctx, func(q *Query) {
		now := social.Stamp(q.clock())
		q.each(func(scan Scan) error {
			var c social.Circle
			var until int64
			err := scan(append(columnsOf(&c), &c.ID, &until)...)
			c.Muted = mutedAt(until, now)
			list = append(list, c)
			return err
		}, `SELECT `+circleColumns+`, c.id, `+muteEnd("$1", "c.id")+` `+circlesAs[role]+` AND `+circleThere+` AND c.id > $2 ORDER BY c.id LIMIT $3`, args...)
		if role != social.RoleInvited {
			q.newestIn(agent, list)
		}
	})
	return list, s.failed(ctx, "list circles", err)
}
