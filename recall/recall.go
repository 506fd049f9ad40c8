// Package recall finds candidates: the top N items for an agent, best first. A Source finds
// them; a [Shared] lets identical queries share one answer and serves a fallback list while the
// source is down. The backends are in recall/memory and recall/elastic; the conformance suite
// that every backend passes is in recall/recalltest.
package recall

import (
	"context"
	"errors"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors that mean that the source could not be queried at all; a
// later retry may succeed.
var ErrUnavailable = &feed.Outage{Text: "recall is unavailable", Shown: "recall is unavailable; try again later"}

// ErrBadCursor is wrapped by the error for a cursor that this source did not issue.
var ErrBadCursor = errors.New("bad recall cursor")

// Result is one round of recall.
type Result struct {
	Candidates []feed.Candidate // best first; shared, so read-only
	Next       string           // cursor of the next round; "" when recall has no more
	Stale      bool             // an earlier answer, served while the source is down
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
// where a keyword listed by [Keywords] gains its weight if its tokens are adjacent in the
// title, else its weight × the ranking's KeywordsSummary if they are adjacent in the summary,
// and the learned features are those listed by [LearnedOf]. The popularity factor is
// [feed.Ranking.PopularityFactor] with the item's counts at the origin, if the source knows
// them: from a [Counter] or from its index. Counts before an item's latest act are those of
// [feed.Counts.At]; only an index without the time of the latest act extrapolates the decay back.
//
// Items dated after q.Origin, not after q.Since, refused by the profile's mutes and
// languages, or not selected by q.Filter are not recalled. Within one round at most one item of a group is returned, the
// best one; later rounds may return the group again, and the caller drops it. q.After continues
// where an earlier answer's Next left off, for the same query and origin; rounds never repeat
// an id while the catalog does not change.
//
// Recall is safe for concurrent use. A Source does not retain q.
type Source interface {
	Name() string
	Recall(ctx context.Context, q feed.Query) (Result, error)
}

// Refuser is implemented by a [Source] whose index holds other values than the content of its
// items.
//
// Refused returns the ids among ids that this profile refuses, if item content is not enough to
// decide that. If it is enough, Refused returns nil without a request. Errors wrap
// [ErrUnavailable] or are the context's.
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

// Counter is implemented by an [Indexer] that uses the live popularity of items.
//
// SetCounts replaces the counts of items by id; zero counts remove them, and ids that are not
// in the index are ignored. Items keep their counts when they are replaced and lose them when
// they are deleted. Counts are visible to every Recall that starts after SetCounts returns.
type Counter interface {
	SetCounts(counts map[string]feed.Counts)
}

// Proposal is an entry proposed by one of home's sources, before it is scored.
type Proposal struct {
	feed.Candidate
	// Reactions is the weighted number of its likes and comments, see [feed.Reactions].
	Reactions float64
	// Mention means that it reaches the agent only because it mentions them: home bounds how many of
	// these a refresh has.
	Mention bool
}

// Proposals is one round of a [Proposer].
type Proposals struct {
	Proposals []Proposal // in the order of the source; shared, so read-only
	Next      string     // cursor of the next round; "" when the source has no more
	Stale     bool       // an earlier answer, served while the source is down
}

// Proposer is a source of home whose proposals the engine scores with [feed.Home.Score]. Its
// answers may be specific to one agent and are not shared.
//
// Propose returns at most q.N proposals for q.Agent, one per group, dated not after q.Origin
// and not refused by the profile's mutes and languages. q.After continues where an earlier
// answer's Next left off, for the same agent and origin. Scores are not set. Errors wrap
// [ErrUnavailable], a store's ErrUnavailable, or are the context's. Propose is safe for
// concurrent use and does not retain q.
type Proposer interface {
	Propose(ctx context.Context, q feed.Query) (Proposals, error)
}

// Span is a time interval in Unix seconds, after After and up to and including Until.
type Span struct{ After, Until int64 }

// PopularItem is an item with its reactions.
type PopularItem struct {
	ID         string
	Group      string // never empty
	UpdateTime int64  // Unix seconds
	// Reactions is likes + 2·comments, as uploaded or, for a post, as given here. In a foreign
	// index it is the value of the popularity field.
	Reactions float64
}

// Popular lists the items with the most reactions.
//
// Popular returns, for each span, the n items dated in it that have the most reactions, most
// first; ties go to the newer item, then to the lower id. Items without reactions are not
// listed. A list shorter than n is complete. Lists may contain posts that a reader may not see;
// the caller that shows them must check.
//
// Errors wrap [ErrUnavailable] or are the context's. Popular is safe for concurrent use.
type Popular interface {
	Popular(ctx context.Context, spans []Span, n int) ([][]PopularItem, error)
}
