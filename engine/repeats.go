package engine

import (
	"slices"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// repeats collects items that the agent was shown within the window. They follow the unseen items
// when recall has no more of those. Items shown longest ago come first, ordered by day only,
// because a filter records no time of day; items of one day keep their rank order.
type repeats struct {
	limit int          // maximum number of refs of the list, and of each day; 0 means nothing is collected
	days  [][]feed.Ref // by the number of days since the item was last shown
}

// newRepeats returns a collector of as many refs as a first round recalls. It collects nothing while
// the stores recover, because pages are then checked for items already shown, and nothing for named
// feeds, which never repeat what they have shown themselves.
func (s *stages) newRepeats(name feed.Name) repeats {
	if !s.cfg.ShowAgain || name.Named() || s.failOpen.recovering() {
		return repeats{}
	}
	return repeats{limit: s.cfg.N}
}

// add collects a candidate that was seen; it ignores pending ones. source is its source in home,
// [feed.SourceScore] in for-you.
func (a *repeats) add(c *feed.Candidate, source feed.Source, v dedup.Verdict) {
	days, seen := v.DaysAgo()
	if !seen || a.limit == 0 {
		return
	}
	for len(a.days) <= days {
		a.days = append(a.days, nil)
	}
	if len(a.days[days]) < a.limit {
		a.days[days] = append(a.days[days], feed.Ref{ID: c.ID, Group: c.Group, Source: source, ShownBefore: true})
	}
}

// list returns the refs, shown longest ago first, and how many were shown before today.
func (a *repeats) list() (list []feed.Ref, earlier int) {
	for days := len(a.days) - 1; days >= 0; days-- {
		list = append(list, a.days[days][:min(len(a.days[days]), a.limit-len(list))]...)
		if days > 0 {
			earlier = len(list)
		}
	}
	return list, earlier
}

// placeRepeats places the repeated candidates after the survivors.
func (x *explaining) placeRepeats() {
	if len(x.found.repeats) == 0 {
		return
	}
	at := make(map[string]int, len(x.found.repeats))
	source := make(map[string]string, len(x.found.repeats))
	for i, ref := range x.found.repeats {
		at[ref.ID], source[ref.ID] = len(x.found.ranked)+i+1, ref.Source.String()
	}
	for _, c := range x.unlisted {
		if at[c.ID] > 0 && c.Source != promotedName {
			x.out.Candidates = append(x.out.Candidates, c)
			x.out.Unlisted--
			x.counts[api.OutcomeSeen]--
		}
	}
	slices.SortFunc(x.out.Candidates, listOrder)
	for i := range x.out.Candidates {
		c := &x.out.Candidates[i]
		place := at[c.ID]
		if place > 0 && c.Outcome == api.OutcomeSeen && c.Source != promotedName {
			c.Outcome, c.ShownBefore = "", true
			c.Variety = &api.Variety{Place: place, Page: (place-1)/x.r.Limit + 1, Factor: 1, Source: source[c.ID]}
		}
	}
}

// latest returns Pending if either verdict is, otherwise the verdict of the more recent day.
func latest(group, id dedup.Verdict) dedup.Verdict {
	if group == dedup.Unseen || id != dedup.Unseen && id < group {
		return id
	}
	return group
}
