package sqlstore

import (
	"fmt"
	"slices"
)

// ownedGroups selects the groups and events of an agent.
const ownedGroups = `SELECT id FROM circles WHERE owner = $1 AND gone = 0 AND kind <> 'circle' ORDER BY id`

// passOnAll passes the groups of an agent who is being erased to members, so that no answer lacks
// them. It locks the circles, the agent, and their successors.
func (t *Tx) passOnAll(agent string) {
	ids := t.texts(ownedGroups, agent)
	t.lockRows("circles", ids...)
	// The lock waits for all their writes under way; later writes see the stamps.
	t.lockAgents(exclusive, agent)
	now := t.texts(ownedGroups, agent)
	if !slices.Equal(ids, now) {
		t.fail(fmt.Errorf("%w: the agent has gained or lost a group", ErrRaced))
		return
	}
	for _, id := range ids {
		t.passOn(t.circle(changing, id))
	}
}

// passOn makes the member who has been in a locked group longest its owner, instead of one who is
// erased, and reports whether there is one.
func (t *Tx) passOn(c *circle) bool {
	if !c.Open() || c.put <= c.dropped {
		return false
	}
	heir := t.heir(c)
	if heir == "" {
		return false
	}
	t.lockAgents(doing, heir) // waits for their own erasure
	if heir != t.heir(c) {
		return t.fail(fmt.Errorf("%w: %s was erased", ErrRaced, heir))
	}
	t.own(c, heir)
	return true
}

// heir returns the member of a locked group, other than its owner, who has been in it longest; ""
// if there is none.
func (t *Tx) heir(c *circle) (agent string) {
	t.row(into(&agent), `SELECT m.agent FROM members m LEFT JOIN authors a ON a.id = m.agent
		WHERE m.circle = $1 AND m.agent <> $2 AND m.gone = 0 AND m.at > coalesce(a.erased_agent, 0)
		ORDER BY CASE WHEN m.joined > 0 THEN m.joined WHEN m.since > 1 THEN m.since ELSE m.at END, m.agent LIMIT 1`, c.ID, c.Owner)
	return agent
}
