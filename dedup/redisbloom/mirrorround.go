package redisbloom

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

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
// made anew, and as many as fit are made, newest days first.
func (m *mirror) round(ctx context.Context, now time.Time) error {
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
			again = err // by whoever still writes to it; the next round sees
			continue
		}
		if err != nil || m.off.Load() {
			return err
		}
	}
	return again
}

// arrange lists the places for the past days' copies, newest first, and lets
// go of the other days'.
func (m *mirror) arrange(ctx context.Context, now time.Time) ([]slot, error) {
	oldest := feed.DayOf(now) - feed.Day(m.s.cfg.WindowDays) + 1
	counts, err := m.shardCounts(ctx, oldest, now)
	if err != nil {
		return nil, err
	}
	before := m.days.Load()
	days, slots := make(map[feed.Day]*mirrorDay), []slot(nil)
	for day := m.newestPast(now); day >= oldest; day-- {
		shards := counts[day]
		var d *mirrorDay
		if before != nil {
			d = (*before)[day]
		}
		if d == nil || d.shards != shards {
			d = &mirrorDay{shards: shards, filters: make([]atomic.Pointer[copied], shards)}
		}
		days[day] = d
		for shard := range d.filters {
			slots = append(slots, slot{day: day, place: &d.filters[shard], key: m.s.keys.Filter(day, shard, shards), of: shards})
		}
	}
	m.days.Store(&days)
	return slots, nil
}

// shardCounts is how many filters each past day is spread over. A day without
// a count is asked about as a check does: with the configured one.
func (m *mirror) shardCounts(ctx context.Context, oldest feed.Day, now time.Time) (map[feed.Day]int, error) {
	counts, asked := make(map[feed.Day]int), make(map[feed.Day]*redis.StringCmd)
	pipe := m.s.client.Pipeline()
	for day := m.newestPast(now); day >= oldest; day-- {
		shards, _ := m.s.shards.get(day, now)
		if counts[day] = shards; shards == 0 {
			asked[day] = pipe.Get(ctx, m.s.keys.Shards(day))
		}
	}
	if len(asked) == 0 {
		return counts, nil
	}
	if err := execOf(ctx, pipe); err != nil {
		return nil, err
	}
	for day, reply := range asked {
		shards, err := m.s.learn(reply, day, now)
		if err != nil {
			return nil, err
		}
		if counts[day] = shards; shards == 0 {
			counts[day] = m.s.cfg.Shards
		}
	}
	return counts, nil
}

// looked is a look, or why there is none: something else is under the key.
type looked struct {
	look
	err error
}

func (m *mirror) lookAll(ctx context.Context, slots []slot) ([]looked, error) {
	looks := make([]looked, len(slots))
	for from := 0; from < len(slots); from += lookChunk {
		part := slots[from:min(from+lookChunk, len(slots))]
		pipe := m.s.client.Pipeline()
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
func (m *mirror) review(sl slot, now looked) (bytes int64, keep bool) {
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
	if !c.also { // Redis lost the filter, and it was begun anew
		sl.place.Store(&copied{exactFilter: c.exactFilter, look: c.look, also: true})
	}
	return c.bytes, true
}
