package engine

import (
	"context"
	"errors"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// peek is the silent refresh: it answers the unseen items dated after the
// agent's last refresh and changes nothing. HasMore tells that there are more
// of them than were asked for.
//
// While recall is down nobody knows what is new, while the session store is
// down, since when: then nothing is, and the answer says what was missing.
func (e *Engine) peek(ctx context.Context, r Request) (Answer, error) {
	since, err := e.stores.Sessions.Refreshed(ctx, r.Agent)
	if e.failsOpen(ctx, err) {
		return Answer{Docs: []feed.Doc{}, Degraded: (lacksDedup | lacksSession).names()}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	profile, err := e.profile(ctx, r.Agent)
	if err != nil {
		return Answer{}, err
	}
	q := e.query(r.Agent, profile)
	q.Since = since
	// One round is enough: recall is bounded to what is new, and N of it is
	// as far as a badge counts.
	found, err := e.choose(ctx, r.Agent, q, 1, 0)
	if down(ctx, err) && errors.Is(err, recall.ErrUnavailable) {
		return Answer{Docs: []feed.Doc{}, Degraded: lacksRecall.names()}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	got, err := e.hydrate(ctx, r.Agent, found.ranked[:min(len(found.ranked), r.Limit)])
	if err != nil {
		return Answer{}, err
	}
	got.unsure = e.recovering()
	count := len(found.ranked) - len(got.gone)
	return Answer{
		Docs: got.docs, NewCount: count, HasMore: count > len(got.docs), Degraded: (found.lacks | got.lacks()).names(),
	}, nil
}
