package sqlstore

import (
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
	registers := t.members(c, all)
	var agents []string
	var at, gone []int64
	for _, m := range list {
		by, priority := 1, jobs.PrioritySoon
		if !m.on {
			by, priority = -1, jobs.PriorityRemoval
		}
		for _, agent := range m.agents {
			k, stamp := registers[agent], m.at
			if stamp == 0 {
				if k.On == m.on {
					continue
				}
				stamp = social.ChangeTime(time.Time{}, t.now, k.At)
			}
			if !social.Supersedes(m.on, stamp, k.On, k.At) {
				continue
			}
			agents, at, gone = append(agents, agent), append(at, stamp), append(gone, t.gone(m.on))
			if k.On != m.on {
				c.Size += by
				changed++
				t.membersChanged(c.ID, []string{agent}, priority)
			}
		}
	}
	if c.Size > social.MaxCircleMembers {
		t.fail(fmt.Errorf("%w: a circle has at most %d members", feed.ErrLimit, social.MaxCircleMembers))
	}
	if len(agents) > 0 {
		t.exec(t.d.SaveMembers, c.ID, Table{agents, at, gone})
	}
	return changed
}

// members locks agents and reads what is kept of their memberships.
func (t *Tx) members(c *circle, ids []string) map[string]social.Register {
	agents := t.agents(doing, ids...)
	out := make(map[string]social.Register, len(ids))
	t.each(func(scan Scan) error {
		var agent string
		var at, gone int64
		err := scan(&agent, &at, &gone)
		out[agent] = social.Register{On: gone == 0, At: at}
		return err
	}, `SELECT agent, at, gone FROM members WHERE circle = $1 AND agent = ANY ($2)`, c.ID, ids)
	for id, a := range agents {
		if k := out[id]; !k.On {
			k.At = max(k.At, c.floor(), a.ErasedAgent)
			out[id] = k
		}
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
		WHERE c.id = $1 AND c.gone = 0 AND m.agent > $2 ORDER BY m.agent LIMIT $3`, id, after, n)
}
