package engine

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/learning"
)

// Learner learns of agents by what they do. [learning.Buffer] is one.
type Learner interface {
	// Acted learns from an agent's acts on items that they were shown, each act once
	// however often it comes, with a half-life. It must not block: it answers false,
	// and has taken none of them, where it has no room at the moment; asking again is
	// harmless.
	Acted(agent string, halfLife time.Duration, acts []learning.Act, now time.Time) bool
	// Flush returns when all that was taken before is learned.
	Flush(ctx context.Context) error
}

// lessons are the kinds of acts as they are learned from.
var lessons = map[events.Kind]feed.ActKind{
	events.Click: feed.Clicked, events.Like: feed.Liked, events.Dislike: feed.Disliked, events.Hide: feed.Hidden,
}

// learn hands over what an agent did; false: there is no room for it at the moment.
// It is learned whatever the ranking makes of it, so that one that counts it finds
// something.
func (e *Engine) learn(agent string, acts []learning.Act) bool {
	if e.stores.Learner == nil || len(acts) == 0 {
		return true
	}
	_, ranking := e.cfg.Rankings.For(agent)
	return e.stores.Learner.Acted(agent, ranking.Learned.HalfLife, acts, e.cfg.Clock())
}

// Learned tells what was learned of an agent, by the profile that has it, and what
// it does to the relevance of items by the agent's ranking. What the ranking gives no
// weight has neither score nor factor.
func (e *Engine) Learned(agent string, p *feed.Profile) []feed.LearnedGain {
	l := &p.Learned
	_, ranking := e.cfg.Rankings.For(agent)
	known := map[feed.Feature]bool{}
	gains := make([]feed.LearnedGain, 0, len(l.Features))
	for _, effect := range l.Effects(ranking.Learned, ranking.Base, e.cfg.Clock().Unix()) {
		known[effect.Feature] = true
		gains = append(gains, recall.GainOf(&effect))
	}
	for i := range l.Features {
		if f := &l.Features[i]; !known[f.Feature] {
			gains = append(gains, recall.GainOf(&feed.LearnedEffect{LearnedFeature: f, Factor: 1}))
		}
	}
	recall.SortLearned(gains)
	return gains
}

// ForgetLearned deletes what was learned of an agent, whatever there is of it. What
// they did before, and other servers have not learned yet, does not count any more.
func (e *Engine) ForgetLearned(ctx context.Context, agent string) error {
	ctx = e.begin(ctx)
	if err := feed.CheckAgentID(agent); err != nil {
		return err
	}
	if e.stores.Learner != nil { // what they did before is not to be learned after
		if err := e.stores.Learner.Flush(ctx); err != nil {
			return err
		}
	}
	now := e.cfg.Clock()
	return e.stores.Catalog.Learn(ctx, agent, func(l *feed.Learning) bool {
		l.Erase(now)
		return true
	})
}
