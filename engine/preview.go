package engine

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
)

// Preview tells what an agent would be handed out by a refresh now and by paging
// on to the end of its session, in pages of limit items: one list for each of the
// rankings, best first. It goes through the rounds of a refresh and arranges what
// survives them as a refresh does; content is not read. Only items dated after
// since are candidates; zero: no bound.
//
// Nothing is changed, and nothing is counted. It asks the recall source directly: what
// is shared among readers is neither used nor pushed out. Errors wrap
// [feed.ErrBadID], [feed.ErrBadLimit], [feed.ErrInvalid], or a store's
// ErrUnavailable.
func (e *Engine) Preview(ctx context.Context, agent string, limit int, since time.Time, rankings ...feed.Ranking) ([][]feed.Ref, error) {
	if err := (Request{Agent: agent, Action: ActionRefresh, Limit: limit}).Validate(); err != nil {
		return nil, err
	}
	profile, err := e.profile(ctx, agent)
	if err != nil {
		return nil, err
	}
	q, _ := e.query(agent, profile)
	q.Since = since
	s := stages{e: e, at: e.cfg.Clock, recall: e.direct, enter: uncounted}
	lists := make([][]feed.Ref, len(rankings))
	for i, r := range rankings {
		if err := r.Validate(); err != nil {
			return nil, err
		}
		q.Ranking = r
		found, err := s.preview(ctx, agent, q, limit)
		if err != nil {
			return nil, err
		}
		lists[i] = found.ranked
	}
	return lists, nil
}

// preview is choose without counting anything.
func (s *stages) preview(ctx context.Context, agent string, q feed.Query, limit int) (chosen, error) {
	r := s.rounds(wanted{agent, feed.ForYou, q, limit, limit, s.e.cfg.RoundsFor})
	defer r.release()
	for r.next(ctx) {
	}
	return r.chosen()
}

// uncounted is [Engine.enter] for what no reader waits for.
func uncounted(ctx context.Context, _ stage) (context.Context, func()) { return ctx, func() {} }
