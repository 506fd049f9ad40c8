package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/server/overview"
	"github.com/freshet/freshet/signals/events"
)

const (
	overviewDays = 7
	hour         = int64(time.Hour / time.Second)
	day          = 24 * hour
	// countedFor is how long the counts of items are kept: they may be millions.
	countedFor = time.Minute
)

// figures is the overview with what other stores count. They are asked only when somebody looks.
type figures struct {
	*overview.Keeper
	counts events.Store
	items  catalog.Census
	clock  feed.Clock
	log    *slog.Logger

	mu      sync.Mutex
	counted api.OverviewItems
	at      time.Time
}

// Overview implements [handler.Overview]. A store that does not answer leaves its figures out.
func (f *figures) Overview(ctx context.Context) (api.Overview, error) {
	found, err := f.Keeper.Overview(ctx)
	if err != nil {
		return found, err
	}
	var failed error
	found.Days, failed = f.days(ctx)
	if failed != nil {
		f.log.WarnContext(ctx, "the overview lacks readers", "error", failed)
		found.Days = []api.OverviewDay{}
	}
	found.Items, failed = f.ages(ctx)
	if failed != nil {
		f.log.WarnContext(ctx, "the overview lacks items", "error", failed)
	}
	return found, ctx.Err()
}

// days counts the readers of each day. A reader has one variant, so those of all variants add up; who
// changes it in a day counts twice.
func (f *figures) days(ctx context.Context) ([]api.OverviewDay, error) {
	today := feed.DayOf(f.clock())
	all := make([]api.OverviewDay, overviewDays)
	for i := range all {
		one := today - overviewDays + 1 + feed.Day(i)
		variants, err := f.counts.Read(ctx, one, one)
		if err != nil {
			return nil, err
		}
		all[i].Day = one.Start().Format(time.DateOnly)
		for _, v := range variants {
			all[i].Readers += v.Agents
		}
	}
	return all, nil
}

// ages counts the items, at most once a minute.
func (f *figures) ages(ctx context.Context) (*api.OverviewItems, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock()
	age := now.Sub(f.at)
	if age >= 0 && age < countedFor {
		return &f.counted, nil
	}
	last := now.Unix() - now.Unix()%hour // the hour that has not ended
	first := last - overviewDays*day + hour
	bounds := []int64{0, first - 23*day}
	for begin := first; begin <= last; begin += hour {
		bounds = append(bounds, begin)
	}
	counts, err := f.items.CountItems(ctx, append(bounds, now.Unix()+1))
	if err != nil {
		return nil, err
	}
	f.counted, f.at = itemsOf(bounds, counts), now
	return &f.counted, nil
}

// itemsOf makes ages and hours of the counts between bounds: the first two are ages alone.
func itemsOf(bounds, counts []int64) api.OverviewItems {
	var found api.OverviewItems
	hours := counts[2:]
	sum := func(part []int64) (n int64) {
		for _, c := range part {
			n += c
		}
		return n
	}
	n := len(hours)
	for _, age := range []struct {
		below int64
		items int64
	}{{hour, hours[n-1]}, {day, sum(hours[n-24 : n-1])}, {7 * day, sum(hours[:n-24])}, {30 * day, counts[1]}} {
		found.Ages = append(found.Ages, api.OverviewAge{Below: &age.below, Items: age.items})
	}
	found.Ages = append(found.Ages, api.OverviewAge{Items: counts[0]})
	for i, c := range hours {
		found.Hours = append(found.Hours, api.OverviewAdded{Begin: time.Unix(bounds[2+i], 0).UTC(), Items: c})
	}
	return found
}
