package redisbloom

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
)

var vanishedTotal = promauto.NewCounter(prometheus.CounterOpts{
	Name: "freshet_dedup_filters_vanished_total",
	Help: "Filters of the window that were there and are gone: evicted, deleted, or lost with the server's data.",
})

// present remembers which filters of the window this process has seen, to report
// one that is gone: to a check it looks like a filter without impressions.
type present struct {
	mu     sync.Mutex
	day    map[string]feed.Day // filter → its day
	looked time.Time
}

// due lists every filter of the window, at most every ten seconds of the
// caller's clock, and forgets those that have left it.
func (s *Store) filtersDue(now time.Time) map[string]feed.Day {
	p := &s.present
	p.mu.Lock()
	defer p.mu.Unlock()
	if age := now.Sub(p.looked); age >= 0 && age < infoEvery {
		return nil
	}
	p.looked = now
	window := feed.Window(now, s.cfg.WindowDays)
	for key, day := range p.day {
		if day < window[len(window)-1] {
			delete(p.day, key)
		}
	}
	all := make(map[string]feed.Day)
	s.addFilters(all, window, now)
	return all
}

// look notes which filters of the window are there, and reports those that
// are gone. It runs on the recorder's goroutines; a failure only delays it.
func (s *Store) lookForVanished(ctx context.Context, now time.Time) {
	due := s.filtersDue(now)
	if len(due) == 0 {
		return
	}
	pipe := s.client.Pipeline()
	replies := make(map[string]*redis.IntCmd, len(due))
	for key := range due {
		replies[key] = pipe.Exists(ctx, key)
	}
	if _, err := pipe.Exec(ctx); err != nil && !isReply(err) {
		return
	}
	for key, reply := range replies {
		if n, err := reply.Result(); err == nil {
			s.note(ctx, key, due[key], n == 1)
		}
	}
}

// note updates whether a filter is there.
func (s *Store) note(ctx context.Context, key string, day feed.Day, there bool) {
	p := &s.present
	p.mu.Lock()
	_, before := p.day[key]
	switch {
	case there && !before:
		if p.day == nil {
			p.day = make(map[string]feed.Day)
		}
		p.day[key] = day
	case !there:
		delete(p.day, key)
	}
	p.mu.Unlock()
	if before && !there {
		vanishedTotal.Inc()
		s.log.WarnContext(ctx, "a filter has vanished: what readers were shown that day may be shown again; "+
			"keep Redis from evicting keys (maxmemory-policy noeviction) and from losing its data", "filter", key)
	}
}
