package redislist

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/internal/rediskeys"
)

// popScript is the page step of a load_more.
//
//	KEYS[1]  the agent's session
//	KEYS[2]  the agent's pending set
//	KEYS[3]  the session of the agent's other feed
//	KEYS[4]  the call's record; only where one is kept
//	ARGV[1]  now, ms: the score of what is handed out
//	ARGV[2]  newest score that no longer counts, ms
//	ARGV[3]  how many to hand out
//	ARGV[4]  TTL of the pending set, s
//	ARGV[5]  action and limit of the call
//	ARGV[6]  owner of the call
//	ARGV[7]  number of the step
//	ARGV[8]  TTL of the record, s
//	reply    {"old", the record} | {"void", ""} | {"new" or "shared", the page}
//
// What is pending is popped and dropped, and more is popped in its place. What is
// handed out leaves the other session, too: by the time that is paged it may not be
// pending any more.
var popScript = redis.NewScript(keysLua + pendingLua + claimedLua + claimLua + strikeLua + recordLua + touchLua + answerLua + rememberLua + `
local before = recorded(KEYS[4], ARGV[5], ARGV[6], ARGV[7])
if before then return before end
` + roomLua + `
local expired, limit, page = tonumber(ARGV[2]), tonumber(ARGV[3]), {}
while #page < limit do
  local refs = redis.call('LPOP', KEYS[1], math.min(limit - #page, 1000))
  if not refs or #refs == 0 then break end
  local held = pending(refs, expired)
  for i = 1, #refs do
    if not held[i] then page[#page + 1] = refs[i] end
  end
end

claim(page, ARGV[1], ARGV[4])
if #page > 0 then strike(KEYS[3], setof(keysof(page, 1, #page), 1)) end
local more = redis.call('LLEN', KEYS[1]) > 0 and 1 or 0
local record = (#page > 0 or ARGV[7] ~= '0') and KEYS[4]
return remember(record, ARGV[5], ARGV[6], ARGV[7], ARGV[8], page, more)
`)

// Pop implements [cache.Sessions] in one round trip.
func (s *Sessions) Pop(ctx context.Context, p cache.Pop) (cache.Page, error) {
	keys := s.keysOf(p.Agent, p.Call, s.keys.Session(p.Agent, p.Call.Feed), s.keys.Pending(p.Agent), s.keys.Session(p.Agent, p.Call.Feed.Other()))
	cmd := popScript.Run(ctx, s.writes, keys,
		p.Now.UnixMilli(), s.expired(p.Now), p.Limit, seconds(rediskeys.PendingTTL(s.cfg.PendingTTL)),
		head(p.Call), owner(p.Call), p.Call.Step, seconds(s.recordTTL(p.Call)))
	page, err := s.confirmed(ctx, "pop", p.Agent, cmd, p.Call)
	if len(page.Refs) == 0 && p.Call.Step == 0 && !page.Replayed {
		page.Next = 0 // it is not recorded
	}
	return page, err
}
