package engine

import (
	"slices"
	"time"

	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall/trending"
)

// newestFirst is a ranking by age alone: among equal scores the newer item comes first.
var newestFirst = func() feed.Ranking {
	r := feed.DefaultRanking()
	r.PopularityWeight = 0
	return r.WithoutLive()
}()

// guestOrder caches the order of a set on pages, which takes milliseconds to compute, until the
// set or the diversity changes.
type guestOrder struct {
	set *trending.Set
	by  feed.Diversity
	of  map[int][]guestRef // by limit, the length of a page
}

// order returns the set in its order on pages of limit items. The list is shared.
func (g *Guest) order(set *trending.Set, limit int) []guestRef {
	by := g.diversity()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ordered.set != set || g.ordered.by != by {
		g.ordered = guestOrder{set, by, map[int][]guestRef{}}
	}
	list, ok := g.ordered.of[limit]
	if !ok {
		list = orderGuests(set, nil, by, limit)
		g.ordered.of[limit] = list
	}
	return list
}

// orderGuests orders the trending items, followed by the newest.
func orderGuests(set *trending.Set, newest []feed.Candidate, by feed.Diversity, limit int) []guestRef {
	at := time.Unix(set.At, 0)
	candidates := make([]feed.Candidate, len(set.Entries), len(set.Entries)+len(newest))
	trends, authors := make(map[string]feed.Trend, len(set.Entries)), make(map[string]string, cap(candidates))
	least, groups := float32(1), make(map[string]bool, len(set.Entries))
	for i := range set.Entries {
		e := &set.Entries[i]
		candidates[i], trends[e.ID] = e.Candidate(), e.Trend
		candidates[i].Score = float32(e.Trend.Guest(e.Age(at)))
		least, groups[e.Group] = min(least, candidates[i].Score), true
	}
	for _, c := range newest { // whatever their factors, they score below trending items
		c.Score *= least * belowTrends
		if !groups[c.Group] {
			candidates, groups[c.Group] = append(candidates, c), true
		}
	}
	for i := range candidates {
		authors[candidates[i].ID] = candidates[i].Author
	}
	slices.SortFunc(candidates, func(a, b feed.Candidate) int { return arrange.CompareScores(&a, &b) })
	var b arrange.Builder
	ranked := b.Build(candidates, by, limit, len(candidates))
	list := make([]guestRef, len(ranked))
	for i, ref := range ranked {
		trend, trending := trends[ref.ID]
		ref.Source = feed.SourceDiscovery
		if trending {
			ref.Source = feed.SourceTrending
		}
		list[i] = guestRef{ref, trend, authors[ref.ID]}
	}
	return list
}

// placeable returns the promoted refs that have enough others before their positions, and those
// others.
func placeable(list, promoted []guestRef) (others, placed []guestRef) {
	for ; ; promoted = promoted[:len(promoted)-1] {
		others = without(list, promoted)
		n := len(promoted)
		before := n*(promotedOf-1) + promotedAt - promotedOf
		if n == 0 || len(others) >= before {
			return others, promoted
		}
	}
}

// without returns the refs whose group is not among those of others.
func without(refs, others []guestRef) []guestRef {
	if len(others) == 0 {
		return refs
	}
	return slices.DeleteFunc(slices.Clone(refs), func(r guestRef) bool {
		return slices.ContainsFunc(others, func(o guestRef) bool { return o.Group == r.Group })
	})
}

// guestRef is an item to read.
type guestRef struct {
	feed.Ref
	trend  feed.Trend
	author string
}

// placePromoted puts promoted items on their positions, and on no others.
func placePromoted(items []GuestItem, limit int) []GuestItem {
	page := make([]GuestItem, 0, limit)
	for len(page) < limit {
		promoted := (len(page)+1)%promotedOf == promotedAt
		next := slices.IndexFunc(items, func(it GuestItem) bool { return promoted == (it.Source == feed.SourcePromoted) })
		if next < 0 {
			next = slices.IndexFunc(items, func(it GuestItem) bool { return it.Source != feed.SourcePromoted })
		}
		if next < 0 {
			break
		}
		page = append(page, items[next])
		items = slices.Delete(items, next, next+1)
	}
	return page
}
