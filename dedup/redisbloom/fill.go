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

// infoEvery is the minimum time between two inspections of the filters.
const infoEvery = 10 * time.Second

var vanishedTotal = promauto.NewCounter(prometheus.CounterOpts{
	Name: "freshet_dedup_filters_vanished_total",
	Help: "Filters of the window that have disappeared: evicted, deleted, or lost with the server's data.",
})

// filterStates stores the filters of the window that this process has seen, with the data for their
// metrics. It reports a filter that has vanished, because to a check it looks like a filter without
// impressions.
type filterStates struct {
	mu     sync.Mutex
	looked time.Time
	known  map[string]*filterState // existing filters by key
	warned feed.Day                // the last day that exceeded its capacity
}

type filterState struct {
	day feed.Day
	dedup.FilterState
}

// observe reads the state of the window's filters in one pipeline, at most every ten seconds of the
// caller's clock. It runs on the recorder's goroutines, not on a request's; a failure only delays
// it.
func (s *Store) observe(ctx context.Context, now time.Time) {
	if !s.fill.due(now) {
		return
	}
	window := feed.Window(now, s.cfg.WindowDays)
	pipe := s.client.Pipeline()
	days, infos := map[string]feed.Day{}, map[string]*redis.BFInfoCmd{}
	for _, day := range window { // only those with a known number of shards
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
			s.fill.noteFilter(key, days[key], &state)
		case strings.Contains(err.Error(), "not found"):
			s.noteVanished(ctx, key)
		}
	}
	states := s.fill.window(window)
	dedup.PublishFilters(states, s.cfg.FalsePositiveRate)
	today := window[0]
	if s.fill.outgrown(today, states[0].Fill) {
		s.log.WarnContext(ctx, "today's impressions exceed dedup.daily_capacity; checks get slower and more unseen items count as seen. Raise it; the change takes effect tomorrow",
			slog.String("day", today.String()), slog.Float64("fill", states[0].Fill), slog.Int("daily_capacity", s.cfg.DailyCapacity))
	}
}

// state converts a filter's BF.INFO. The capacity there is the sum over all layers, each twice the
// size of the previous one; the first layer has the capacity that the filter was sized for.
func (s *Store) state(v redis.BFInfo) dedup.FilterState {
	capacity := float64(v.Capacity) / (math.Exp2(float64(max(v.Filters, 1))) - 1)
	first := dedup.SizeFilter(max(int(capacity), 1), s.rate/2) // as [dedup.Config.RedisFilter]
	return dedup.FilterState{
		Fill:           float64(v.ItemsInserted) / capacity,
		FalsePositives: first.FalsePositives(float64(v.ItemsInserted)),
		Bytes:          float64(v.Size),
	}
}

// due reports whether the filters are due for inspection, and if so records the time.
func (f *filterStates) due(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	age := now.Sub(f.looked)
	if age >= 0 && age < infoEvery {
		return false
	}
	f.looked = now
	return true
}

// noteFilter records that a filter exists, and its state unless that is nil.
func (f *filterStates) noteFilter(key string, day feed.Day, is *dedup.FilterState) {
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

func (s *Store) noteVanished(ctx context.Context, key string) {
	s.fill.mu.Lock()
	_, before := s.fill.known[key]
	delete(s.fill.known, key)
	s.fill.mu.Unlock()
	if before {
		vanishedTotal.Inc()
		s.log.WarnContext(ctx, "a dedup filter has disappeared; items shown on that day may be shown again; "+
			"keep Redis from evicting keys (maxmemory-policy noeviction) and from losing its data", "filter", key)
	}
}

// window sums the filters by day, in the order of the days, and drops those that have left the
// window.
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

// outgrown reports whether the day has exceeded its capacity; it returns true once a day.
func (f *filterStates) outgrown(day feed.Day, fill float64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fill <= 1 || f.warned == day {
		return false
	}
	f.warned = day
	return true
}
