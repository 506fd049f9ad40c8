package redisbloom

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// infoEvery is the least time between two looks at the filters.
const infoEvery = 10 * time.Second

var vanishedTotal = promauto.NewCounter(prometheus.CounterOpts{
	Name: "freshet_dedup_filters_vanished_total",
	Help: "Filters of the window that were there and are gone: evicted, deleted, or lost with the server's data.",
})

// filterStates keeps which filters of the window this process has seen, to report one that
// is gone, because to a check it looks like a filter without impressions; and what their
// metrics are made of.
type filterStates struct {
	mu     sync.Mutex
	looked time.Time
	known  map[string]*filterState // by key, those that are there
	warned feed.Day                // the last day that has outgrown its capacity
}

type filterState struct {
	day feed.Day
	dedup.FilterState
}

// observe looks at the filters of the window in one pipeline, at most every ten seconds of
// the caller's clock. It runs on the recorder's goroutines, not on a request's; a failure
// only delays it.
func (s *Store) observe(ctx context.Context, now time.Time) {
	if !s.fill.due(now) {
		return
	}
	window := feed.Window(now, s.cfg.WindowDays)
	pipe := s.client.Pipeline()
	days, infos := map[string]feed.Day{}, map[string]*redis.BFInfoCmd{}
	for _, day := range window { // of those whose number of shards is known
		shards, _ := s.shards.get(day, now)
		for shard := range shards {
			key := s.keys.Filter(day, shard, shards)
			days[key], infos[key] = day, pipe.BFInfo(ctx, key)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		s.log.DebugContext(ctx, "the filters' fill could not be read", slog.Any("error", err))
		return
	}
	for key, info := range infos {
		switch v, err := info.Result(); {
		case err == nil:
			state := s.state(v)
			s.fill.there(key, days[key], &state)
		case strings.Contains(err.Error(), "not found"):
			s.gone(ctx, key)
		}
	}
	states := s.fill.window(window)
	dedup.PublishFilters(states, s.cfg.FalsePositiveRate)
	if today := window[0]; s.fill.outgrown(today, states[0].Fill) {
		s.log.WarnContext(ctx, "a day's impressions have outgrown dedup.daily_capacity; checks get slower and more unseen items are taken for seen. Raise it; it takes effect tomorrow",
			slog.String("day", today.String()), slog.Float64("fill", states[0].Fill), slog.Int("daily_capacity", s.cfg.DailyCapacity))
	}
}

// state reads a filter's BF.INFO. The capacity there is that of all layers,
// each of them twice the one before; the first is the capacity that the filter was sized for.
func (s *Store) state(v redis.BFInfo) dedup.FilterState {
	capacity := float64(v.Capacity) / (math.Exp2(float64(max(v.Filters, 1))) - 1)
	first := dedup.SizeFilter(max(int(capacity), 1), s.rate/2) // as [dedup.Config.RedisFilter]
	return dedup.FilterState{
		Fill:           float64(v.ItemsInserted) / capacity,
		FalsePositives: first.FalsePositives(float64(v.ItemsInserted)),
		Bytes:          float64(v.Size),
	}
}

// due reports whether the filters have to be looked at, and notes that they are.
func (f *filterStates) due(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if age := now.Sub(f.looked); age >= 0 && age < infoEvery {
		return false
	}
	f.looked = now
	return true
}

// there notes that a filter is there, and its state, where that was looked at.
func (f *filterStates) there(key string, day feed.Day, is *dedup.FilterState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = make(map[string]*filterState)
	}
	known := f.known[key]
	if known == nil {
		known = &filterState{day: day}
		f.known[key] = known
	}
	if is != nil {
		known.FilterState = *is
	}
}

func (s *Store) gone(ctx context.Context, key string) {
	s.fill.mu.Lock()
	_, before := s.fill.known[key]
	delete(s.fill.known, key)
	s.fill.mu.Unlock()
	if before {
		vanishedTotal.Inc()
		s.log.WarnContext(ctx, "a filter has vanished: what readers were shown that day may be shown again; "+
			"keep Redis from evicting keys (maxmemory-policy noeviction) and from losing its data", "filter", key)
	}
}

// window sums the filters up by day, in the order of the days, and forgets
// those that have left the window.
func (f *filterStates) window(days []feed.Day) []dedup.FilterState {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]dedup.FilterState, len(days))
	for key, state := range f.known {
		ago := int(days[0] - state.day)
		switch {
		case ago >= len(days):
			delete(f.known, key)
		case ago >= 0:
			out[ago].Add(state.FilterState)
		}
	}
	return out
}

// outgrown reports that the day has passed its capacity, once a day.
func (f *filterStates) outgrown(day feed.Day, fill float64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fill <= 1 || f.warned == day {
		return false
	}
	f.warned = day
	return true
}
