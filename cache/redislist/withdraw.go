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
// The pending set comes first, because it needs memory: where there is none,
// nothing changes.
var withdrawScript = redis.NewScript(rediskeys.HoldLua + strikeLua + `
hold(KEYS[1], ARGV, 3, #ARGV, tonumber(ARGV[1]))
redis.call('EXPIRE', KEYS[1], ARGV[2])
local out, gone = setof(ARGV, 3), 0
for k = 2, #KEYS do gone = gone + strike(KEYS[k], out) end
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
