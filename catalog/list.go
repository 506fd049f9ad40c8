package catalog

import (
	"context"
	"errors"

	"github.com/freshet/freshet/feed"
)

// Lister lists items. Posts are not among them.
type Lister interface {
	// List answers a page of the stored items that are selected, the youngest first. An
	// item that is not changed meanwhile is neither left out nor repeated from page to
	// page. What was written in the last second may be missing.
	//
	// Errors wrap [feed.ErrInvalid], for a cursor or a catalog that cannot list, or [ErrUnavailable].
	List(ctx context.Context, s Selection) (Page, error)
}

// Selection says which items are listed; the zero value of a field but Limit asks for
// nothing.
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
