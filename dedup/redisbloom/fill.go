package redisbloom

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

const (
	// expansion is how much larger than the one before each layer is that
	// RedisBloom adds to a full filter.
	expansion = 2
	// infoEvery is the least time between two looks at one filter.
	infoEvery = 10 * time.Second
)

// filterStates keeps what the metrics of the filters are made of.
type filterStates struct {
	mu     sync.Mutex
	known  map[string]*filterState // by key
	warned feed.Day                // the last day that has outgrown its capacity
}

type filterState struct {
	day    feed.Day
	looked time.Time // last BF.INFO
	dedup.FilterState
}

// observe looks at the filters just written, each at most every ten seconds of
// the caller's clock, and once at those of the past days, in one pipeline. It
// runs on the recorder's goroutines, not on a request's; a failure costs a
// metric, nothing else.
func (s *Store) observe(ctx context.Context, parts []part, now time.Time) {
	due := s.fill.due(s.observed(parts, now), now)
	if len(due) == 0 {
		return
	}
	pipe := s.client.Pipeline()
	infos := make(map[string]*redis.BFInfoCmd, len(due))
	for key := range due {
		infos[key] = pipe.BFInfo(ctx, key)
	}
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		s.log.DebugContext(ctx, "the filters' fill could not be read", slog.Any("error", err))
	}
	for key, info := range infos {
		if v, err := info.Result(); err == nil {
			s.fill.set(key, due[key], s.state(v))
		}
	}
	window := s.fill.window(feed.Window(now, s.cfg.WindowDays))
	dedup.PublishFilters(window, s.cfg.FalsePositiveRate)
	if today := feed.DayOf(now); s.fill.outgrown(today, window[0].Fill) {
		s.log.WarnContext(ctx, "a day's impressions have outgrown dedup.daily_capacity; checks get slower and more unseen items are taken for seen. Raise it; it takes effect tomorrow",
			slog.String("day", today.String()), slog.Float64("fill", window[0].Fill), slog.Int("daily_capacity", s.cfg.DailyCapacity))
	}
}

// observed names the filters to look at: those just written and, because the
// past days are in the window too, all of theirs.
func (s *Store) observed(parts []part, now time.Time) map[string]feed.Day {
	window := feed.Window(now, s.cfg.WindowDays)
	keys := make(map[string]feed.Day, len(parts))
	for _, p := range parts {
		keys[p.key] = window[0]
	}
	s.addFilters(keys, window[1:], now)
	return keys
}

// addFilters adds the filters of days whose number of shards is known.
func (s *Store) addFilters(keys map[string]feed.Day, days []feed.Day, now time.Time) {
	for _, day := range days {
		shards, _ := s.shards.get(day, now)
		for shard := range shards {
			keys[s.keys.Filter(day, shard, shards)] = day
		}
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

// due picks the filters that have to be looked at, and notes that they are. A
// filter of a past day never changes: it is looked at once on a later day.
func (f *filterStates) due(keys map[string]feed.Day, now time.Time) map[string]feed.Day {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = make(map[string]*filterState)
	}
	for key, day := range keys {
		state := f.known[key]
		if state == nil {
			state = &filterState{day: day}
			f.known[key] = state
		} else if age := now.Sub(state.looked); age >= 0 && age < infoEvery || day < feed.DayOf(state.looked) && state.Bytes > 0 {
			delete(keys, key)
			continue
		}
		state.looked = now
	}
	return keys
}

func (f *filterStates) set(key string, day feed.Day, state dedup.FilterState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.known[key]; known != nil && known.day == day {
		known.FilterState = state
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
