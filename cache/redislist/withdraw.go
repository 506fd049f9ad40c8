package redislist

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

// withdrawScript takes what was handed out elsewhere out of the agent's sessions.
//
//	KEYS[1]  the agent's pending set
//	KEYS[2…] the agent's sessions
//	ARGV[1]  when it was handed out, ms: the score of the pending entries
//	ARGV[2]  TTL of the pending set, s
//	ARGV[3…] the groups
//	reply    how many refs were in the sessions
//
// Everything is read before anything is written, and the pending set, which
// needs memory, is written first.
var withdrawScript = redis.NewScript(`
local out, changed, gone = {}, {}, 0
for i = 3, #ARGV do out[ARGV[i]] = true end
for k = 2, #KEYS do
  local refs, left = redis.call('LRANGE', KEYS[k], 0, -1), {}
  for i = 1, #refs do
    local group, id = string.match(refs[i], '^([^|]*)|?([^|]*)') -- what follows is the source
    if not out[group] and not out[id] then left[#left + 1] = refs[i] end
  end
  if #left < #refs then
    gone = gone + #refs - #left
    changed[KEYS[k]] = {left = left, ttl = redis.call('PTTL', KEYS[k])}
  end
end

for from = 3, #ARGV, 500 do
  local adds = {}
  for i = from, math.min(from + 499, #ARGV) do
    adds[#adds + 1] = ARGV[1]
    adds[#adds + 1] = ARGV[i]
  end
  redis.call('ZADD', KEYS[1], 'GT', unpack(adds))
end
redis.call('EXPIRE', KEYS[1], ARGV[2])
for key, list in pairs(changed) do
  redis.call('DEL', key)
  for from = 1, #list.left, 1000 do
    redis.call('RPUSH', key, unpack(list.left, from, math.min(from + 999, #list.left)))
  end
  if #list.left > 0 and list.ttl > 0 then redis.call('PEXPIRE', key, list.ttl) end
end
return gone
`)

// Withdraw implements [cache.Withdrawer] in one round trip.
func (s *Sessions) Withdraw(ctx context.Context, agent string, groups []string, at time.Time) error {
	if len(groups) == 0 {
		return nil
	}
	args := make([]any, 0, 2+len(groups))
	args = append(args, at.UnixMilli(), seconds(rediskeys.PendingTTL(s.cfg.PendingTTL)))
	for i := range groups {
		args = append(args, &groups[i])
	}
	keys := []string{s.keys.Pending(agent), s.keys.Session(agent, feed.ForYou), s.keys.Session(agent, feed.HomeFeed)}
	return contractError("withdraw", withdrawScript.Run(ctx, s.writes, keys, args...).Err())
}
