package overview

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed/api"
)

// The keys of a sample's troubles: a part that answers lacked, a dependency of which calls failed, and
// calls that failed.
const (
	lackedPart = "part "
	failedCall = "down "
	errorsKey  = "errors"
)

// mostIncidents is how many incidents are returned.
const mostIncidents = 100

// troubles returns what was wrong in a minute of an hour.
func (s Sample) troubles(minute int64) map[string]uint64 {
	found := map[string]uint64{}
	for part, n := range s.lacked {
		if n > 0 {
			found[lackedPart+part] = 1 << minute
		}
	}
	for dependency, n := range s.failed {
		if n > 0 {
			found[failedCall+dependency] = 1 << minute
		}
	}
	for _, dependency := range s.Server.Down {
		found[failedCall+dependency] = 1 << minute
	}
	if s.Errors > 0 {
		found[errorsKey] = 1 << minute
	}
	return found
}

// addTroubles adds minutes. The map of a sample that a store may hold stays as it is.
func (s *Sample) addTroubles(more map[string]uint64) {
	if len(more) == 0 {
		return
	}
	all := maps.Clone(s.Troubles)
	if all == nil {
		all = map[string]uint64{}
	}
	for key, minutes := range more {
		all[key] |= minutes
	}
	s.Troubles = all
}

// minus returns what was counted since an earlier reading of the same counters.
func minus(now, before map[string]float64) map[string]float64 {
	since := make(map[string]float64, len(now))
	for key, n := range now {
		since[key] = max(0, n-before[key])
	}
	return since
}

// incidents lists the times in which answers lacked a part or calls failed, the newest first: minutes that
// follow one another, with everything that was wrong in them.
func incidents(samples map[Slot][]Sample, now time.Time) []api.OverviewIncident {
	all := []api.OverviewIncident{}
	for _, slot := range kept(now) { // of hours the newest first
		of := samples[slot]
		if slot.Span != Hour || len(of) == 0 {
			continue
		}
		var hour Sample
		for _, s := range of {
			hour.addTroubles(s.Troubles)
		}
		for minute := int64(59); minute >= 0; minute-- {
			found, ok := incidentOf(hour.Troubles, minute)
			found.Begin = time.Unix(slot.Begin+minute*int64(Minute), 0).UTC()
			last := len(all) - 1
			switch {
			case !ok:
			case last >= 0 && all[last].Begin.Sub(found.Begin) == time.Minute:
				all[last] = joined(found, all[last])
			case last+1 == mostIncidents:
				return all
			default:
				all = append(all, found)
			}
		}
	}
	return all
}

// incidentOf returns what was wrong in a minute. It is false if no reader has noticed it.
func incidentOf(troubles map[string]uint64, minute int64) (found api.OverviewIncident, ok bool) {
	found = api.OverviewIncident{Minutes: 1, Lacked: []string{}, Down: []string{}}
	for _, key := range slices.Sorted(maps.Keys(troubles)) {
		if troubles[key]&(1<<minute) == 0 {
			continue
		}
		if part, ok := strings.CutPrefix(key, lackedPart); ok {
			found.Lacked = append(found.Lacked, part)
		} else if dependency, ok := strings.CutPrefix(key, failedCall); ok {
			found.Down = append(found.Down, dependency)
		} else {
			found.Failed = true
		}
	}
	return found, found.Failed || len(found.Lacked) > 0
}

// joined returns one incident for two that follow one another.
func joined(earlier, later api.OverviewIncident) api.OverviewIncident {
	union := func(a, b []string) []string { return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b)))) }
	earlier.Minutes += later.Minutes
	earlier.Failed = earlier.Failed || later.Failed
	earlier.Lacked, earlier.Down = append([]string{}, union(earlier.Lacked, later.Lacked)...), append([]string{}, union(earlier.Down, later.Down)...)
	return earlier
}
