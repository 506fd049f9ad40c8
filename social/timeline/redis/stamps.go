package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/social/timeline"
)

const (
	// stampEvery is how old a stamp is before it is renewed.
	stampEvery = time.Second
	// scanned is how many keys a step of a search for lists looks at.
	scanned = 1000
)

// Stamps say of which time the data of the Redis is that has the lists: servers renew them, so
// what a Redis brings back from a snapshot, or a replica that becomes master, has a stamp of the
// time of what it has. On a cluster each master has some. It is safe for concurrent use.
type Stamps struct {
	client redis.Cmdable
	keys   []string
	lists  []string // patterns of their keys
}

// NewStamps makes the stamps of the lists behind client, under keys with a prefix; it does not
// talk to the server.
func NewStamps(client redis.Cmdable, prefix string) *Stamps {
	keys := rediskeys.For(client, prefix)
	return &Stamps{client, keys.Stamps(), keys.ListPatterns()}
}

// Stamp is one stamp, and the data that is there.
type Stamp struct {
	Key  string
	Data string // the replication id of the master that answers; another one after each restart and failover
	// Of is the data that the stamp was made for; "": there is no stamp.
	Of    string
	Since time.Time // that data has been known
	At    time.Time // what was written before is there
	text  string    // what Redis has
}

// lookScript renews a stamp if it is that of the data.
//
//	KEYS[1]  the stamp: replication id, known since and written at in Unix ms
//	ARGV[1]  now, ms
//	ARGV[2]  how old it is before it is renewed, ms
//	ARGV[3]  TTL, ms
//	reply    {the replication id, the stamp as it was}
var lookScript = redis.NewScript(dataLua + `
local stamp = redis.call('GET', KEYS[1]) or ''
local of, since, at = string.match(stamp, '^(%S+) (%d+) (%d+)$')
if of == data and math.abs(ARGV[1] - at) >= tonumber(ARGV[2]) then
  redis.call('SET', KEYS[1], of .. ' ' .. since .. ' ' .. ARGV[1], 'PX', ARGV[3])
end
return {data, stamp}
`)

// adoptScript stamps data that was not, if nobody else has and it is still that.
//
//	KEYS[1]  the stamp
//	ARGV[1]  the replication id of the data
//	ARGV[2]  the stamp as it was seen
//	ARGV[3]  now, ms
//	ARGV[4]  TTL, ms
//	reply    1, or 0: look again
var adoptScript = redis.NewScript(dataLua + `
if data ~= ARGV[1] or (redis.call('GET', KEYS[1]) or '') ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], data .. ' ' .. ARGV[3] .. ' ' .. ARGV[3], 'PX', ARGV[4])
return 1
`)

// dataLua reads the identity of the data, from the node that has the key.
const dataLua = `
local data = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or 'unknown'
`

// Look reads all stamps and renews those that are of the data that is there; what it returns of
// these is from before. After an error, which wraps [timeline.ErrUnavailable] where a master did
// not answer, and not where the user may not run INFO or scripts, the others are returned.
func (s *Stamps) Look(ctx context.Context, now time.Time) ([]Stamp, error) {
	cmds, err := s.each(ctx, s.keys, lookScript, func(int) []any {
		return []any{now.UnixMilli(), stampEvery.Milliseconds(), timeline.TTL.Milliseconds()}
	})
	var list []Stamp
	for i, cmd := range cmds {
		reply, failed := cmd.StringSlice()
		if failed == nil && len(reply) == 2 {
			list = append(list, parseStamp(s.keys[i], reply[0], reply[1]))
		}
	}
	if rediskeys.Refused(err) {
		return list, fmt.Errorf("look at stamps: redis: %w", err)
	}
	return list, contractError("look at stamps", err)
}

// parseStamp reads what the scripts write; what is no stamp is none.
func parseStamp(key, data, text string) Stamp {
	st := Stamp{Key: key, Data: data, text: text}
	var of string
	var since, at int64
	if _, err := fmt.Sscanf(text, "%s %d %d", &of, &since, &at); err == nil {
		st.Of, st.Since, st.At = of, time.UnixMilli(since), time.UnixMilli(at)
	}
	return st
}

// Adopt stamps data that lists have been made right on, and returns the stamps that are of
// their data: those that were, and those that it made, but not where somebody else has, or the
// data is another one by now. After an error it may have made more.
func (s *Stamps) Adopt(ctx context.Context, now time.Time, list []Stamp) (adopted []Stamp, err error) {
	var keys []string
	var news []Stamp
	for _, st := range list {
		if st.Of == st.Data {
			adopted = append(adopted, st)
			continue
		}
		keys, news = append(keys, st.Key), append(news, st)
	}
	cmds, err := s.each(ctx, keys, adoptScript, func(i int) []any {
		return []any{news[i].Data, news[i].text, now.UnixMilli(), timeline.TTL.Milliseconds()}
	})
	for i, cmd := range cmds {
		if done, _ := cmd.Bool(); done {
			adopted = append(adopted, news[i])
		}
	}
	return adopted, contractError("adopt stamps", err)
}

// each runs a script on keys in one pipeline; the error is the first one.
func (s *Stamps) each(ctx context.Context, keys []string, script *redis.Script, args func(i int) []any) ([]*redis.Cmd, error) {
	pipe := s.client.Pipeline()
	cmds := make([]*redis.Cmd, len(keys))
	for i, key := range keys {
		cmds[i] = script.Eval(ctx, pipe, []string{key}, args(i)...)
	}
	_, err := pipe.Exec(ctx)
	for _, cmd := range cmds {
		if err == nil {
			err = cmd.Err()
		}
	}
	return cmds, err
}

// DropLists ends all timelines, outboxes and kept cards on the masters that some stamps are on,
// in small steps, and returns how many. After an error some are left.
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
			pipe := s.client.Pipeline() // follows a key that moves to another master
			for _, key := range keys {
				pipe.Unlink(ctx, key)
			}
			if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
				return n, fmt.Errorf("%d lists are dropped, not all: %w", n, err)
			}
			n += len(keys)
		}
		if cursor == 0 {
			return n, nil
		}
	}
}
