package redislist

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
)

// withdrawScript takes what was handed out elsewhere out of the session.
//
//	KEYS[1]  the agent's session
//	KEYS[2]  the agent's pending set
//	ARGV[1]  when it was handed out, ms: the score of the pending entries
//	ARGV[2]  TTL of the pending set, s
//	ARGV[3…] the groups
//	reply    how many refs were in the session
//
// Everything is read before anything is written, and the pending set, which
// needs memory, is written first.
var withdrawScript = redis.NewScript(`
local out, left, gone = {}, {}, 0
for i = 3, #ARGV do out[ARGV[i]] = true end
local refs = redis.call('LRANGE', KEYS[1], 0, -1)
for i = 1, #refs do
  local group, id = string.match(refs[i], '^([^|]*)|?([^|]*)') -- what follows is the source
  if out[group] or out[id] then
    gone = gone + 1
  else
    left[#left + 1] = refs[i]
  end
end
local ttl = redis.call('PTTL', KEYS[1])

for from = 3, #ARGV, 500 do
  local adds = {}
  for i = from, math.min(from + 499, #ARGV) do
    adds[#adds + 1] = ARGV[1]
    adds[#adds + 1] = ARGV[i]
  end
  redis.call('ZADD', KEYS[2], 'GT', unpack(adds))
end
redis.call('EXPIRE', KEYS[2], ARGV[2])
if gone == 0 then return 0 end
redis.call('DEL', KEYS[1])
for from = 1, #left, 1000 do
  redis.call('RPUSH', KEYS[1], unpack(left, from, math.min(from + 999, #left)))
end
if #left > 0 and ttl > 0 then redis.call('PEXPIRE', KEYS[1], ttl) end
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
	keys := []string{s.keys.Session(agent), s.keys.Pending(agent)}
	return contractError("withdraw", withdrawScript.Run(ctx, s.writes, keys, args...).Err())
}
