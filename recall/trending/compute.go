package trending

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/recall"
)

const (
	// widen is the factor by which each age bucket is longer than the one before. Within a
	// bucket, trends of equal reactions differ by no more than its square.
	widen = 1.2
	// halvings is the maximum number of times that buckets are halved. The widest bucket has
	// 98,907 seconds, so after seventeen halvings each has one second.
	halvings = 20
	// docsAtOnce is the number of items read from the catalog in one call.
	docsAtOnce = 100
)

// Compute returns the n items with the highest trend as of at, one per group; ties go to the
// newer item, then to the one with the lower id.
//
// It queries the n items with the most reactions for each bucket of ages. The other items of a
// bucket have no more reactions than the last one listed, so their trend is at most that of as
// many reactions at the bucket's youngest age. Where this bound reaches the lowest trend of the
// set, the bucket is halved and queried again, down to one second, so the set equals that of
// scoring every item. It can be incomplete only if more than n items of one second qualify and
// some of them share a group.
//
// Errors are those of popular and of items.
func Compute(ctx context.Context, popular recall.Popular, items catalog.Reader, at time.Time, n int) (*Set, error) {
	found, err := best(ctx, popular, at.Unix(), n)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(found))
	for part := range slices.Chunk(found, docsAtOnce) {
		ids := convert.Each(part, func(s scored) string { return s.ID })
		docs, err := items.Docs(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("read the trending items: %w", err)
		}
		for i, doc := range docs {
			if doc.Missing() {
				continue // deleted in the meantime
			}
			it, err := doc.Item()
			if err != nil {
				continue // a foreign document that is not an item
			}
			entries = append(entries, entry(&part[i], &it))
		}
	}
	return NewSet(at.Unix(), entries), nil
}

func entry(s *scored, it *feed.Item) Entry {
	traits := it.Traits()
	return Entry{
		ID: s.ID, Group: s.Group, UpdateTime: s.UpdateTime, Reactions: s.Reactions, Trend: s.trend,
		Author: it.AuthorID, Lang: it.Lang, Site: traits.Site, Tags: it.Tags, Story: []byte(traits.Story),
	}
}

// scored is an item with its trend.
type scored struct {
	recall.PopularItem
	trend feed.Trend
}

func compare(a, b scored) int {
	return cmp.Or(cmp.Compare(b.trend, a.trend), cmp.Compare(b.UpdateTime, a.UpdateTime), strings.Compare(a.ID, b.ID))
}

// bucket is a part of the week with its items of the most reactions.
type bucket struct {
	recall.Span
	items []recall.PopularItem
}

// maxTrend returns an upper bound for the trend of items that the bucket does not list.
func (b *bucket) maxTrend(now int64, n int) feed.Trend {
	if len(b.items) < n {
		return 0
	}
	return trend(now, b.Until, b.items[len(b.items)-1].Reactions)
}

func trend(now, at int64, reactions float64) feed.Trend {
	return feed.TrendOf(reactions, time.Duration(now-at)*time.Second)
}

// buckets returns buckets that cover [feed.TrendWindow], the youngest first.
func buckets(now int64) []bucket {
	var all []bucket
	end := now - int64(feed.TrendWindow/time.Second)
	until := now
	for hours := widen; until > end; hours *= widen {
		after := max(end, now-int64(math.Ceil((hours-1)*3600)))
		all = append(all, bucket{Span: recall.Span{After: after, Until: until}})
		until = after
	}
	return all
}

// best returns the n items with the highest trend.
func best(ctx context.Context, popular recall.Popular, now int64, n int) ([]scored, error) {
	asking := buckets(now)
	var done []bucket
	for halved := 0; ; halved++ {
		if err := ask(ctx, popular, asking, n); err != nil {
			return nil, err
		}
		done = append(done, asking...)
		found := highest(done, now, n)
		least := feed.Trend(0)
		if len(found) == n {
			least = found[n-1].trend
		}
		asking = nil
		if halved < halvings {
			done, asking = split(done, now, n, least)
		}
		if len(asking) == 0 {
			return found, nil
		}
	}
}

// ask queries the items of the buckets.
func ask(ctx context.Context, popular recall.Popular, of []bucket, n int) error {
	spans := convert.Each(of, func(b bucket) recall.Span { return b.Span })
	lists, err := popular.Popular(ctx, spans, n)
	if err != nil {
		return fmt.Errorf("popular items: %w", err)
	}
	for i := range of {
		of[i].items = lists[i]
	}
	return nil
}

// split halves the buckets that may hide an item with at least the lowest trend.
func split(from []bucket, now int64, n int, least feed.Trend) (enough, halves []bucket) {
	for _, b := range from {
		middle := b.After + (b.Until-b.After)/2
		if b.maxTrend(now, n) >= least && len(b.items) >= n && middle > b.After {
			halves = append(halves, bucket{Span: recall.Span{After: middle, Until: b.Until}}, bucket{Span: recall.Span{After: b.After, Until: middle}})
			continue
		}
		enough = append(enough, b)
	}
	return enough, halves
}

// highest returns the n items of the buckets with the highest trend, one per group.
func highest(of []bucket, now int64, n int) []scored {
	var all []scored
	for _, b := range of {
		for _, it := range b.items {
			all = append(all, scored{PopularItem: it, trend: trend(now, it.UpdateTime, it.Reactions)})
		}
	}
	slices.SortFunc(all, compare)
	groups := make(map[string]bool, n)
	top := all[:0]
	for _, s := range all {
		if len(top) == n {
			break
		}
		if !groups[s.Group] {
			groups[s.Group] = true
			top = append(top, s)
		}
	}
	return top
}
