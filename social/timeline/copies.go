package timeline

import (
	"context"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/freshet/freshet/feed"
)

// CopyTTL is the maximum age of a copy.
const CopyTTL = time.Second

// copies is the maximum number of lists in a [Copies].
const copies = 10_000

// Copies caches whole lists in this process for [CopyTTL], so that many reads of the same lists,
// the outboxes of celebrities, cause no load on the lists. It caches only ready lists. It is safe
// for concurrent use.
type Copies struct {
	Reader
	most  int
	clock feed.Clock
	cache *lru.Cache[string, copied]
}

type copied struct {
	page  Page
	until time.Time
}

var _ Reader = (*Copies)(nil)

// NewCopies returns a cache of lists with at most most entries each.
func NewCopies(lists Reader, most int, clock feed.Clock) *Copies {
	cache, err := lru.New[string, copied](copies)
	if err != nil { // the size is not positive
		panic(err)
	}
	return &Copies{Reader: lists, most: most, clock: clock, cache: cache}
}

// ReadMany implements [Reader] from the copies.
func (c *Copies) ReadMany(ctx context.Context, lists []string, below Position, n int) ([]Page, error) {
	pages, now := make([]Page, len(lists)), c.clock()
	var names []string
	var at []int // the index of each of names in lists
	for i, name := range lists {
		kept, ok := c.cache.Get(name)
		pages[i] = kept.page
		if !ok || !now.Before(kept.until) {
			names, at = append(names, name), append(at, i)
		}
	}
	if len(names) > 0 {
		found, err := c.Reader.ReadMany(ctx, names, Position{}, c.most)
		if err != nil {
			return nil, err
		}
		for i, page := range found {
			pages[at[i]] = page
			if page.State == Ready {
				c.cache.Add(names[i], copied{page, now.Add(CopyTTL)})
			}
		}
	}
	for i := range pages {
		pages[i] = pages[i].below(below, n)
	}
	return pages, nil
}

// below returns the part of a whole list that a read of n entries below a position returns.
func (p Page) below(below Position, n int) Page {
	from := 0
	if !below.Zero() {
		from, _ = slices.BinarySearchFunc(p.Entries, below, func(e, b Position) int {
			if e.Compare(b) >= 0 {
				return -1
			}
			return 1
		})
	}
	to := min(from+max(n, 0), len(p.Entries))
	more := p.More || to < len(p.Entries)
	p.Entries, p.More = p.Entries[from:to:to], more
	return p
}
