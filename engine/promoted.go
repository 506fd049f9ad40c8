package engine

import (
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// Promotions tells by which promotion an item is shown, so that what it shows is
// counted for it. [promotion.Source] is one. Its methods must not block.
type Promotions interface {
	// Chosen names the promotion by which the agent is shown an item: the same each
	// time while those for it are the same. false: none of it runs.
	Chosen(agent string, p *feed.Profile, item string, at time.Time) (id string, ok bool)
	// About lists the promotions by which an item may have been shown lately.
	About(item string) []string
}

// tallyPromoted counts what of a page promotions have shown.
func (e *Engine) tallyPromoted(variant, agent string, got hydrated, now time.Time) {
	if e.stores.Promotions == nil || got.profile == nil {
		return
	}
	var shown []events.Promoted
	for _, r := range got.firstRefs {
		if r.Source != feed.SourcePromoted {
			continue
		}
		if id, ok := e.stores.Promotions.Chosen(agent, got.profile, r.ID, now); ok {
			shown = append(shown, events.Promoted{Promotion: id, Hash: events.PromotedHash(id, agent, r.Group)})
		}
	}
	if len(shown) > 0 {
		e.stores.Tally.Promoted(variant, shown, nil, now)
	}
}

// promotedActs are an act, for each promotion that may have shown what it is on.
func (e *Engine) promotedActs(a Act, agent, group string) (acts []events.PromotedAct) {
	if e.stores.Promotions == nil || a.Kind != events.Click && a.Kind != events.Like {
		return nil
	}
	for _, id := range e.stores.Promotions.About(a.ID) {
		acts = append(acts, events.NewPromotedAct(a.Kind, id, agent, group))
	}
	return acts
}

// countPromoted hands over acts on what promotions may have shown; false: there is no
// room for them at the moment.
func (e *Engine) countPromoted(agent string, acts []events.PromotedAct) bool {
	if e.stores.Tally == nil || len(acts) == 0 {
		return true
	}
	variant, _ := e.cfg.Rankings.For(agent)
	return e.stores.Tally.Promoted(variant, nil, acts, e.cfg.Clock())
}
