package overview

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed/api"
)

// runsFor is how long after its last sample a server counts as running.
const runsFor = 3 * time.Minute

// Overview returns the points of all servers. Its first points are the first that any server has
// counted.
func (k *Keeper) Overview(ctx context.Context) (api.Overview, error) {
	now := k.clock()
	samples, err := k.store.Read(ctx, now)
	if err != nil {
		return api.Overview{}, err
	}
	return api.Overview{
		At: now.UTC(), Minutes: points(samples, Minute, now), Hours: points(samples, Hour, now), Servers: servers(samples, now),
		Incidents: incidents(samples, now), Days: []api.OverviewDay{},
	}, nil
}

// points returns the points of a length, with empty ones between the first that was counted and now.
func points(samples map[Slot][]Sample, span Span, now time.Time) []api.OverviewPoint {
	all := []api.OverviewPoint{}
	last := slotOf(span, now.Unix()).Begin
	for begin := last - (span.Kept()-1)*int64(span); begin <= last; begin += int64(span) {
		of := samples[Slot{span, begin}]
		began := len(all) > 0
		if len(of) > 0 || began && begin < last {
			all = append(all, point(of, Slot{span, begin}))
		}
	}
	return all
}

// point adds up the samples of servers.
func point(of []Sample, slot Slot) api.OverviewPoint {
	var sum Sample
	for _, s := range of {
		sum.add(s)
	}
	seconds := float64(slot.Span)
	if len(of) > 0 {
		seconds = float64(max(1, sum.To-sum.From))
	}
	p := api.OverviewPoint{Begin: time.Unix(slot.Begin, 0).UTC(), Seconds: seconds, Servers: len(of)}
	for _, s := range of {
		p.QueueDelay = max(p.QueueDelay, s.Delay/max(1, s.Looks)) // all servers see the same queue
		p.Streams += s.Streams / max(1, s.Looks, seconds/float64(Minute))
	}
	p.Refreshes, p.LoadMores = sum.Refreshes/seconds, sum.LoadMores/seconds
	p.P50, p.P99 = quantile(0.5, sum.Took, Bounds), quantile(0.99, sum.Took, Bounds)
	p.FilterFill = sum.Fill
	calls := sum.Refreshes + sum.LoadMores
	p.Errors, p.Degraded, p.Short = share(sum.Errors, calls), share(sum.Degraded, calls), share(sum.Short, calls)
	p.Shown, p.Clicks, p.ClickRate = int64(sum.Shown), int64(sum.Clicks), share(sum.Clicks, sum.Shown)
	return p
}

// share returns a part of a whole; nil if that is 0.
func share(part, whole float64) *float64 {
	if whole == 0 {
		return nil
	}
	s := part / whole
	return &s
}

// servers lists the servers that run, by name.
func servers(samples map[Slot][]Sample, now time.Time) []api.OverviewServer {
	newest := map[string]Sample{}
	for slot, of := range samples {
		for _, s := range of {
			runs := slot.Span == Minute && now.Sub(time.Unix(s.To, 0)) <= runsFor
			if runs && newest[s.Server.Name].To < s.To {
				newest[s.Server.Name] = s
			}
		}
	}
	all := make([]api.OverviewServer, 0, len(newest))
	for _, s := range newest {
		all = append(all, api.OverviewServer{
			Name: s.Server.Name, Version: s.Server.Version, Started: time.Unix(s.Server.Started, 0).UTC(), Counted: time.Unix(s.To, 0).UTC(),
			Down: append([]string{}, s.Server.Down...),
		})
	}
	slices.SortFunc(all, func(a, b api.OverviewServer) int { return strings.Compare(a.Name, b.Name) })
	return all
}
