package engine

import (
	"time"

	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/signals/events"
)

// tally counts a page that is answered for the first time, for the variant that ranked it. While no
// experiment runs, a page of a session counts for the ranking in force.
func (e *Engine) tally(c *call, p page, got hydrated) {
	docs, refs := got.first, got.firstRefs
	countShown(refs)
	if c.Feed.Named() { // what it shows is ranked by no variant
		return
	}
	pages, remembers := e.stores.Tally.(PageTally)
	tracked := remembers && e.tracked()
	if e.stores.Tally == nil || len(docs) == 0 && (!tracked || p.Replayed) {
		return
	}
	run, now := c.variant, e.cfg.Clock()
	ofSession := run == "" || p.from == substitute || p.missing&degraded.Recall != 0
	if ofSession {
		run, _ = e.cfg.Rankings.For(c.Agent)
	}
	if !remembers {
		e.stores.Tally.Delivered(run, c.Agent, docs, refs, e.promoted(c.Agent, got.profile, refs, now), now)
		return
	}
	pages.CountPage(events.Delivery{
		Agent: c.Agent, Run: run, Tracked: tracked, OfSession: ofSession, Unseen: !e.cfg.RecordServed,
		Feed: c.Feed, Limit: c.Limit, Took: now.Sub(c.begun), Docs: docs, Refs: refs, Promoted: e.promoted(c.Agent, got.profile, refs, now),
	}, now)
}

// tracked reports whether acts count for the pages that showed their items.
func (e *Engine) tracked() bool {
	r, varies := e.cfg.Rankings.(interface{ Experiments() bool })
	return varies && r.Experiments() || !e.cfg.RecordServed
}

// countActs counts acts for an agent's variant, or for the variants that showed the items. It returns
// false if there is no room at the moment.
func (e *Engine) countActs(agent, run string, acts []events.GroupAct, promoted []events.Event, now time.Time) bool {
	if e.stores.Tally == nil || len(acts)+len(promoted) == 0 {
		return true
	}
	pages, remembers := e.stores.Tally.(PageTally)
	if remembers {
		return pages.CountActs(events.Acts{Agent: agent, Run: run, Tracked: e.tracked(), Acts: acts, Other: promoted}, now)
	}
	var all []events.Event
	for _, a := range acts {
		all = append(all, events.Acted(a.Kind, agent, a.Group, a.Source, 0)...)
	}
	return e.stores.Tally.Acted(run, append(all, promoted...), now)
}

// promoted lists the items of a page that promotions have shown, or have given if items count only once
// they are seen.
func (e *Engine) promoted(agent string, profile *feed.Profile, refs []feed.Ref, now time.Time) (shown []events.Event) {
	if e.stores.Promotions == nil || profile == nil {
		return nil
	}
	event := events.Promoted
	if _, remembers := e.stores.Tally.(PageTally); remembers && !e.cfg.RecordServed {
		event = events.PromotedLoaded
	}
	for _, r := range refs {
		if r.Source != feed.SourcePromoted {
			continue
		}
		if id, ok := e.stores.Promotions.Chosen(agent, profile, r.ID, now); ok {
			shown = append(shown, event(id, agent, r.Group))
		}
	}
	return shown
}

// reported counts items that an agent has seen, if they count only then.
func (e *Engine) reported(agent string, refs []feed.Ref, docs []feed.Doc) {
	pages, remembers := e.stores.Tally.(PageTally)
	if !remembers || e.cfg.RecordServed || len(refs) == 0 {
		return
	}
	run, _ := e.cfg.Rankings.For(agent)
	r := events.Report{Agent: agent, Run: run, Docs: docs, Groups: convert.Each(refs, func(r feed.Ref) string { return r.Group })}
	if e.stores.Promotions != nil {
		for _, ref := range refs {
			for _, id := range e.stores.Promotions.About(ref.ID) {
				r.Other = append(r.Other, events.PromotedSeen(id, agent, ref.Group))
			}
		}
	}
	pages.CountReport(r, e.cfg.Clock())
}

// promotedActs returns the event of an act for each promotion that may have shown its item.
func (e *Engine) promotedActs(a Act, agent, group string) (acts []events.Event) {
	if e.stores.Promotions == nil || a.Kind != events.Click && a.Kind != events.Like {
		return nil
	}
	for _, id := range e.stores.Promotions.About(a.ID) {
		acts = append(acts, events.PromotedAct(a.Kind, id, agent, group))
	}
	return acts
}
