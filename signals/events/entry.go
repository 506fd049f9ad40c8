package events

import (
	"time"

	"github.com/freshet/freshet/feed"
)

// Delivery is a page that an agent is answered for the first time. Its lists are retained and must not
// be changed afterwards.
type Delivery struct {
	Agent string
	Run   string // of the agent's variant in force
	// Tracked means that the page is remembered, so that acts on it, later pages of its session and
	// reports count for the variant that showed the items: during experiments, and if Unseen.
	Tracked bool
	// OfSession means that an earlier page's refresh ranked the page. If Tracked, it counts for that
	// one's run.
	OfSession bool
	// Unseen means that items count only once the agent has reported them as seen ([Report]).
	Unseen bool

	Feed     feed.Name
	Limit    int           // items requested
	Took     time.Duration // to answer the page
	Docs     []feed.Doc
	Refs     []feed.Ref // the source of each of Docs
	Promoted []Event    // of the items that promotions have shown
}

// Acts are acts of an agent that are made together.
type Acts struct {
	Agent   string
	Run     string // of the agent's variant in force
	Tracked bool   // an act counts for the variant that showed its group if that run is in force, otherwise for none
	Acts    []GroupAct
	Other   []Event // that count for Run
}

// GroupAct is an act on a group.
type GroupAct struct {
	Kind   Kind
	Group  string
	Source feed.Source // that showed it; if Tracked, that of the page
}

// Report lists groups of tracked pages that an agent has reported as seen.
type Report struct {
	Agent  string
	Run    string // of the agent's variant in force
	Groups []string
	Docs   []feed.Doc // the item of each of Groups; may be missing
	Other  []Event    // that count for Run
}

// entry is one of a delivery, acts and a report.
type entry struct {
	page *Delivery
	acts *Acts
	seen *Report
	now  time.Time
}

// agent returns the entry's agent.
func (e *entry) agent() string {
	switch {
	case e.page != nil:
		return e.page.Agent
	case e.acts != nil:
		return e.acts.Agent
	}
	return e.seen.Agent
}

// size returns how many items, groups and events an entry holds.
func (e *entry) size() int {
	switch {
	case e.page != nil:
		return len(e.page.Docs) + len(e.page.Promoted)
	case e.acts != nil:
		return len(e.acts.Acts) + len(e.acts.Other)
	}
	return len(e.seen.Groups) + len(e.seen.Other)
}

// record returns the record of a page that a run ranked.
func (d *Delivery) record(run string, offset int, now time.Time) PageOf {
	p := Page{Run: run, Feed: d.Feed, At: now.UTC().Truncate(time.Millisecond), Offset: offset, Items: make([]PageItem, len(d.Refs))}
	for i, r := range d.Refs {
		p.Items[i] = PageItem{GroupHash(r.Group), r.Source}
	}
	return PageOf{AgentHash(d.Agent), p}
}
