package overview

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
)

// Redis keeps the samples of all servers that share a Redis: a hash for each slot, with a field for each
// server, which expires an hour after it is no longer kept.
type Redis struct {
	client redis.Cmdable
	keys   rediskeys.Keys
}

var _ Store = (*Redis)(nil)

// NewRedis returns a store that uses client, with keyPrefix before every key.
func NewRedis(client redis.Cmdable, keyPrefix string) *Redis {
	return &Redis{client: client, keys: rediskeys.For(client, keyPrefix)}
}

func (r *Redis) key(slot Slot) string { return r.keys.Overview(int64(slot.Span), slot.Begin) }

// Put implements [Store].
func (r *Redis) Put(ctx context.Context, server string, samples map[Slot]Sample) error {
	pipe := r.client.Pipeline()
	for slot, sample := range samples {
		data, err := json.Marshal(sample)
		if err != nil {
			return err
		}
		key := r.key(slot)
		pipe.HSet(ctx, key, server, data)
		pipe.Expire(ctx, key, time.Duration(slot.Span.Kept()*int64(slot.Span))*time.Second+time.Hour)
	}
	_, err := pipe.Exec(ctx)
	return rediskeys.Failed(ErrUnavailable, "overview: write", err)
}

// Read implements [Store]. A field that cannot be read, as of a later version, is left out.
func (r *Redis) Read(ctx context.Context, now time.Time) (map[Slot][]Sample, error) {
	pipe := r.client.Pipeline()
	asked := map[Slot]*redis.MapStringStringCmd{}
	for _, slot := range kept(now) {
		asked[slot] = pipe.HGetAll(ctx, r.key(slot))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, rediskeys.Failed(ErrUnavailable, "overview: read", err)
	}
	found := map[Slot][]Sample{}
	for slot, answer := range asked {
		for _, data := range answer.Val() {
			var s Sample
			if json.Unmarshal([]byte(data), &s) == nil {
				found[slot] = append(found[slot], s)
			}
		}
	}
	return found, nil
}

// kept lists the slots that are kept at a moment.
func kept(now time.Time) []Slot {
	var all []Slot
	for _, span := range []Span{Minute, Hour} {
		last := slotOf(span, now.Unix())
		for i := range span.Kept() {
			all = append(all, Slot{span, last.Begin - i*int64(span)})
		}
	}
	return all
}
