package graph

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// follow is one agent who follows an author, or does not any more.
type follow struct {
	Agent  string `json:"agent_id"`
	Author string `json:"author_id"`
	when
	on bool
}

func (f *follow) subject() string { return pair(f.Agent, f.Author) }
func (f *follow) key() string     { return pair(min(f.Agent, f.Author), max(f.Agent, f.Author)) }

func pair(one, other string) string {
	if one == "" && other == "" {
		return ""
	}
	return one + "/" + other
}

func (f *follow) check() error {
	if err := social.CheckFollow(f.Agent, f.Author); err != nil {
		return err
	}
	return f.checkTime()
}

func (f *follow) apply(ctx context.Context, s Store) error {
	set := s.Unfollow
	if f.on {
		set = s.Follow
	}
	_, err := set(ctx, f.Agent, f.Author, f.at())
	return err
}

// connection is two agents who follow each other, or do not any more.
type connection struct {
	Agents []string `json:"agents"`
	when
	on bool
}

func (c *connection) subject() string {
	if len(c.Agents) != 2 {
		return ""
	}
	return pair(c.Agents[0], c.Agents[1])
}

func (c *connection) key() string {
	return pair(min(c.Agents[0], c.Agents[1]), max(c.Agents[0], c.Agents[1]))
}

func (c *connection) check() error {
	if len(c.Agents) != 2 {
		return fmt.Errorf("agents must be the two who are connected, not %d", len(c.Agents))
	}
	if err := social.CheckPair(c.Agents[0], c.Agents[1]); err != nil {
		return err
	}
	return c.checkTime()
}

// apply makes or ends both follows. One that is refused does not keep the other
// from being made, so that nothing depends on which stands first.
func (c *connection) apply(ctx context.Context, s Store) error {
	there := follow{Agent: c.Agents[0], Author: c.Agents[1], when: c.when, on: c.on}
	back := follow{Agent: c.Agents[1], Author: c.Agents[0], when: c.when, on: c.on}
	first := there.apply(ctx, s)
	if first != nil && !feed.Refused(first) {
		return first
	}
	second := back.apply(ctx, s)
	if second != nil && !feed.Refused(second) {
		return second
	}
	return errors.Join(first, second)
}
