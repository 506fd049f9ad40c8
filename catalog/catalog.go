// Package catalog stores items and profiles: how they come in ([Ingest]) and
// how they are read back for a page. The backends
// are in catalog/sqlite and catalog/elastic, content caches in catalog/lru and
// catalog/rediscache, the conformance suite in catalog/catalogtest.
package catalog

import (
	"context"
	"errors"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors that say the catalog could not be
// asked at all; asking again later may help.
var ErrUnavailable = &feed.Outage{Text: "catalog is unavailable", Shown: "the catalog is unavailable; try again later"}

// Reader reads items for answers.
type Reader interface {
	// Docs returns one Doc per id, in order; an item that does not exist has no
	// JSON. Duplicate ids are allowed. The JSON is shared: never write to it.
	// Where the catalog cannot be asked the error wraps [ErrUnavailable]; a cache may
	// answer what it has beside it.
	Docs(ctx context.Context, ids []string) ([]feed.Doc, error)
}

// Writer changes items.
type Writer interface {
	// Put stores validated items, replacing those with the same id; of two items with one id in
	// a batch the later wins. It returns an error per item, nil where the item is stored and
	// [ErrUnavailable] where it cannot be for now, or nil where all are stored. The other error
	// is for the batch as a whole: then nothing is known to be stored, and putting it again is
	// safe.
	Put(ctx context.Context, items []feed.Item) ([]error, error)
	// Update replaces stored items, each by what change makes of it, which has the same id and
	// is valid; where change answers [RemoveItem] the item is removed. The ids are distinct, and
	// the answers in their order. Each item is changed atomically: where somebody else writes it
	// meanwhile, change is called again with what they wrote. What was counted of the item
	// stays, and so do several authors or languages of an index that others write, unless
	// change answers another one, or an empty list that is not nil. The error is for the batch
	// as a whole: then nothing is known of what is stored.
	Update(ctx context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]Updated, error)
	// Remove deletes an item; [feed.ErrNotFound] if there is none.
	Remove(ctx context.Context, id string) error
}

// Updated is the outcome of one item of an update.
type Updated struct {
	Item    feed.Item // as it is stored; the zero value beside an error, and of one that was removed
	Removed bool
	// Err is nil, or says why the item is as it was: [feed.ErrNotFound] where there is none,
	// the error of the change, [feed.ErrInvalid] where it cannot be stored, or
	// [ErrUnavailable] where others wrote it too often meanwhile.
	Err error
}

// Stored are the items of a Put that are stored.
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

// UpdateOne updates one item as [Writer] does.
func UpdateOne(ctx context.Context, w Writer, id string, change func(feed.Item) (feed.Item, error)) (feed.Item, error) {
	all, err := w.Update(ctx, []string{id}, change)
	if err != nil {
		return feed.Item{}, err
	}
	return all[0].Item, all[0].Err
}

// Profiles keeps profiles.
type Profiles interface {
	// Profile returns the agent's profile, with what was learned of the agent, who may
	// have declared none ([feed.Learned]'s Alone); [feed.ErrNotFound] for one of whom there
	// is neither.
	Profile(ctx context.Context, agent string) (feed.Profile, error)
	// ProfilesOf answers the agents' profiles in their order, the zero one for an agent
	// without, in a few round trips. Doubles are allowed. Where the catalog cannot be
	// asked, the error wraps [ErrUnavailable], and the profiles that are known all the
	// same come back beside it.
	ProfilesOf(ctx context.Context, agents []string) ([]feed.Profile, error)
	// EditProfile changes a profile by change, and answers the profile that is stored then.
	// change gets the stored one, the zero one with [feed.Learned]'s Alone for an agent
	// without, and answers false where it changed nothing; then nothing is written. An error of
	// change is returned as it is. It is atomic: change is called again where somebody else has
	// written meanwhile. change never writes to a list or map that it got. A Profile call that
	// starts after EditProfile returns sees the new profile, on every server. What was learned
	// stays, whatever change answers of it.
	EditProfile(ctx context.Context, agent string, change func(*feed.Profile) (bool, error)) (feed.Profile, error)
	// MuteItems adds groups to the agent's muted items, as [feed.Profile.Hide] does, atomically,
	// and makes a profile for an agent without one. Doing it again is safe.
	MuteItems(ctx context.Context, agent string, groups []string) error
	// RemoveProfile deletes a profile; [feed.ErrNotFound] for an agent without one. What was
	// learned stays.
	RemoveProfile(ctx context.Context, agent string) error
	// Learn changes what is learned of an agent by change, which is given what is remembered,
	// the zero value where nothing is, and answers false where it changed nothing. It is atomic,
	// as EditProfile is. A change to the zero value forgets, as [feed.Learning.Erase] does,
	// which also refuses what other servers learn later of acts from before.
	Learn(ctx context.Context, agent string, change func(*feed.Learning) bool) error
}

// Catalog is a whole backend, or something in front of one.
type Catalog interface {
	Reader
	Writer
	Profiles
	// Hydrate answers the items as [Reader] does and the agent's profile, the zero
	// one for an agent without, in one round trip where the backend can. A cache whose
	// catalog cannot be asked may answer what it has beside the error; nothing where it
	// lacks the profile, because that may mute the items.
	Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error)
	// Prefetch reads those of the items into the cache that are not there, or will expire there
	// soon; without a cache, none. It undoes no write if it takes no longer than a request may.
	// Where the cache or what is behind it cannot be asked the error wraps [ErrUnavailable];
	// calling again is safe.
	Prefetch(ctx context.Context, ids []string) error
}

// Uncached is embedded by catalogs without a cache to fill.
type Uncached struct{}

// Prefetch implements [Catalog].
func (Uncached) Prefetch(context.Context, []string) error { return nil }

// Scanner is a catalog an in-process recall index can be rebuilt from.
type Scanner interface {
	// Scan calls fn for every item, in any order, and stops at fn's error, which it returns.
	Scan(ctx context.Context, fn func(feed.Item) error) error
}

// Hydrate is [Catalog]'s Hydrate for backends that read items and profiles apart.
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

// Lister lists items. Posts are not among them.
type Lister interface {
	// List answers a page of the stored items that are selected, the youngest first. An
	// item that is not changed meanwhile is neither left out nor repeated from page to
	// page. What was written in the last second may be missing.
	//
	// Errors wrap [feed.ErrInvalid], for a cursor or a catalog that cannot list, or [ErrUnavailable].
	List(ctx context.Context, s Selection) (Page, error)
}

// Selection says which items are listed; the zero value of a field asks for nothing.
type Selection struct {
	Author string // the item's author_id
	Tag    string // one of the item's tags
	Since  int64  // Unix seconds; update_time is this or later
	Before int64  // Unix seconds; update_time is earlier
	Cursor string // Next of the page before
	Limit  int    // items of a page, at least 1
}

// Page is a page of a list.
type Page struct {
	Items []feed.Doc
	Next  string // cursor of the next page; "" where there is none
}

// RemoveItem is returned by a change to have the item removed instead, see [Writer].
var RemoveItem = errors.New("remove the item") //nolint:staticcheck,revive // it is no failure, as fs.SkipDir is none
