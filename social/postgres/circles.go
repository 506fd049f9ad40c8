package postgres

import (
	"context"
	"fmt"
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

// circle reads one; with changing it is locked, and its members with it.
func (q querying) circle(mode lockMode, id string) (*circle, error) {
	c := &circle{Circle: social.Circle{ID: id}}
	var err error
	c.found, err = found(q.row(`SELECT owner, name, size, put, dropped, replaced FROM circles WHERE id = $1`+string(mode), id),
		&c.Owner, &c.Name, &c.Size, &c.put, &c.dropped, &c.replaced)
	return c, err
}

// saveCircle writes a circle's row, which was locked. If there was none and is
// one now, the transaction is run again.
func (t *tx) saveCircle(c *circle) error {
	text := `INSERT INTO circles (id, owner, name, put, dropped, replaced, size, gone) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	if c.found {
		text = `UPDATE circles SET owner = $2, name = $3, put = $4, dropped = $5, replaced = $6, size = $7, gone = $8 WHERE id = $1`
	}
	c.found = true
	_, err := t.exec(text, c.ID, c.Owner, c.Name, c.put, c.dropped, c.replaced, c.Size, t.gone(c.alive()))
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
		kept, err := t.circle(changing, c.ID)
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

// circleTime is the stamp of a change of a circle that concerns its members.
func (t *tx) circleTime(c *circle, at time.Time) (int64, error) {
	if !at.IsZero() {
		return social.Stamp(at), nil
	}
	var latest int64
	err := t.row(`SELECT coalesce(max(at), 0) FROM members WHERE circle = $1`, c.ID).Scan(&latest)
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
	if err == nil {
		t.membersChanged(c.ID, members, jobs.PrioritySoon)
	}
	return err
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
		c, err := t.circle(changing, id)
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
	members, err := t.present(c.ID)
	if err != nil {
		return err
	}
	if !c.alive() {
		// Those who were added later wait for the circle to be made again.
		t.membersChanged(c.ID, members, jobs.PriorityRemoval)
	}
	if _, err := t.setMembers(c, membership{agents: members, at: at}); err != nil {
		return err
	}
	return t.saveCircle(c)
}

// Circle implements [social.Circles].
func (s *Store) Circle(ctx context.Context, id string) (social.Circle, error) {
	var c *circle
	err := s.read(ctx, func(q querying) (err error) {
		if c, err = q.circle("", id); err == nil && !c.alive() {
			err = fmt.Errorf("circle %s: %w", id, social.ErrNotFound)
		}
		return err
	})
	if err != nil {
		return social.Circle{}, failed(ctx, "read circle", err)
	}
	return c.Circle, nil
}
