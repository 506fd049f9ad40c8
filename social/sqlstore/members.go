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

// present lists who is kept as a member.
func (t *Tx) present(circle string) []string {
	return t.texts(`SELECT agent FROM members WHERE circle = $1 AND gone = 0`, circle)
}

func (t *Tx) membersChanged(circle string, members []string, priority int) {
	for _, agent := range members {
		t.mark(jobs.Dirty{Kind: jobs.Member, Key: jobs.PairKey(circle, agent), Priority: priority})
	}
}

// replaceMembers makes those named the members as of a stamp, unless they were
// replaced later. Single changes that are later stay. Of two replacements at one
// time who is named in both remains.
func (t *Tx) replaceMembers(c *circle, named []string, stamp int64) {
	if stamp <= c.dropped || stamp < c.replaced {
		return
	}
	named = slices.Compact(slices.Sorted(slices.Values(named)))
	others := slices.DeleteFunc(t.present(c.ID), func(agent string) bool {
		_, there := slices.BinarySearch(named, agent)
		return there
	})
	t.setMembers(c, membership{agents: others, at: stamp}, membership{agents: named, on: true, at: stamp})
	c.replaced = stamp
	t.saveCircle(c)
}

// membership is a change of the membership of some agents in a circle: at a stamp, or 0
// for here and now.
type membership struct {
	agents []string
	on     bool
	at     int64
	ended  bool // the circle has ended then: so have those who were added here while it was there
}

// place is an agent's in a circle.
type place struct {
	social.Register
	kept        social.Register // the row: counted in the circle's size, also where an erasure has ended it
	incarnation int64           // of the circle that they were added to
}

// holds reports whether a change at a stamp holds.
func (m *membership) holds(k place, stamp int64) bool {
	return social.Supersedes(m.on, stamp, k.On, k.At) ||
		!m.on && k.kept.On && (stamp >= k.kept.At || m.ended && stamp >= k.incarnation)
}

// setMembers changes memberships of a circle that is locked, as far as the
// changes hold, and tells how many did. No agent comes twice. The circle's size
// is for saveCircle to write.
func (t *Tx) setMembers(c *circle, list ...membership) (changed int) {
	var all []string
	for _, m := range list {
		all = append(all, m.agents...)
	}
	if len(all) == 0 {
		return 0
	}
	places := t.members(c, all)
	var agents []string
	var at, gone, incarnations []int64
	for _, m := range list {
		by, priority := 1, jobs.PrioritySoon
		if !m.on {
			by, priority = -1, jobs.PriorityRemoval
		}
		for _, agent := range m.agents {
			k, stamp := places[agent], m.at
			if stamp == 0 {
				if k.On == m.on && k.kept.On == m.on {
					continue
				}
				stamp = social.ChangeTime(time.Time{}, t.now, k.At)
			}
			if !m.holds(k, stamp) {
				continue
			}
			agents, at, gone = append(agents, agent), append(at, stamp), append(gone, t.gone(m.on))
			if incarnations = append(incarnations, cmp.Or(m.at, c.put)); k.kept.On != m.on {
				c.Size += by
			}
			if k.On != m.on || k.kept.On != m.on {
				changed++
				t.membersChanged(c.ID, []string{agent}, priority)
			}
		}
	}
	if c.Size > social.MaxCircleMembers {
		t.fail(fmt.Errorf("%w: a circle has at most %d members", feed.ErrLimit, social.MaxCircleMembers))
	}
	if len(agents) > 0 {
		t.exec(t.d.SaveMembers, c.ID, Table{agents, at, gone, incarnations})
	}
	return changed
}

// members locks agents and reads what is kept of their memberships. Those of before an
// agent was erased are over.
func (t *Tx) members(c *circle, ids []string) map[string]place {
	agents := t.agents(doing, ids...)
	out := make(map[string]place, len(ids))
	t.each(func(scan Scan) error {
		var agent string
		var k place
		var gone int64
		err := scan(&agent, &k.At, &gone, &k.incarnation)
		k.On = gone == 0
		k.kept = k.Register
		out[agent] = k
		return err
	}, `SELECT agent, at, gone, incarnation FROM members WHERE circle = $1 AND agent = ANY ($2)`, c.ID, ids)
	for id, a := range agents {
		k := out[id]
		if k.On = k.On && k.At > a.ErasedAgent; !k.On {
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
	if by != agent {
		return s.member(ctx, id, agent, by, false, at)
	}
	changed, err := s.member(ctx, id, agent, "", false, at)
	if errors.Is(err, feed.ErrNotFound) {
		err = nil // as for a circle of which the agent is no member
	}
	return changed, err
}

func (s *Store) member(ctx context.Context, id, agent, by string, on bool, at time.Time) (changed bool, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return false, err
	}
	err = s.changeCircle(ctx, id, by, at, func(t *Tx, c *circle) {
		changed = t.setMembers(c, membership{agents: []string{agent}, on: on, at: social.Stamp(at)}) > 0
		if !c.found || changed {
			t.saveCircle(c) // of a circle that does not exist yet members are kept until it is created
		}
	})
	return changed && err == nil, err
}

// Members implements [social.Circles].
func (s *Store) Members(ctx context.Context, id, after string, n int) ([]string, error) {
	return s.page(ctx, `SELECT m.agent FROM circles c JOIN members m ON m.circle = c.id AND m.gone = 0
		WHERE c.id = $1 AND c.gone = 0 AND c.put > `+erasedAgent("c.owner")+`
		AND m.agent > $2 AND m.at > `+erasedAgent("m.agent")+` ORDER BY m.agent LIMIT $3`, id, after, n)
}
