package engine

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/learning"
	"github.com/freshet/freshet/signals/popularity"
)

// Tally counts, per variant of the ranking, what readers are shown and do. [events.Buffer]
// implements it.
type Tally interface {
	// Delivered counts the items of a page that an agent of the variant is answered for the first
	// time, once for each page. It must not block, and without room it leaves the page uncounted.
	// refs holds the source of each of docs, promoted the impressions of promotions. It retains
	// the lists, which are not changed any more.
	Delivered(variant, agent string, docs []feed.Doc, refs []feed.Ref, promoted []events.Event, now time.Time)
	// Acted counts acts, each once a day even if repeated. It must not block: without room at the
	// moment it returns false and accepts none of them; a retry is harmless. It retains the list.
	Acted(variant string, acts []events.Event, now time.Time) bool
}

// PageTally is a [Tally] that remembers which page showed an item: during experiments, and if items
// count once they are seen, acts and reports count for the variant that showed the item.
// [events.Buffer] implements it. A Tally that does not counts all for the agent's variant, and all
// items as they are delivered.
type PageTally interface {
	Tally
	// CountPage counts a page that an agent is answered for the first time, once. It must not
	// block, and without room it leaves the page uncounted. It retains the lists, which are not
	// changed any more.
	CountPage(d events.Delivery, now time.Time)
	// CountActs counts acts, each once a day even if repeated. It must not block: without room at
	// the moment it returns false and accepts none of them; a retry is harmless. It retains the
	// lists.
	CountActs(a events.Acts, now time.Time) bool
	// CountReport counts what an agent has seen, each group once a day. It must not block, and
	// without room it counts nothing. It retains the lists.
	CountReport(r events.Report, now time.Time)
	// Forget deletes the record of the agent's pages.
	Forget(ctx context.Context, agent string) error
}

// Popularity raises items that readers click and like. [popularity.Buffer] implements it.
type Popularity interface {
	// Acted counts an agent's acts on items, each agent and item once even if repeated. Their
	// agent and time are ignored. It must not block: without room at the moment it returns false
	// and accepts none of them; a retry is harmless.
	Acted(agent string, acts []popularity.Act, now time.Time) bool
	// Forget deletes the record of the agent's acts. Their contribution to counts remains.
	Forget(ctx context.Context, agent string) error
}

// Learner learns agents' preferences from their acts. [learning.Buffer] implements it.
type Learner interface {
	// Acted learns from an agent's acts on items that they were shown, each act once even if
	// repeated, with a half-life. It must not block: without room at the moment it returns false
	// and accepts none of them; a retry is harmless.
	Acted(agent string, halfLife time.Duration, acts []learning.Act, now time.Time) bool
	// Flush returns when all acts accepted before are learned.
	Flush(ctx context.Context) error
}

// Promotions finds the promotion that shows an item, so that impressions and acts are counted for
// it. [promotion.Source] implements it. Its methods must not block.
type Promotions interface {
	// Chosen returns the promotion that shows the agent an item: the same one each time while the
	// item's promotions are unchanged. It returns false if none of them is running.
	Chosen(agent string, p *feed.Profile, item string, at time.Time) (id string, ok bool)
	// About lists the promotions that may have shown an item recently.
	About(item string) []string
}
