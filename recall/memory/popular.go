package memory

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/freshet/freshet/recall"
)

var _ recall.Popular = (*Source)(nil)

// Popular implements [recall.Popular]. It scans every item of the spans; its only errors are
// those of ctx.
func (s *Source) Popular(ctx context.Context, spans []recall.Span, n int) ([][]recall.PopularItem, error) {
	views := s.current()
	lists := make([][]recall.PopularItem, len(spans))
	for i, span := range spans {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("popular items from memory: %w", err)
		}
		lists[i] = popular(views, span, n)
	}
	return lists, nil
}

// popular returns the list of one span.
func popular(views []view, span recall.Span, n int) []recall.PopularItem {
	var best mostPopular
	for i := range views {
		v := &views[i]
		at := sort.Search(v.len(), func(i int) bool { return v.times[i] <= span.Until })
		for ; at < v.len() && v.times[at] > span.After; at++ {
			item := uint32(at)
			if v.popularity[item] > 0 && !v.isDead(item) {
				best.offer(v, item, n)
			}
		}
	}
	best.keep(n)
	return best.items
}

// mostPopular collects items and removes the least popular from time to time.
type mostPopular struct {
	items []recall.PopularItem
	least float64 // log10(1 + reactions) of the n-th item so far; items with less are rejected
}

func (b *mostPopular) offer(v *view, item uint32, n int) {
	if v.popularity[item] < b.least {
		return
	}
	// Popularity is an integer, so rounding restores it exactly.
	reactions := math.Round(math.Pow(10, v.popularity[item]) - 1)
	b.items = append(b.items, recall.PopularItem{
		ID: v.ids.at(item), Group: v.group(item), UpdateTime: v.times[item], Reactions: reactions,
	})
	if len(b.items) >= 2*n {
		b.keep(n)
	}
}

// keep sorts the items and truncates them to the n best.
func (b *mostPopular) keep(n int) {
	slices.SortFunc(b.items, func(x, y recall.PopularItem) int {
		return cmp.Or(cmp.Compare(y.Reactions, x.Reactions), cmp.Compare(y.UpdateTime, x.UpdateTime), strings.Compare(x.ID, y.ID))
	})
	if len(b.items) > n {
		b.items = b.items[:n]
	}
	if len(b.items) == n && n > 0 {
		b.least = math.Log10(1 + b.items[n-1].Reactions) // the same formula as in the index
	}
}
