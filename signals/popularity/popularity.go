// Package popularity counts what readers click and like, per item, so that a feed
// follows what is read at the moment: where acts are counted ([Counter]) and the
// [Buffer] that hands acts to it in the background. The counts themselves are
// [feed.Counts]; a recall source ranks by them ([recall.Counter]). In one process
// they are in a [Store] (popularity/sqlite). Several servers share them in Redis
// (popularity/redis), and a [Publisher] writes what has changed to the index that
// recall searches.
package popularity

import (
	"context"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors that say the store could not be asked at
// all; asking again later may help.
var ErrUnavailable = &feed.Outage{Text: "the store of live popularity is unavailable", Shown: "what the agent has clicked and liked cannot be forgotten now; try again later"}

// RememberDays is how many days a store remembers that an agent has acted on an
// item, the day of the act included. Until then acting on it again does not count.
const RememberDays = 90

// Act is a reader's click or like.
type Act struct {
	Agent uint64 // hash of the agent's id: [Agent]
	Item  string // id
	At    int64  // Unix seconds
}

// Agent stands for an agent in an [Act].
func Agent(id string) uint64 { return xxhash.Sum64String(id) }

// Counter counts acts.
//
// Count counts acts: one of each agent and item in [RememberDays] days, whatever
// comes again. Counting the same acts again, also where it failed, changes nothing.
//
// Forget forgets what an agent, by its [Agent] hash, has acted on. What it added to
// counts stays: they do not say whose acts they are of.
type Counter interface {
	Count(ctx context.Context, acts []Act) error
	Forget(ctx context.Context, agent uint64) error
}

// Store keeps the counts of items.
//
// Add counts acts, all of them or none: one of each agent and item in
// [RememberDays] days, whatever comes again, and none of an item that the catalog
// does not have. It returns the counts that have changed; zero ones are those of
// items whose counts have become negligible and are forgotten. Adding the same acts
// again changes nothing.
//
// Read returns the counts of all items that have some. An item that is deleted
// from the catalog loses its counts and is forgotten by those who acted on it.
// Forget is that of a [Counter].
//
// Errors wrap [ErrUnavailable], or are the context's.
type Store interface {
	Add(ctx context.Context, acts []Act) (map[string]feed.Counts, error)
	Read(ctx context.Context) (map[string]feed.Counts, error)
	Forget(ctx context.Context, agent uint64) error
}
