package trending

import (
	"context"
	"fmt"
	"strconv"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// SourceName is the source name of trending proposals.
const SourceName = "trending"

// Sets provides the current set. [Live] implements it.
type Sets interface {
	// Set returns the set, nil if none is known yet, and whether it is stale. It does not
	// block.
	Set() (s *Set, stale bool)
}

// Source proposes trending items to home.
type Source struct {
	sets           Sets
	contentDecides recall.ContentDecides
}

var _ recall.Proposer = (*Source)(nil)

// NewSource returns a source that proposes the items of sets. It proposes no items to a reader
// if decides reports that their content is not enough to decide what the reader refuses.
func NewSource(sets Sets, decides recall.ContentDecides) *Source { return &Source{sets, decides} }

// Propose implements [recall.Proposer], the highest trend first, without any request. The
// proposals include posts that were public when the set was computed; hydration checks whether
// the agent may see them. A cursor of an earlier set continues at its position in the current
// one, so a group may be repeated. The only errors are [recall.ErrBadCursor], and
// [recall.ErrUnavailable] while no set is known.
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
	refused := s.contentDecides.Refused(&q.Profile)
	for ; at < len(set.Entries); at++ {
		e := &set.Entries[at]
		it := e.Item()
		tooOld := !q.Since.IsZero() && e.UpdateTime <= q.Since.Unix()
		if tooOld || e.UpdateTime > q.Origin.Unix() || refused(&it) {
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

// Trends returns the trend of each of the items or posts in the current set: 0 for those
// without a mark.
func (s *Source) Trends(ids []string) []feed.Trend {
	trends := make([]feed.Trend, len(ids))
	set, _ := s.sets.Set()
	if set == nil {
		return trends
	}
	for i := range set.Entries {
		e := &set.Entries[i]
		if e.Trend.Mark() == "" {
			break // entries are sorted, so no later one has a mark
		}
		for k, id := range ids {
			if id == e.ID {
				trends[k] = e.Trend
			}
		}
	}
	return trends
}

// parseCursor returns the position in the set at which the next round begins.
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
