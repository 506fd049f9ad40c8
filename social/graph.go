package social

import (
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
)

// Register is the stored state of a follow or a membership: whether it exists, and the stamp of the
// last change. The zero Register was never stored.
type Register struct {
	On bool
	At int64
}

// FollowChange sets a follow to On as of a stamp; 0 is here and now.
type FollowChange struct {
	Edge
	On    bool
	At    int64
	Index int // among the edges of [Follows.FollowAll]
	// Noted stores the end of a follow that does not exist, so that no earlier change takes effect.
	Noted bool
}

// FollowResult is the outcome of a follow or unfollow.
type FollowResult struct {
	Changed bool  // the follow began or ended
	Refused error // feed.ErrForbidden for a block, or feed.ErrLimit; then nothing is changed
}

// Party is the state of an agent or an author that a change of follows needs.
type Party struct {
	Followers, Following int64
	Delivery             Delivery
	Erased               int64 // stamp up to which the author is erased, with posts and followers
	ErasedAgent          int64 // stamp up to which everything else the agent made is erased
	Counted              bool  // a count was changed
	Gained               bool  // the number of followers was changed
}

// Crossed reports whether the followers have crossed a threshold, so that the author's delivery
// must change. It is false for Both: the job that changes the delivery checks again at its end.
func (p *Party) Crossed(o Options) bool {
	c := Celebrity{Delivery: p.Delivery, Followers: p.Followers}
	return p.Gained && p.Delivery != Both && c.Wants(o) != p.Delivery
}

// Graph is the part of the follows that a store is changing. It implements the rules of [Follows]
// that need more than one row. The store loads it, changes it and writes Changes.
type Graph struct {
	Now     time.Time
	Parties map[string]*Party // all agents and authors except [Server]
	Kept    map[Edge]Register // the current states; unknown edges are missing
	Blocked map[Edge]bool     // edges between two who are separated by a block
	Changes map[Edge]Register // the states to write
}

// NewGraph returns an empty Graph.
func NewGraph(now time.Time) *Graph {
	return &Graph{Now: now, Parties: map[string]*Party{}, Kept: map[Edge]Register{}, Blocked: map[Edge]bool{}, Changes: map[Edge]Register{}}
}

// Changes returns the follows to make for edges, as of a time, and the edges that cannot be
// follows. The error wraps [feed.ErrInvalid]: for the time, or for too many edges.
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

// Concerned returns the edges of changes and their parties, without [Server].
func Concerned(list []FollowChange) (edges []Edge, parties []string) {
	for _, f := range list {
		edges, parties = append(edges, f.Edge), append(parties, f.Agent)
		if f.Author != Server {
			parties = append(parties, f.Author)
		}
	}
	return edges, parties
}

// state returns the state of a follow. One from before the erasure of its author or agent is off as
// of the erasure, even if its row has not been removed yet.
func (g *Graph) state(e Edge) Register {
	k, floor := g.Kept[e], g.Parties[e.Agent].ErasedAgent
	author := g.Parties[e.Author]
	if author != nil {
		floor = max(floor, author.Erased)
	}
	if k.At <= floor {
		k = Register{At: floor}
	}
	return k
}

// Set applies a change of a follow and updates the counts, if it supersedes the state.
func (g *Graph) Set(f FollowChange) FollowResult {
	if f.On && g.Blocked[f.Edge] {
		return FollowResult{Refused: feed.Errorf(feed.ErrForbidden, "%s and %s: one of the two blocks the other", f.Agent, f.Author)}
	}
	k, kept, at := g.state(f.Edge), g.Kept[f.Edge], f.At
	isSame := k.On == f.On && kept.On == f.On
	if at == 0 && isSame && !f.Noted {
		return FollowResult{}
	}
	if at == 0 {
		at = ChangeTime(time.Time{}, g.Now, k.At)
	}
	if !Supersedes(f.On, at, k.On, k.At) && (f.On || !Supersedes(false, at, kept.On, kept.At)) {
		return FollowResult{}
	}
	agent := g.Parties[f.Agent]
	counts := f.On != kept.On // erased follows are counted until they are removed
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
	author := g.Parties[f.Author]
	if author != nil {
		author.Followers, author.Counted, author.Gained = author.Followers+by, true, true
	}
}
