// Package catalog stores items and profiles: how items are uploaded ([Ingest]) and how they are
// read for a page. The backends are in catalog/sqlite and catalog/elastic, content caches in
// catalog/lru and catalog/rediscache, the conformance suite in catalog/catalogtest.
package catalog

import (
	"context"
	"errors"
	"iter"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors that mean that the catalog could not be queried at all; a
// later retry may succeed.
var ErrUnavailable = &feed.Outage{Text: "catalog is unavailable", Shown: "the catalog is unavailable; try again later"}

// Reader reads items for responses.
type Reader interface {
	// Docs returns one Doc per id, in order; for an item that does not exist, the Doc has no
	// JSON. Duplicate ids are allowed. The JSON is shared and read-only. If the catalog cannot
	// be queried, the error wraps [ErrUnavailable]; a cache may return the cached docs together
	// with the error.
	Docs(ctx context.Context, ids []string) ([]feed.Doc, error)
}

// Writer changes items.
type Writer interface {
	// Put stores validated items and replaces those with the same id; if an id occurs several
	// times in a batch, the last one wins. It returns nil if all items are stored, else one
	// error per item: nil if the item is stored, [ErrUnavailable] if it cannot be stored for
	// now. The second error is for the whole batch: then it is unknown whether anything is
	// stored, and repeating the Put is safe.
	Put(ctx context.Context, items []feed.Item) ([]error, error)
	// Update replaces each stored item with the result of change, which must have the same id
	// and be valid; if change returns [RemoveItem], the item is removed. The ids are distinct,
	// and the results are in their order. Each item is changed atomically: if another writer
	// changes it in the meantime, change is called again with the new version. An item's counts
	// are preserved. So are multiple authors or languages of an item in a foreign index, unless
	// change returns another one, or an empty list that is not nil. The error is for the whole
	// batch: then it is unknown what is stored.
	Update(ctx context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]Updated, error)
	// Remove deletes an item. It returns [feed.ErrNotFound] if there is none.
	Remove(ctx context.Context, id string) error
}

// Updated is the outcome of one item of an update.
type Updated struct {
	Item    feed.Item // as stored; zero if Err is set or the item was removed
	Removed bool
	// Err is nil if the item was changed, else the reason why it was not: [feed.ErrNotFound] if
	// there is none, the error of the change, [feed.ErrInvalid] if it cannot be stored, or
	// [ErrUnavailable] if other writers changed it too often in the meantime.
	Err error
}

// Stored returns the items of a Put that were stored.
func Stored(items []feed.Item, errs []error) []feed.Item {
	if errs == nil {
		return items
	}
	out := make([]feed.Item, 0, len(items))
	for i, it := range items {
		if errs[i] == nil {
			out = append(out, it)
		}
	}
	return out
}

// IDs returns the ids of items.
func IDs(items []feed.Item) []string {
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	return ids
}

// UpdateOne updates a single item with [Writer]'s Update.
func UpdateOne(ctx context.Context, w Writer, id string, change func(feed.Item) (feed.Item, error)) (feed.Item, error) {
	all, err := w.Update(ctx, []string{id}, change)
	if err != nil {
		return feed.Item{}, err
	}
	return all[0].Item, all[0].Err
}

// Profiles stores profiles.
type Profiles interface {
	// Profile returns the agent's profile with the learned features; if the agent has declared
	// no profile, [feed.Learned]'s Alone is set. It returns [feed.ErrNotFound] for an agent
	// with neither.
	Profile(ctx context.Context, agent string) (feed.Profile, error)
	// ProfilesOf returns the agents' profiles in order, the zero profile for an agent without
	// one, in a few round trips. Duplicates are allowed. If the catalog cannot be queried, it
	// returns the profiles that are known anyway, with an error that wraps [ErrUnavailable].
	ProfilesOf(ctx context.Context, agents []string) ([]feed.Profile, error)
	// EditProfile changes a profile with change and returns the profile that is stored
	// afterwards. change receives the stored profile, or for an agent without one the zero
	// profile with [feed.Learned]'s Alone. If it returns false, nothing is written; its error
	// is returned as is. EditProfile is atomic: change is called again if another writer
	// changed the profile in the meantime. change must not modify a list or map that it
	// received. A Profile call that starts after EditProfile returns sees the new profile, on
	// every server. Learned features are preserved, whatever change returns for them.
	EditProfile(ctx context.Context, agent string, change func(*feed.Profile) (bool, error)) (feed.Profile, error)
	// MuteItems adds groups to the agent's muted items, like [feed.Profile.MuteItems], atomically,
	// and creates a profile for an agent without one. It is idempotent. If there is no room for
	// all of them, it stores nothing and returns [feed.ErrLimit].
	MuteItems(ctx context.Context, agent string, groups []string) error
	// RemoveProfile deletes a profile. It returns [feed.ErrNotFound] for an agent without one.
	// Learned features are preserved.
	RemoveProfile(ctx context.Context, agent string) error
	// Learn changes an agent's learning state with change, which receives the stored state or
	// the zero value. If change returns false, nothing is written. Learn is atomic, like
	// EditProfile. A change to the zero value deletes the state; [feed.Learning.Erase] does
	// too, and also rejects acts from before the erasure that other servers report later.
	Learn(ctx context.Context, agent string, change func(*feed.Learning) bool) error
}

// Catalog is a complete backend, or a layer in front of one.
type Catalog interface {
	Reader
	Writer
	Profiles
	// Hydrate returns the items like [Reader]'s Docs and the agent's profile, the zero profile
	// for an agent without one, in one round trip if the backend can. A cache whose catalog
	// cannot be queried may return what it has with the error, but nothing if it lacks the
	// profile, because the profile may mute the items.
	Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error)
	// Prefetch reads into the cache those items that are not cached or expire soon; without a
	// cache it does nothing. It overwrites no newer version if it takes no longer than a
	// request may. If the cache or its catalog cannot be queried, the error wraps
	// [ErrUnavailable]; a retry is safe.
	Prefetch(ctx context.Context, ids []string) error
}

// Uncached is embedded by catalogs without a cache.
type Uncached struct{}

// Prefetch implements [Catalog].
func (Uncached) Prefetch(context.Context, []string) error { return nil }

// Scanner is a catalog that an in-process recall index can be rebuilt from.
type Scanner interface {
	// Scan yields every item, in any order, until an error, which is the last value.
	Scan(ctx context.Context) iter.Seq2[feed.Item, error]
}

// Hydrate implements [Catalog]'s Hydrate for backends that read items and profiles separately.
func Hydrate(ctx context.Context, items Reader, profiles Profiles, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	docs, err := items.Docs(ctx, ids)
	if err != nil {
		return nil, feed.Profile{}, err
	}
	p, err := profiles.Profile(ctx, agent)
	if err != nil && !errors.Is(err, feed.ErrNotFound) {
		return nil, feed.Profile{}, err
	}
	return docs, p, nil
}

// Lister lists items, except posts unless they are selected.
type Lister interface {
	// List returns a page of the selected items, the newest first. An item that does not change
	// between pages is neither skipped nor repeated. Writes of the last second may be missing.
	//
	// Errors wrap [feed.ErrInvalid], for a cursor or a catalog that cannot list, or [ErrUnavailable].
	List(ctx context.Context, s Selection) (Page, error)
}

// Selection selects the items to list; a zero field selects all.
type Selection struct {
	Author string // the item's author_id
	Tag    string // one of the item's tags
	// Words are tokens of package words: the title has all of them. In an index of your own they are
	// compared as the analyzer of its titles does.
	Words  []string
	Since  int64  // Unix seconds; update_time is this or later
	Before int64  // Unix seconds; update_time is earlier
	Posts  bool   // the items of posts, in place of all others
	Cursor string // Next of the previous page
	Limit  int    // maximum number of items of a page, at least 1
}

// Page is a page of a list.
type Page struct {
	Items []feed.Doc
	Next  string // cursor of the next page; "" on the last page
}

// Census counts items, posts included.
type Census interface {
	// CountItems returns the number of items dated from each bound, in Unix seconds, to the next one,
	// which excludes it; the bounds ascend, and there is one number less. Writes of the last second may be
	// missing. It may take a second with millions of items. Errors wrap [ErrUnavailable].
	CountItems(ctx context.Context, bounds []int64) ([]int64, error)
}

// RemoveItem is returned by a change to remove the item, see [Writer].
var RemoveItem = errors.New("remove the item") //nolint:staticcheck,revive // it is no failure, as fs.SkipDir is none
