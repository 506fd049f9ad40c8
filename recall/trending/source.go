package trending

import (
	"context"
	"fmt"
	"strconv"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// SourceName is the source of what is proposed here.
const SourceName = "trending"

// Sets knows the set that is to be shown. [Live] is one.
type Sets interface {
	// Set returns the set, nil while none is known, and whether it is old. It does
	// not block.
	Set() (s *Set, stale bool)
}

// Source proposes what trends to home.
type Source struct {
	sets  Sets
	tells recall.Tells
}

var _ recall.Proposer = (*Source)(nil)

// NewSource returns a source that proposes the sets of sets. It proposes no items to a
// reader of whom tells does not tell whether they refuse them.
func NewSource(sets Sets, tells recall.Tells) *Source { return &Source{sets, tells} }

// Propose implements [recall.Proposer]: the highest trend first. It asks nobody.
// Posts are among the proposals that were public when the set was computed; whether
// the agent may see them is for hydration to find out. A cursor of another set goes
// on at its place in the newest one, so that a group may come again. The only errors
// are [recall.ErrBadCursor], and [recall.ErrUnavailable] while no set is known.
func (s *Source) Propose(_ context.Context, q feed.Query) (recall.Proposals, error) {
	at, err := parseCursor(q.After)
	if err != nil {
		return recall.Proposals{}, err
	}
	set, stale := s.sets.Set()
	if set == nil {
		return recall.Proposals{}, fmt.Errorf("%w: %w", recall.ErrUnavailable, ErrUnavailable)
	}
	out := recall.Proposals{Stale: stale}
	if q.N <= 0 {
		return out, nil
	}
	refused := s.tells.Refused(&q.Profile)
	for ; at < len(set.Entries); at++ {
		e := &set.Entries[at]
		it := e.Item()
		if e.UpdateTime > q.Origin.Unix() || !q.Since.IsZero() && e.UpdateTime <= q.Since.Unix() || refused(&it) {
			continue
		}
		if len(out.Proposals) == q.N {
			out.Next = strconv.Itoa(at)
			break
		}
		out.Proposals = append(out.Proposals, recall.Proposal{Candidate: e.Candidate(), Reactions: e.Reactions})
	}
	return out, nil
}

// Trends tells the trend of each of the items or posts, as of the set that is shown: 0 of what
// has no mark.
func (s *Source) Trends(ids []string) []feed.Trend {
	trends := make([]feed.Trend, len(ids))
	set, _ := s.sets.Set()
	if set == nil {
		return trends
	}
	for i := range set.Entries {
		e := &set.Entries[i]
		if e.Trend.Mark() == "" {
			break // nor has any behind it
		}
		for k, id := range ids {
			if id == e.ID {
				trends[k] = e.Trend
			}
		}
	}
	return trends
}

// parseCursor reads the place in the set where the next round begins.
func parseCursor(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	at, err := strconv.Atoi(text)
	if err != nil || at < 1 || strconv.Itoa(at) != text {
		return 0, fmt.Errorf("%w: %.40q", recall.ErrBadCursor, text)
	}
	return at, nil
}
