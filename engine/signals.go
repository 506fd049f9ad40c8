package engine

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/learning"
)

// Tally counts what readers are shown and do, per variant of the ranking: [events.Buffer].
type Tally interface {
	// Delivered counts what an agent of the variant is answered for the first
	// time, once for each page. It must not block, and where it has no room it
	// leaves the page uncounted. The refs of docs tell which source gave each, promoted what
	// of it promotions have shown. It keeps the lists, which are not changed any more.
	Delivered(variant, agent string, docs []feed.Doc, refs []feed.Ref, promoted []events.Event, now time.Time)
	// Acted counts acts, each once a day however often it comes. It must not
	// block: it answers false, and has taken none of them, where it has no room
	// at the moment; asking again is harmless. It keeps the list.
	Acted(variant string, acts []events.Event, now time.Time) bool
}

// Popularity raises items by what readers click and like. [popularity.Buffer] is one.
type Popularity interface {
	// Acted counts an agent's acts on items, by their ids, each agent and item once
	// however often it comes. It must not block: it answers false, and has taken none
	// of them, where it has no room at the moment; asking again is harmless.
	Acted(agent string, items []string, now time.Time) bool
	// Forget forgets what the agent has acted on. What it has added to counts stays.
	Forget(ctx context.Context, agent string) error
}

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

// Promotions tells by which promotion an item is shown, so that what it shows is
// counted for it. [promotion.Source] is one. Its methods must not block.
type Promotions interface {
	// Chosen names the promotion by which the agent is shown an item: the same each
	// time while those for it are the same. false: none of it runs.
	Chosen(agent string, p *feed.Profile, item string, at time.Time) (id string, ok bool)
	// About lists the promotions by which an item may have been shown lately.
	About(item string) []string
}
