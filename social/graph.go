package social

import (
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
)

// Register is the stored state of a follow or a membership: whether it holds,
// and as of which stamp. The zero Register was never heard of.
type Register struct {
	On bool
	At int64
}

// FollowChange is a follow as it is to be: at a stamp, or 0 for here and now.
type FollowChange struct {
	Edge
	On    bool
	At    int64
	Index int // among the edges of [Follows.FollowAll]
	// Noted keeps an end although there is nothing to end, so that nothing of before holds.
	Noted bool
}

// FollowResult is the outcome of a follow or unfollow.
type FollowResult struct {
	Changed bool  // the follow begins or ends
	Refused error // feed.ErrForbidden for a block, or feed.ErrLimit; nothing is changed
}

// Party is the state of an agent or an author that a change of follows needs.
type Party struct {
	Followers, Following int64
	Delivery             Delivery
	Erased               int64 // the author, with posts and followers, up to this stamp
	ErasedAgent          int64 // what else they made
	Counted              bool  // a count was changed
	Gained               bool  // that of followers was
}

// Crossed reports whether the followers have crossed a threshold, so that the
// author is to be delivered another way. On the way there their job looks by itself.
func (p *Party) Crossed(o Options) bool {
	c := Celebrity{Delivery: p.Delivery, Followers: p.Followers}
	return p.Gained && p.Delivery != Both && c.Wants(o) != p.Delivery
}

// Graph is a part of the follows while a store changes it: the rules of [Follows] that need more
// than one row. The store reads it, changes it and writes what has changed.
type Graph struct {
	Now     time.Time
	Parties map[string]*Party // all agents and authors; [Server] is none
	Kept    map[Edge]Register // what the changes begin with; all that is known of
	Blocked map[Edge]bool     // one of the two blocks the other
	Changes map[Edge]Register // what is to be written
}

// NewGraph returns a part of which nothing is known.
func NewGraph(now time.Time) *Graph {
	return &Graph{Now: now, Parties: map[string]*Party{}, Kept: map[Edge]Register{}, Blocked: map[Edge]bool{}, Changes: map[Edge]Register{}}
}

// Changes returns the follows that edges ask for, as of a time, and the edges that can never
// be follows. The error wraps [feed.ErrInvalid]: for the time, or for too many edges.
func Changes(edges []Edge, at, now time.Time) (list []FollowChange, rejected []Rejected, err error) {
	if len(edges) > MaxEdges {
		return nil, nil, fmt.Errorf("%w: %d edges at once, at most %d are allowed", feed.ErrInvalid, len(edges), MaxEdges)
	}
	if err := CheckTime(at, now); err != nil {
		return nil, nil, err
	}
	for i, e := range edges {
		if err := CheckFollow(e.Agent, e.Author); err != nil {
			rejected = append(rejected, Rejected{i, err})
		} else {
			list = append(list, FollowChange{Edge: e, On: true, At: Stamp(at), Index: i})
		}
	}
	return list, rejected, nil
}

// Concerned are the edges of some changes, and the parties, [Server] left out.
func Concerned(list []FollowChange) (edges []Edge, parties []string) {
	for _, f := range list {
		edges, parties = append(edges, f.Edge), append(parties, f.Agent)
		if f.Author != Server {
			parties = append(parties, f.Author)
		}
	}
	return edges, parties
}

// state returns the state of a follow; an erased author's or agent's are off as of
// the erasure, also where what is kept is still to be removed.
func (g *Graph) state(e Edge) Register {
	k, floor := g.Kept[e], g.Parties[e.Agent].ErasedAgent
	if author := g.Parties[e.Author]; author != nil {
		floor = max(floor, author.Erased)
	}
	if k.At <= floor {
		k = Register{At: floor}
	}
	return k
}

// Set changes a follow, if the change holds, with the counts.
func (g *Graph) Set(f FollowChange) FollowResult {
	if f.On && g.Blocked[f.Edge] {
		return FollowResult{Refused: feed.Errorf(feed.ErrForbidden, "%s and %s: one of the two blocks the other", f.Agent, f.Author)}
	}
	k, kept, at := g.state(f.Edge), g.Kept[f.Edge], f.At
	if at == 0 && k.On == f.On && kept.On == f.On && !f.Noted {
		return FollowResult{}
	}
	if at == 0 {
		at = ChangeTime(time.Time{}, g.Now, k.At)
	}
	if !Supersedes(f.On, at, k.On, k.At) && (f.On || !Supersedes(false, at, kept.On, kept.At)) {
		return FollowResult{}
	}
	agent := g.Parties[f.Agent]
	counts := f.On != kept.On // what is still to be removed is still counted
	if counts && f.On && agent.Following >= MaxFollowees {
		return FollowResult{Refused: fmt.Errorf("%w: %s follows %d, no more are allowed", feed.ErrLimit, f.Agent, agent.Following)}
	}
	g.Kept[f.Edge] = Register{f.On, at}
	g.Changes[f.Edge] = g.Kept[f.Edge]
	if counts {
		g.count(f)
	}
	return FollowResult{Changed: counts || f.On != k.On}
}

// count changes the counts; the followers of [Server] are not counted.
func (g *Graph) count(f FollowChange) {
	by := int64(1)
	if !f.On {
		by = -1
	}
	agent := g.Parties[f.Agent]
	agent.Following, agent.Counted = agent.Following+by, true
	if author := g.Parties[f.Author]; author != nil {
		author.Followers, author.Counted, author.Gained = author.Followers+by, true, true
	}
}
