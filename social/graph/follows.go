package graph

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// follow is the event that an agent follows an author, or unfollows them.
type follow struct {
	Agent  string `json:"agent_id"`
	Author string `json:"author_id"`
	when
	on bool
}

func (f *follow) subject() string { return pair(f.Agent, f.Author) }
func (f *follow) check() error    { return social.CheckFollow(f.Agent, f.Author) }

func pair(one, other string) string {
	if one == "" && other == "" {
		return ""
	}
	return one + "/" + other
}

func (f *follow) apply(ctx context.Context, s Store) error {
	set := s.Unfollow
	if f.on {
		set = s.Follow
	}
	_, err := set(ctx, f.Agent, f.Author, f.at())
	return err
}

// connection is the event that two agents follow each other, or no longer do.
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

func (c *connection) check() error {
	if len(c.Agents) != 2 {
		return fmt.Errorf("agents must list the two connected agents, not %d", len(c.Agents))
	}
	return social.CheckPair(c.Agents[0], c.Agents[1])
}

// apply creates or removes both follows. If one is refused the other is still applied, so the
// order of the agents makes no difference.
func (c *connection) apply(ctx context.Context, s Store) error {
	var refused []error
	for i, agent := range c.Agents {
		f := follow{Agent: agent, Author: c.Agents[1-i], when: c.when, on: c.on}
		err := f.apply(ctx, s)
		if err != nil && !feed.Refused(err) {
			return err
		}
		refused = append(refused, err)
	}
	return errors.Join(refused...)
}
