package mirror

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/feed"
)

// slot is the place of one copy.
type slot struct {
	day   feed.Day
	place *atomic.Pointer[copied]
	key   string
	of    int // shards of its day
}

// round brings the copies to what they should be at now: those of days that
// left the window go, those that Redis holds another content of are marked or
// made again, and as many as fit are made, newest days first.
func (m *Mirror) round(ctx context.Context, now time.Time) error {
	if m.off.Load() {
		return nil
	}
	defer m.show()
	slots, err := m.arrange(ctx, now)
	if err != nil {
		return err
	}
	looks, err := m.lookAll(ctx, slots)
	if err != nil {
		return err
	}
	var missing []int
	var used int64
	for i, sl := range slots {
		if bytes, keep := m.review(sl, looks[i]); !keep || used+bytes > m.budget {
			sl.place.Store(nil)
		} else {
			used += bytes
			if sl.place.Load() == nil {
				missing = append(missing, i)
			}
		}
	}
	var again error
	for n, i := range missing {
		if n%64 == 0 {
			m.show()
		}
		err := m.load(ctx, slots[i], looks[i].look)
		if errors.Is(err, errChanged) {
			again = err // a server still writes to it; the next round looks again
			continue
		}
		if err != nil || m.off.Load() {
			return err
		}
	}
	return again
}

// arrange lists the places for the past days' copies, newest first, and drops
// the other days'.
func (m *Mirror) arrange(ctx context.Context, now time.Time) ([]slot, error) {
	oldest := feed.DayOf(now) - feed.Day(m.cfg.WindowDays) + 1
	days, slots := make(map[feed.Day]*mirrorDay), []slot(nil)
	for day := m.newestPast(now); day >= oldest; day-- {
		d, err := m.day(ctx, day)
		if err != nil {
			return nil, err
		}
		days[day] = d
		for shard := range d.filters {
			slots = append(slots, slot{day: day, place: &d.filters[shard], key: m.keys.Filter(day, shard, d.shards), of: d.shards})
		}
	}
	m.days.Store(&days)
	return slots, nil
}

// day finds the place for a day's copies, or makes one for as many filters as
// the day is spread over. Without a count in Redis that is what a check takes:
// the configured one.
func (m *Mirror) day(ctx context.Context, day feed.Day) (*mirrorDay, error) {
	var before *mirrorDay
	if days := m.days.Load(); days != nil {
		before = (*days)[day]
	}
	if before != nil && before.counted {
		return before, nil
	}
	key, shards := m.keys.Shards(day), m.cfg.Shards
	text, err := m.client.Get(ctx, key).Result()
	if err == nil {
		shards, err = redisbloom.ParseShards(key, text)
	}
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	if before != nil && before.shards == shards {
		before.counted = err == nil
		return before, nil
	}
	return &mirrorDay{shards: shards, counted: err == nil, filters: make([]atomic.Pointer[copied], shards)}, nil
}

// looked is a look, or why it failed: something else is under the key.
type looked struct {
	look
	err error
}

func (m *Mirror) lookAll(ctx context.Context, slots []slot) ([]looked, error) {
	looks := make([]looked, len(slots))
	for from := 0; from < len(slots); from += lookChunk {
		part := slots[from:min(from+lookChunk, len(slots))]
		pipe := m.client.Pipeline()
		there, infos := make([]*redis.IntCmd, len(part)), make([]*redis.BFInfoCmd, len(part))
		for i, sl := range part {
			there[i], infos[i] = pipe.Exists(ctx, sl.key), pipe.BFInfo(ctx, sl.key)
		}
		if err := execOf(ctx, pipe); err != nil {
			return nil, err
		}
		for i := range part {
			l, err := readLook(there[i], infos[i], nil)
			if err != nil && !isReply(err) {
				return nil, err
			}
			looks[from+i] = looked{look: l, err: err}
		}
	}
	return looks, nil
}

// review decides about one place by how its filter looks now: whether a copy
// of it may stand there, and how large it is. A copy that is outdated goes.
func (m *Mirror) review(sl slot, now looked) (bytes int64, keep bool) {
	c := sl.place.Load()
	switch {
	case now.err != nil:
		return 0, false
	case c == nil:
		return now.info.Size, true
	case now.look == c.look || !now.there: // what Redis has lost, the copy still knows
		return c.bytes, true
	case now.info.ItemsInserted >= c.look.info.ItemsInserted:
		sl.place.Store(nil)
		return now.info.Size, true
	}
	if !c.also { // Redis lost the filter and has begun a new one
		sl.place.Store(&copied{exactFilter: c.exactFilter, look: c.look, also: true})
	}
	return c.bytes, true
}
