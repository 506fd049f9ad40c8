package redisbloom

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
)

var (
	fillRatio = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "freshet_dedup_fill_ratio",
		Help: "Impressions in a day's filter relative to what it is sized for; the fullest shard counts.",
	}, []string{"day"})
	falsePositiveRate = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "freshet_dedup_false_positive_rate",
		Help: "Estimated chance that a day's filter takes an unseen impression for seen; the fullest shard counts.",
	}, []string{"day"})
)

const (
	// expansion is how much larger than the one before each layer is that
	// RedisBloom adds to a full filter.
	expansion = 2
	// infoEvery is the least time between two looks at one filter.
	infoEvery = 10 * time.Second
)

// fillGauges keeps what the two metrics are made of.
type fillGauges struct {
	daily  float64 // capacity of a day, for the log
	mu     sync.Mutex
	looked map[string]time.Time    // filter → last BF.INFO
	days   map[feed.Day]*fillOfDay // days the metrics show
}

type fillOfDay struct {
	fill, rate float64
	warned     bool
}

// observe looks at the filters just written, each at most every ten seconds of
// the caller's clock, in one pipeline. It runs on the recorder's goroutines,
// not on a request's; a failure costs a metric, nothing else.
func (s *Store) observe(ctx context.Context, parts []part, shards int, now time.Time) {
	due := s.fill.due(parts, now)
	if len(due) == 0 {
		return
	}
	pipe := s.client.Pipeline()
	infos := make([]*redis.BFInfoCmd, len(due))
	for i, key := range due {
		infos[i] = pipe.BFInfo(ctx, key)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		s.log.DebugContext(ctx, "the filters' fill could not be read", slog.Any("error", err))
	}
	capacity := float64(s.cfg.ShardCapacity(shards))
	for _, info := range infos {
		if info.Err() != nil {
			continue
		}
		v := info.Val()
		fill := float64(v.ItemsInserted) / capacity
		rate := estimate(float64(v.ItemsInserted), capacity, s.rate, int(v.Filters))
		if s.fill.add(feed.DayOf(now), s.cfg.WindowDays, fill, rate) {
			s.log.WarnContext(ctx, "a day's impressions have outgrown dedup.daily_capacity; checks get slower and more unseen items are taken for seen",
				slog.String("day", feed.DayOf(now).String()), slog.Float64("fill", fill), slog.Float64("daily_capacity", s.fill.daily))
		}
	}
}

// due picks the filters that have not been looked at lately.
func (f *fillGauges) due(parts []part, now time.Time) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.looked == nil {
		f.looked = make(map[string]time.Time)
	}
	var keys []string
	for _, p := range parts {
		last, ok := f.looked[p.key]
		if !ok || now.Sub(last) >= infoEvery || now.Before(last) {
			f.looked[p.key] = now
			keys = append(keys, p.key)
		}
	}
	return keys
}

// add takes in one filter's numbers, drops the days that left the window, and
// reports whether the day has passed its capacity for the first time.
func (f *fillGauges) add(day feed.Day, window int, fill, rate float64) (warn bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.days == nil {
		f.days = make(map[feed.Day]*fillOfDay)
	}
	d := f.days[day]
	if d == nil {
		d = new(fillOfDay)
		f.days[day] = d
		f.forget(day, window)
	}
	d.fill, d.rate = max(d.fill, fill), max(d.rate, rate)
	fillRatio.WithLabelValues(day.String()).Set(d.fill)
	falsePositiveRate.WithLabelValues(day.String()).Set(d.rate)
	warn = d.fill > 1 && !d.warned
	d.warned = d.warned || warn
	return warn
}

// forget drops what a new day makes useless: the days that left the window and
// the times of looking at the filters of other days.
func (f *fillGauges) forget(today feed.Day, window int) {
	for day := range f.days {
		if day <= today-feed.Day(window) {
			delete(f.days, day)
			fillRatio.DeleteLabelValues(day.String())
			falsePositiveRate.DeleteLabelValues(day.String())
		}
	}
	for key, at := range f.looked {
		if feed.DayOf(at) != today {
			delete(f.looked, key)
		}
	}
}

// estimate is the false-positive rate of a filter that holds n impressions in
// layers, the first of the given capacity. RedisBloom gives layer i twice the
// size of the one before and half its error, beginning with e₀ = rate/2. A
// Bloom filter of error e and capacity c has k = log2(1/e) hashes and, with n
// members, 1 − 2^(−n/c) of its bits set, so it errs with (1 − 2^(−n/c))^k.
func estimate(n, capacity, rate float64, layers int) float64 {
	unseen, e := 1.0, rate/2
	for i := 0; i < max(layers, 1); i++ {
		held := min(n, capacity)
		if i == layers-1 || layers < 1 {
			held = n
		}
		k := math.Ceil(math.Log2(1 / e))
		unseen *= 1 - math.Pow(1-math.Exp2(-held/capacity), k)
		n, capacity, e = n-held, capacity*expansion, e/2
	}
	return 1 - unseen
}
