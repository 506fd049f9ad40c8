package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/social/timeline"
)

const (
	// stampEvery is the age at which a stamp is renewed.
	stampEvery = time.Second
	// scanned is the COUNT of each SCAN for lists.
	scanned = 1000
)

// Stamps record how recent the data of the lists' Redis is. Servers renew the stamps, so data that
// is restored from a snapshot, or served by a promoted replica, has stamps with the time of its
// last writes. On a cluster each master has some. Stamps is safe for concurrent use.
type Stamps struct {
	client redis.Cmdable
	keys   []string
	lists  []string // patterns of their keys
}

// NewStamps returns the stamps of the lists that are stored with client under keys with a prefix.
// It makes no call to Redis.
func NewStamps(client redis.Cmdable, prefix string) *Stamps {
	keys := rediskeys.For(client, prefix)
	return &Stamps{client, keys.Stamps(), keys.ListPatterns()}
}

// Stamp is one stamp, and the data that Redis has now.
type Stamp struct {
	Key  string
	Data string // the replication id of the answering master, which changes with each restart and failover
	// Of is the replication id that the stamp was made for; "" if there is no stamp.
	Of    string
	Since time.Time // when that data was first stamped
	At    time.Time // the last renewal: Redis has all earlier writes
	text  string    // the stored text
}

// lookScript renews a stamp that matches the data.
//
//	KEYS[1]  the stamp: replication id, time of the first stamp and of the last renewal, Unix ms
//	ARGV[1]  now, ms
//	ARGV[2]  age at which it is renewed, ms
//	ARGV[3]  TTL, ms
//	reply    {the replication id, the stamp before the renewal}
var lookScript = redis.NewScript(dataLua + `
local stamp = redis.call('GET', KEYS[1]) or ''
local of, since, at = string.match(stamp, '^(%S+) (%d+) (%d+)$')
if of == data and math.abs(ARGV[1] - at) >= tonumber(ARGV[2]) then
  redis.call('SET', KEYS[1], of .. ' ' .. since .. ' ' .. ARGV[1], 'PX', ARGV[3])
end
return {data, stamp}
`)

// adoptScript stamps data without a matching stamp, if neither data nor stamp has changed.
//
//	KEYS[1]  the stamp
//	ARGV[1]  the expected replication id of the data
//	ARGV[2]  the expected stamp
//	ARGV[3]  now, ms
//	ARGV[4]  TTL, ms
//	reply    1, or 0 if one has changed
var adoptScript = redis.NewScript(dataLua + `
if data ~= ARGV[1] or (redis.call('GET', KEYS[1]) or '') ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], data .. ' ' .. ARGV[3] .. ' ' .. ARGV[3], 'PX', ARGV[4])
return 1
`)

// dataLua reads the identity of the data, from the node that has the key.
const dataLua = `
local data = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or 'unknown'
`

// Look reads all stamps and renews those that match the current data. It returns the stamps from
// before the renewal. After an error it returns the stamps that could be read. The error wraps
// [timeline.ErrUnavailable] if a master did not answer, but not if the user may not run INFO or
// scripts.
func (s *Stamps) Look(ctx context.Context, now time.Time) ([]Stamp, error) {
	args := []any{now.UnixMilli(), stampEvery.Milliseconds(), timeline.TTL.Milliseconds()}
	cmds, err := s.each(ctx, s.keys, lookScript, slices.Repeat([][]any{args}, len(s.keys)))
	var list []Stamp
	for i, cmd := range cmds {
		reply, failed := cmd.StringSlice()
		if failed == nil && len(reply) == 2 {
			list = append(list, parseStamp(s.keys[i], reply[0], reply[1]))
		}
	}
	if rediskeys.Refused(err) {
		return list, fmt.Errorf("read stamps: redis: %w", err)
	}
	return list, contractError("read stamps", err)
}

// parseStamp parses a stamp as written by the scripts. An invalid text counts as no stamp.
func parseStamp(key, data, text string) Stamp {
	st := Stamp{Key: key, Data: data, text: text}
	var of string
	var since, at int64
	if _, err := fmt.Sscanf(text, "%s %d %d", &of, &since, &at); err == nil {
		st.Of, st.Since, st.At = of, time.UnixMilli(since), time.UnixMilli(at)
	}
	return st
}

// Adopt stamps data whose lists have been repaired. It returns the stamps that matched already and
// those that it wrote. It does not write a stamp if the stamp or the data has changed since. After
// an error it may have written more.
func (s *Stamps) Adopt(ctx context.Context, now time.Time, list []Stamp) (adopted []Stamp, err error) {
	var keys []string
	var news []Stamp
	var args [][]any
	for _, st := range list {
		if st.Of == st.Data {
			adopted = append(adopted, st)
			continue
		}
		keys, news = append(keys, st.Key), append(news, st)
		args = append(args, []any{st.Data, st.text, now.UnixMilli(), timeline.TTL.Milliseconds()})
	}
	cmds, err := s.each(ctx, keys, adoptScript, args)
	for i, cmd := range cmds {
		done, _ := cmd.Bool()
		if done {
			adopted = append(adopted, news[i])
		}
	}
	return adopted, contractError("adopt stamps", err)
}

// Distrust makes servers drop all lists and cached cards, as they do after an old snapshot of Redis was
// restored: their data is not what the stamps name. Until a server has done so, timelines are read from the
// social store.
func (s *Stamps) Distrust(ctx context.Context) error {
	pipe := s.client.Pipeline()
	for _, key := range s.keys {
		pipe.Set(ctx, key, "distrusted 0 0", timeline.TTL)
	}
	_, err := pipe.Exec(ctx)
	return contractError("distrust lists", err)
}

// each runs a script on keys, each with its own arguments, in one pipeline and returns the first
// error.
func (s *Stamps) each(ctx context.Context, keys []string, script *redis.Script, args [][]any) ([]*redis.Cmd, error) {
	pipe := s.client.Pipeline()
	cmds := make([]*redis.Cmd, len(keys))
	for i, key := range keys {
		cmds[i] = script.Eval(ctx, pipe, []string{key}, args[i]...)
	}
	_, err := pipe.Exec(ctx)
	for _, cmd := range cmds {
		if err == nil {
			err = cmd.Err()
		}
	}
	return cmds, err
}

// DropLists deletes all timelines, outboxes and cached cards on the masters of the given stamps,
// in small steps, and returns their number. After an error some are left.
func (s *Stamps) DropLists(ctx context.Context, on []Stamp) (n int, err error) {
	masters := map[string]redis.Cmdable{} // by address
	for _, st := range on {
		master, addr, err := rediskeys.MasterOf(ctx, s.client, st.Key)
		if err != nil {
			return 0, contractError("drop lists", err)
		}
		masters[addr] = master
	}
	for _, master := range masters {
		for _, pattern := range s.lists {
			dropped, err := s.drop(ctx, master, pattern)
			n += dropped
			if err != nil {
				return n, contractError("drop lists", err)
			}
		}
	}
	return n, nil
}

func (s *Stamps) drop(ctx context.Context, master redis.Cmdable, pattern string) (n int, err error) {
	for cursor := uint64(0); ; {
		var keys []string
		if keys, cursor, err = master.Scan(ctx, cursor, pattern, scanned).Result(); err != nil {
			return n, err
		}
		if len(keys) > 0 {
			pipe := s.client.Pipeline() // s.client follows keys that move to another master
			for _, key := range keys {
				pipe.Unlink(ctx, key)
			}
			if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
				return n, fmt.Errorf("only %d lists were dropped: %w", n, err)
			}
			n += len(keys)
		}
		if cursor == 0 {
			return n, nil
		}
	}
}
