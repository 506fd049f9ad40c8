package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// circleChanged is the current state of a circle (owner, name, terms, members), a change of
// its members (added, removed), or its deletion (deleted).
type circleChanged struct {
	about
	Owner string `json:"owner"`
	Name  string `json:"name"`
	social.CircleTerms
	Until   feed.Moment `json:"until"`
	Members []string    `json:"members"` // nil leaves the members unchanged
	Added   []string    `json:"added"`
	Removed []string    `json:"removed"`
	Deleted bool        `json:"deleted"`
}

func (c *circleChanged) check() error {
	if err := cmp.Or(c.checkForm(), social.CheckCircleID(c.ID)); err != nil {
		return err
	}
	if c.Owner != "" {
		if err := c.circle().Validate(); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		name   string
		agents []string
	}{{"members", c.Members}, {"added", c.Added}, {"removed", c.Removed}} {
		n := len(list.agents)
		if n > social.MaxCircleMembers {
			return fmt.Errorf("%d %s, at most %d are allowed", n, list.name, social.MaxCircleMembers)
		}
		for _, agent := range list.agents {
			if err := social.CheckAgent(agent); err != nil {
				return fmt.Errorf("%s: %w", list.name, err)
			}
		}
	}
	return nil
}

func (c *circleChanged) circle() social.Circle {
	circle := social.Circle{ID: c.ID, Owner: c.Owner, Name: c.Name, CircleTerms: c.CircleTerms}
	if !c.Until.IsZero() {
		circle.Until = c.Until.Unix()
	}
	return circle
}

// checkForm rejects an event with an ambiguous combination of fields.
func (c *circleChanged) checkForm() error {
	named := c.Owner != "" || c.Name != ""
	hasTerms := c.CircleTerms != social.CircleTerms{} || !c.Until.IsZero()
	whole := named || hasTerms || c.Members != nil
	change := c.Added != nil || c.Removed != nil
	switch {
	case c.Deleted && (whole || change):
		return errors.New("deleted allows no other fields than id and at")
	case c.Deleted:
		return nil
	case whole && c.Owner == "":
		return errors.New("owner is missing: it is required with a name, members or terms")
	case c.Members != nil && change:
		return errors.New("members replaces the whole list; send either members, or added and removed")
	case !whole && !change:
		return errors.New("it changes nothing; send owner, name and members, or added and removed, or deleted")
	}
	return nil
}

func (c *circleChanged) apply(ctx context.Context, s Store) error {
	if c.Deleted {
		return s.DropCircle(ctx, c.ID, "", c.at())
	}
	if c.Owner != "" {
		if _, err := s.PutCircle(ctx, c.circle(), c.Members, c.at()); err != nil {
			return err
		}
	}
	// Removals first: they make room for the additions, and they take effect even if an
	// addition fails.
	for _, agent := range c.Removed {
		if _, err := s.RemoveMember(ctx, c.ID, agent, "", c.at()); err != nil {
			return err
		}
	}
	for _, agent := range c.Added {
		if _, err := s.AddMember(ctx, c.ID, agent, "", c.at()); err != nil {
			return err
		}
	}
	return nil
}
