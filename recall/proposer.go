package recall

import (
	"context"

	"github.com/freshet/freshet/feed"
)

// Proposal is an entry that a source of home proposes, before it is scored.
type Proposal struct {
	feed.Candidate
	// Reactions weighs its likes and comments, see [feed.Reactions].
	Reactions float64
}

// Proposals is one round of a [Proposer].
type Proposals struct {
	Proposals []Proposal // in the order of the source; shared, never to be written to
	Next      string     // cursor of the next round; "" when the source has no more
	Stale     bool       // an earlier answer that stands in while the source is down
}

// Proposer is a source of home whose proposals are scored by the engine, with
// [feed.Home.Score]. Its answers may be for one agent alone and are not shared.
//
// Propose returns at most q.N proposals for q.Agent, dated not after q.Origin and
// not refused by the profile's mutes and languages, each of another group. q.After
// continues where an earlier answer's Next left off, for the same agent and origin.
// Scores are not set. Errors wrap [ErrUnavailable], a store's ErrUnavailable, or are
// the context's. Propose is safe for concurrent use and keeps no reference to q.
type Proposer interface {
	Propose(ctx context.Context, q feed.Query) (Proposals, error)
}
