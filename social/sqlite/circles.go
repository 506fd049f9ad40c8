package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// circle is a circle's row.
type circle struct {
	social.Circle
	put, dropped, replaced int64
	found                  bool
}

func (c *circle) alive() bool { return c.put > c.dropped }

// latest is the latest stamp of a change of the circle itself.
func (c *circle) latest() int64 { return max(c.put, c.dropped, c.replaced) }

// floor is since when those of whom nothing is kept are no members.
func (c *circle) floor() int64 { return max(c.dropped, c.replaced) }

func (q querying) circle(id string) (*circle, error) {
	c := &circle{Circle: social.Circle{ID: id}}
	var err error
	c.found, err = found(q.row(`SELECT owner, name, size, put, dropped, replaced FROM circles WHERE id = ?`, id),
		&c.Owner, &c.Name, &c.Size, &c.put, &c.dropped, &c.replaced)
	return c, err
}

// saveCircle writes all but the size, which members change.
func (t *tx) saveCircle(c *circle) error {
	_, err := t.exec(`INSERT INTO circles (id, owner, name, put, dropped, replaced, size, gone) VALUES (?, ?, ?, ?, ?, ?, 0, ?)
		ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, name = excluded.name, put = excluded.put,
		dropped = excluded.dropped, replaced = excluded.replaced, gone = excluded.gone`,
		c.ID, c.Owner, c.Name, c.put, c.dropped, c.replaced, t.gone(c.alive()))
	return err
}

// PutCircle implements [social.Circles].
func (s *Store) PutCircle(ctx context.Context, c social.Circle, members []string, at time.Time) error {
	if err := checkCircle(c, members); err != nil {
		return err
	}
	if err := social.CheckTime(at, s.opts.Clock()); err != nil {
		return err
	}
	return failed(ctx, "put circle", s.write(ctx, func(t *tx) error {
		kept, err := t.circle(c.ID)
		if err != nil {
			return err
		}
		if kept.alive() && kept.Owner != c.Owner {
			return fmt.Errorf("circle %s is another agent's: %w", c.ID, social.ErrNotAllowed)
		}
		stamp, err := t.circleTime(kept, at)
		if err != nil {
			return err
		}
		if err := t.putCircle(kept, c, stamp); err != nil || members == nil {
			return err
		}
		return t.replaceMembers(kept, members, stamp)
	}))
}

// circleTime is the stamp of a change of a circle that concerns its members.
func (t *tx) circleTime(c *circle, at time.Time) (int64, error) {
	if !at.IsZero() {
		return social.Stamp(at), nil
	}
	var latest int64
	err := t.row(`SELECT ifnull(max(at), 0) FROM members WHERE circle = ?`, c.ID).Scan(&latest)
	return social.ChangeTime(at, t.now, max(latest, c.latest())), err
}

// putCircle changes the circle itself as of a stamp, if the change holds. Those
// who were added before it was made, or made again, are members now.
func (t *tx) putCircle(kept *circle, c social.Circle, at int64) error {
	alive := kept.alive()
	if !social.Supersedes(true, at, alive, max(kept.put, kept.dropped)) {
		return nil
	}
	kept.Owner, kept.Name, kept.put = c.Owner, c.Name, at
	if err := t.saveCircle(kept); err != nil || alive {
		return err
	}
	members, err := t.present(c.ID)
	if err != nil {
		return err
	}
	return t.membersChanged(c.ID, members, jobs.PrioritySoon)
}

// present lists who is kept as a member.
func (t *tx) present(circle string) ([]string, error) {
	return t.texts(`SELECT agent FROM members WHERE circle = ? AND gone = 0`, circle)
}

func (t *tx) membersChanged(circle string, members []string, priority int) error {
	for _, agent := range members {
		if err := t.mark(jobs.Dirty{Kind: jobs.Member, Key: jobs.PairKey(circle, agent), Priority: priority}); err != nil {
			return err
		}
	}
	return nil
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

// replaceMembers makes those named the members as of a stamp, unless they were
// replaced later. Single changes that are later stay. Of two replacements at one
// time who is named in both remains.
func (t *tx) replaceMembers(c *circle, named []string, stamp int64) error {
	if stamp <= c.dropped || stamp < c.replaced {
		return nil
	}
	present, err := t.present(c.ID)
	if err != nil {
		return err
	}
	named = slices.Compact(slices.Sorted(slices.Values(named)))
	for _, agent := range present {
		if _, there := slices.BinarySearch(named, agent); !there {
			if _, err := t.setMember(c, agent, false, stamp); err != nil {
				return err
			}
		}
	}
	for _, agent := range named {
		if _, err := t.setMember(c, agent, true, stamp); err != nil {
			return err
		}
	}
	c.replaced = stamp
	return t.saveCircle(c)
}

// setMember changes a membership as of a stamp, if the change holds.
func (t *tx) setMember(c *circle, agent string, on bool, at int64) (changed bool, err error) {
	k, err := t.memberOf(c, agent)
	if err != nil || !social.Supersedes(on, at, k.On, k.At) {
		return false, err
	}
	if _, err := t.exec(`INSERT INTO members (circle, agent, at, gone) VALUES (?, ?, ?, ?)
		ON CONFLICT (circle, agent) DO UPDATE SET at = excluded.at, gone = excluded.gone`, c.ID, agent, at, t.gone(on)); err != nil {
		return false, err
	}
	if k.On == on {
		return false, nil
	}
	by, priority := 1, jobs.PrioritySoon
	if !on {
		by, priority = -1, jobs.PriorityRemoval
	}
	if c.Size += by; c.Size > social.MaxCircleMembers {
		return false, fmt.Errorf("%w: a circle has at most %d members", social.ErrLimit, social.MaxCircleMembers)
	}
	if _, err := t.exec(`UPDATE circles SET size = ? WHERE id = ?`, c.Size, c.ID); err != nil {
		return false, err
	}
	return true, t.mark(jobs.Dirty{Kind: jobs.Member, Key: jobs.PairKey(c.ID, agent), Priority: priority})
}

func (t *tx) memberOf(c *circle, agent string) (social.Register, error) {
	k, err := register(t.row(`SELECT at, gone FROM members WHERE circle = ? AND agent = ?`, c.ID, agent))
	if err != nil {
		return k, err
	}
	erased, err := t.erased(agent)
	if floor := max(c.floor(), erased.rest); !k.On && k.At < floor {
		k.At = floor
	}
	return k, err
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
	if errors.Is(err, social.ErrNotFound) {
		err = nil // as for a circle of which the agent is no member
	}
	return changed, err
}

func (s *Store) member(ctx context.Context, id, agent, by string, on bool, at time.Time) (changed bool, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return false, err
	}
	err = s.changeCircle(ctx, id, by, at, func(t *tx, c *circle) error {
		k, err := t.memberOf(c, agent)
		if err != nil || at.IsZero() && k.On == on {
			return err
		}
		if !c.found { // its members are kept until it is created
			if err := t.saveCircle(c); err != nil {
				return err
			}
		}
		changed, err = t.setMember(c, agent, on, social.ChangeTime(at, t.now, k.At))
		return err
	})
	return changed, err
}

// changeCircle runs a change of a circle that by may make.
func (s *Store) changeCircle(ctx context.Context, id, by string, at time.Time, do func(*tx, *circle) error) error {
	if err := social.CheckCircleID(id); err != nil {
		return err
	}
	if err := social.CheckTime(at, s.opts.Clock()); err != nil {
		return err
	}
	return failed(ctx, "change circle", s.write(ctx, func(t *tx) error {
		c, err := t.circle(id)
		if err != nil {
			return err
		}
		switch {
		case !c.alive() && at.IsZero():
			return fmt.Errorf("circle %s: %w", id, social.ErrNotFound)
		case by != "" && c.Owner != by:
			return fmt.Errorf("circle %s is not %s's: %w", id, by, social.ErrNotAllowed)
		}
		return do(t, c)
	}))
}

// DropCircle implements [social.Circles].
func (s *Store) DropCircle(ctx context.Context, id, by string, at time.Time) error {
	return s.changeCircle(ctx, id, by, at, func(t *tx, c *circle) error {
		stamp, err := t.circleTime(c, at)
		if err != nil {
			return err
		}
		return t.dropCircle(c, stamp)
	})
}

func (t *tx) dropCircle(c *circle, at int64) error {
	if at <= c.dropped {
		return nil
	}
	c.dropped = at
	if err := t.saveCircle(c); err != nil {
		return err
	}
	members, err := t.present(c.ID)
	if err != nil {
		return err
	}
	if !c.alive() {
		// Those who were added later wait for the circle to be made again.
		if err := t.membersChanged(c.ID, members, jobs.PriorityRemoval); err != nil {
			return err
		}
	}
	for _, agent := range members {
		if _, err := t.setMember(c, agent, false, at); err != nil {
			return err
		}
	}
	return nil
}

// Circle implements [social.Circles].
func (s *Store) Circle(ctx context.Context, id string) (social.Circle, error) {
	var c *circle
	err := s.readers.read(ctx, func(q *reading) (err error) {
		if c, err = q.circle(id); err == nil && !c.alive() {
			err = fmt.Errorf("circle %s: %w", id, social.ErrNotFound)
		}
		return err
	})
	if err != nil {
		return social.Circle{}, failed(ctx, "read circle", err)
	}
	return c.Circle, nil
}

// CirclesOf implements [social.Circles].
func (s *Store) CirclesOf(ctx context.Context, owner, after string, n int) (list []social.Circle, err error) {
	err = s.readers.read(ctx, func(q *reading) error {
		list = nil
		return q.each(func(rows *sql.Rows) error {
			c := social.Circle{Owner: owner}
			err := rows.Scan(&c.ID, &c.Name, &c.Size)
			list = append(list, c)
			return err
		}, `SELECT id, name, size FROM circles WHERE owner = ? AND gone = 0 AND id > ? ORDER BY id LIMIT +?`, owner, after, n)
	})
	return list, failed(ctx, "list circles", err)
}

// Members implements [social.Circles].
func (s *Store) Members(ctx context.Context, id, after string, n int) ([]string, error) {
	return s.page(ctx, `SELECT m.agent FROM circles c JOIN members m ON m.circle = c.id AND m.gone = 0
		WHERE c.id = ? AND c.gone = 0 AND m.agent > ? ORDER BY m.agent LIMIT +?`, id, after, n)
}
