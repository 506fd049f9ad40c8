package engine

import (
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall/trending"
)

// newestFirst is a ranking by age alone: of equal scores the newer comes first.
var newestFirst = func() feed.Ranking {
	r := feed.DefaultRanking()
	r.PopularityWeight, r.Popularity2h, r.Popularity2d = 0, 0, 0
	return r
}()

// guestOrder is a set in its order of pages, which takes milliseconds: the lists are kept
// for as long as the set and the diversity are the same.
type guestOrder struct {
	set *trending.Set
	by  feed.Diversity
	of  map[int][]guestRef // by limit: the length of a page
}

// order is the order of the set in pages of limit. It is shared.
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

// orderGuests orders what trends, and behind it the newest.
func orderGuests(set *trending.Set, newest []feed.Candidate, by feed.Diversity, limit int) []guestRef {
	at := time.Unix(set.At, 0)
	candidates := make([]feed.Candidate, len(set.Entries), len(set.Entries)+len(newest))
	trends := make(map[string]feed.Trend, len(set.Entries))
	least, groups := float32(1), make(map[string]bool, len(set.Entries))
	for i := range set.Entries {
		e := &set.Entries[i]
		candidates[i], trends[e.ID] = e.Candidate(), e.Trend
		candidates[i].Score = float32(e.Trend.Guest(e.Age(at)))
		least, groups[e.Group] = min(least, candidates[i].Score), true
	}
	for _, c := range newest { // their scores are below those of what trends, by whatever factors
		if c.Score *= least * belowTrends; !groups[c.Group] {
			candidates, groups[c.Group] = append(candidates, c), true
		}
	}
	slices.SortFunc(candidates, func(a, b feed.Candidate) int { return compareScores(&a, &b) })
	var b pageBuilder
	ranked := b.build(candidates, by, limit, len(candidates))
	list := make([]guestRef, len(ranked))
	for i, ref := range ranked {
		trend, trending := trends[ref.ID]
		if ref.Source = feed.SourceDiscovery; trending {
			ref.Source = feed.SourceTrending
		}
		list[i] = guestRef{ref, trend}
	}
	return list
}

// placeable are those of what is promoted that come to a position behind others, and these.
func placeable(list, promoted []guestRef) (others, placed []guestRef) {
	for ; ; promoted = promoted[:len(promoted)-1] {
		others = without(list, promoted)
		n := len(promoted)
		if before := n*(promotedOf-1) + promotedAt - promotedOf; n == 0 || len(others) >= before {
			return others, promoted
		}
	}
}

// without are the refs whose group is not among others.
func without(refs, others []guestRef) []guestRef {
	if len(others) == 0 {
		return refs
	}
	return slices.DeleteFunc(slices.Clone(refs), func(r guestRef) bool {
		return slices.ContainsFunc(others, func(o guestRef) bool { return o.Group == r.Group })
	})
}

// guestRef is an item that is to be read.
type guestRef struct {
	feed.Ref
	trend feed.Trend
}

// placePromoted puts what is promoted on its positions. It fills no other.
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
