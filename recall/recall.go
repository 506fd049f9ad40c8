// Package recall finds candidates: the top N items for an agent, best
// first. A Source finds them; a [Front] lets identical queries share one
// answer, and a list stand in while the source is down. The backends are in
// recall/memory and recall/elastic, the conformance suite every backend passes is
// in recall/recalltest.
package recall

import (
	"context"
	"errors"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors that say the source could not be asked
// at all; asking again later may help.
var ErrUnavailable = &feed.Outage{Text: "recall is unavailable", Shown: "recall is unavailable; try again later"}

// ErrBadCursor is wrapped by the error about a cursor this source did not
// give out.
var ErrBadCursor = errors.New("bad recall cursor")

// Result is one round of recall.
type Result struct {
	Candidates []feed.Candidate // best first; shared, never to be written to
	Next       string           // cursor of the next round; "" when recall has no more
	Stale      bool             // an earlier answer that stands in while the source is down
}

// Source proposes candidates.
//
// Recall returns at most q.N candidates in order: score descending, newer
// first, then id ascending. Scores are float32 values of
//
//	relevance × decay × popularity
//	relevance = (base + Σ interest weight over matching tags + Σ keyword gains
//	            + Σ gains of learned features) × Π factors of learned features
//
// where a keyword that [Keywords] lists gains its weight if its tokens follow one
// another in the title, else its weight × the ranking's KeywordsSummary if they do
// in the summary, and the learned features are those that [LearnedOf] lists. The
// popularity factor is [feed.Ranking.PopularityFactor], with
// the item's counts at the origin where the source knows them: those of a [Counter],
// or those that the index has. Acts after the origin count in the first case as at
// their own moment, in the second as if they had come in before.
// Items dated after
// q.Origin, not after q.Since, or refused by the profile's mutes and languages
// are not recalled. Within one round at most one item of a group is returned,
// the best one; between rounds a group may come again, and the caller drops
// it. q.After continues where an earlier answer's Next left off, for the same
// query and origin; rounds never return an id twice while the catalog stands
// still.
//
// Recall is safe for concurrent use. A Source keeps no reference to q.
type Source interface {
	Name() string
	Recall(ctx context.Context, q feed.Query) (Result, error)
}

// Refuser is the part of a [Source] whose index holds other values than the content of
// items.
//
// Refused returns those of the ids that a reader with this profile refuses, where content
// does not tell; nil where it does, which needs no request. Errors wrap [ErrUnavailable] or
// are the context's.
type Refuser interface {
	Refused(ctx context.Context, p *feed.Profile, ids []string) (refused map[string]bool, err error)
}

// Indexer is the write side of a source that does not read the catalog's own
// storage. Upsert replaces items by id; Delete ignores unknown ids. Both are
// visible to every Recall that starts after they return.
type Indexer interface {
	Upsert(items []feed.Item)
	Delete(id string)
}

// Counter is the part of an [Indexer] that knows the live popularity of items.
//
// SetCounts replaces the counts of items by id, zero ones forget them; an id that
// is not in the index is ignored. Items keep their counts when they are replaced
// and lose them when they are deleted. Counts are visible to every Recall that
// starts after it returns.
type Counter interface {
	SetCounts(counts map[string]feed.Counts)
}

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

// Span is a part of time, in Unix seconds: after After, and not after Until.
type Span struct{ After, Until int64 }

// PopularItem is an item with what readers think of it.
type PopularItem struct {
	ID         string
	Group      string // never empty
	UpdateTime int64  // Unix seconds
	// Reactions is its likes + 2·comments, as they were uploaded or, of a post, given
	// here. In an index of somebody else's it is the value of the popularity field.
	Reactions float64
}

// Popular lists the items that readers react to most.
//
// Popular returns, for each of the spans, the n items dated in it that have the most
// reactions, most first; of equal ones the newer, then the lower id. Items without
// reactions are not listed. Fewer than n are all that there are. Whether posts are
// among them that a reader may not see is for who shows them to ask.
//
// Errors wrap [ErrUnavailable] or are the context's. Popular is safe for concurrent
// use.
type Popular interface {
	Popular(ctx context.Context, spans []Span, n int) ([][]PopularItem, error)
}
