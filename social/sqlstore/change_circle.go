package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// ChangeCircle implements [social.Circles].
func (s *Store) ChangeCircle(ctx context.Context, id, by string, change social.CircleChange) (social.Circle, error) {
	return s.editCircle(ctx, id, by, func(t *Tx, kept *circle) (social.CircleChange, bool) {
		alive := kept.alive()
		switch {
		case by != "":
			change.Owner = by
		case change.Owner == "" && alive:
			change.Owner = kept.Owner
		case change.Owner == "":
			return change, t.fail(fmt.Errorf("%w: owner is missing; send the agent that owns the circle", feed.ErrInvalid))
		}
		if alive && kept.Owner != change.Owner {
			return change, t.fail(errNotOwned(id))
		}
		return change, true
	})
}

// PatchCircle implements [social.Circles].
func (s *Store) PatchCircle(ctx context.Context, id, by string, patch func(social.CircleChange) (social.CircleChange, error)) (social.Circle, error) {
	return s.editCircle(ctx, id, by, func(t *Tx, kept *circle) (social.CircleChange, bool) {
		err := t.checkOwner(kept, by)
		if err != nil {
			return social.CircleChange{}, t.fail(err)
		}
		if t.err != nil {
			return social.CircleChange{}, false
		}
		change, err := patch(kept.Change())
		if err != nil {
			return change, t.fail(err)
		}
		change.CircleTerms = change.WithDefaults() // a field that the patch removes gets its default, not the stored value
		if err := change.CheckEnd(kept.With(change).Until); err != nil {
			return change, t.fail(err)
		}
		t.handOver(kept, change.Owner, change.Members)
		return change, true
	})
}

// checkOwner returns why by may not change an existing circle, or nil.
func (q *Query) checkOwner(c *circle, by string) error {
	switch {
	case !c.alive(), by != "" && q.role(c, by) == social.NoRole:
		return noCircle(c.ID)
	case by != "" && c.Owner != by:
		return feed.Errorf(feed.ErrForbidden, "circle %s does not belong to %s: not allowed", c.ID, by)
	}
	return nil
}

func errNotOwned(id string) error {
	return feed.Errorf(feed.ErrForbidden, "circle %s belongs to another agent: not allowed", id)
}

// editCircle changes a circle to what edit returns, as of now, and returns it as stored.
func (s *Store) editCircle(ctx context.Context, id, by string, edit func(*Tx, *circle) (social.CircleChange, bool)) (stored social.Circle, err error) {
	if err := social.CheckCircleID(id); err != nil {
		return social.Circle{}, err
	}
	err = s.write(ctx, func(t *Tx) {
		kept := t.openCircle(id)
		change, ok := edit(t, kept)
		if !ok || t.err != nil {
			return
		}
		c := social.Circle{ID: id, Owner: change.Owner}.With(change)
		if err := checkCircle(c, change.Members); err != nil {
			t.fail(err)
			return
		}
		t.changeCircle(kept, by, c, change.Members)
		stored = kept.Circle
		if by != "" {
			stored.Muted = t.muted(id, by)
		}
	})
	if err != nil {
		return social.Circle{}, s.failed(ctx, "change circle", err)
	}
	return stored, nil
}

// changeCircle stores a change that by may make.
func (t *Tx) changeCircle(kept *circle, by string, c social.Circle, members []string) {
	agents := t.agents(doing, append(slices.Clone(members), c.Owner)...)
	if t.err != nil {
		return
	}
	kept.erased = agents[c.Owner].ErasedAgent
	stamp := t.circleTime(kept, time.Time{}, agents)
	t.putCircle(kept, c, stamp, false)
	if members == nil || t.err != nil {
		return
	}
	if by != "" && kept.Open() {
		if err := t.checkConsent(kept, members); err != nil {
			t.fail(err)
			return
		}
	}
	t.replaceMembers(kept, members, stamp, false)
}

// checkConsent returns an error unless all the agents are members of a group: an agent can only invite
// others.
func (t *Tx) checkConsent(c *circle, agents []string) error {
	places := t.members(c, agents)
	for _, agent := range agents {
		if agent != c.Owner && !places[agent].On {
			return errInvite(c.ID, agent)
		}
	}
	return nil
}

func errInvite(id, agent string) error {
	return feed.Errorf(feed.ErrForbidden, "%s is no member of %s, and nobody can be added to a group or an event without their consent; "+
		"invite them with PUT /v1/circles/%s/invitations/%s: not allowed", agent, id, id, agent)
}

// handOver makes a member the owner of a group. members is the list that replaces the members in
// the same call, if any; its agents are locked along.
func (t *Tx) handOver(c *circle, to string, members []string) {
	if to == c.Owner || t.err != nil {
		return
	}
	if err := social.CheckAgent(to); err != nil {
		t.fail(fmt.Errorf("owner: %w", err))
		return
	}
	if !c.Open() {
		t.fail(feed.Errorf(feed.ErrForbidden, "%s is a circle, which is private to its owner; only groups and events can be handed over: not allowed", c.ID))
		return
	}
	// All agents of a transaction are locked together.
	t.lockAgents(doing, slices.Concat(members, t.present(c.ID), []string{to, c.Owner})...)
	place := t.members(c, []string{to})[to]
	if !place.On {
		t.fail(feed.Errorf(feed.ErrRule, "%s is no member of %s; only a member can become its owner", to, c.ID))
		return
	}
	if err := t.checkOwned(to); err != nil {
		t.fail(err)
		return
	}
	t.own(c, to)
}

// own makes a member of a locked group its owner, as of now. The new owner is locked. Members and
// invited agents whom a block separates from the new owner leave the group, as with a new block.
func (t *Tx) own(c *circle, owner string) {
	c.Owner = owner
	t.row(into(&c.erased), `SELECT erased_agent FROM authors WHERE id = $1`, owner)
	c.put = t.circleTime(c, time.Time{}, nil)
	// Open invitations are for the group: they are not from before an erasure of its next owner.
	t.exec(`UPDATE invitations SET at = $2 WHERE circle = $1 AND at < $2 AND at > `+erasedAgent("invitations.agent"), c.ID, c.put)
	invited := t.texts(`SELECT agent FROM invitations WHERE circle = $1`, c.ID)
	apart := t.blockedAmong(owner, append(t.present(c.ID), invited...))
	if len(apart) > 0 {
		t.exec(`DELETE FROM invitations WHERE circle = $1 AND agent = ANY ($2)`, c.ID, apart)
		t.setMembers(c, membership{agents: apart})
	}
	if len(invited) > 0 {
		t.exec(repeatedInvitations, c.ID, invited)
		t.exec(passedInvitations, c.ID, owner, invited)
		t.untell(invited...)
	}
	t.saveCircle(c)
}

// Notifications of open invitations to the group $1 are by its next owner $2, each agent's newest one. They keep their
// number, as they are no new ones, and are not from before an erasure of that owner.
const (
	repeatedInvitations = `DELETE FROM notifications WHERE agent = ANY ($2) AND kind = 'invitation' AND object = $1 AND EXISTS (SELECT 1 FROM notifications o
		WHERE o.agent = notifications.agent AND o.kind = 'invitation' AND o.object = $1 AND (o.number, o.actor) > (notifications.number, notifications.actor))`
	passedInvitations = `UPDATE notifications SET actor = $2, at = greatest(at, (SELECT coalesce(max(a.erased), 0) + 1 FROM authors a WHERE a.id = $2))
		WHERE agent = ANY ($3) AND kind = 'invitation' AND object = $1`
)
