package redislist

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

// popScript is the page step of a load_more.
//
//	KEYS[1]  the agent's session
//	KEYS[2]  the agent's pending set
//	KEYS[3]  the retry record; only with a request id
//	ARGV[1]  now, ms: the score of what is handed out
//	ARGV[2]  newest score that no longer counts, ms
//	ARGV[3]  how many to hand out
//	ARGV[4]  TTL of the pending set, s
//	ARGV[5]  head of the page's text
//	ARGV[6]  1: a further step of one call
//	ARGV[7]  TTL of the retry record, s
//	reply    {"old", the record} | {"new", the page}
//
// What is pending is popped and dropped, and more is popped in its place.
var popScript = redis.NewScript(groupLua + pendingLua + claimLua + rememberLua + keptLua + `
local extend = ARGV[6] == '1'
local old = KEYS[3] and not extend and kept(KEYS[3])
if old then return {'old', old} end
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
local more = redis.call('LLEN', KEYS[1]) > 0 and 1 or 0
local record = (#page > 0 or extend) and KEYS[3]
return {'new', remember(record, ARGV[5], extend, ARGV[7], page, more)}
`)

// Pop implements [cache.Sessions] in one round trip.
func (s *Sessions) Pop(ctx context.Context, p cache.Pop) (cache.Page, error) {
	keys := s.keysOf(p.Agent, p.Retry, s.keys.Session(p.Agent), s.keys.Pending(p.Agent))
	cmd := popScript.Run(ctx, s.writes, keys,
		p.Now.UnixMilli(), s.expired(p.Now), p.Limit, seconds(rediskeys.PendingTTL(s.cfg.PendingTTL)),
		head(p.Retry), flag(p.Retry.Extend), seconds(cache.RetryTTL))
	return s.confirmed(ctx, "pop", p.Agent, cmd, p.Retry)
}

// restoreScript gives back what was handed out.
//
//	KEYS[1]  the agent's session
//	KEYS[2]  the agent's pending set
//	KEYS[3]  the retry record; only with a request id
//	ARGV[1]  TTL of a session that had ended, ms
//	ARGV[2…] the refs, best first
//	reply    how many refs were given back
//
// What is not pending has been given back before: the client sends a script
// again whose answer it did not get.
var restoreScript = redis.NewScript(groupLua + forgetLua + `
if KEYS[3] and not forget(KEYS[3]) then return 0 end
local ended = redis.call('EXISTS', KEYS[1]) == 0
local given = 0
for i = #ARGV, 2, -1 do
  if redis.call('ZREM', KEYS[2], group(ARGV[i])) == 1 then
    redis.call('LPUSH', KEYS[1], ARGV[i])
    given = given + 1
  end
end
if ended and given > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return given
`)

// forgetLua takes the refs ARGV[2…] out of a retry record, and deletes one that
// has no others. It reports false, and does nothing, where the record has been
// answered again.
const forgetLua = `
local function forget(record)
  local text = redis.call('GET', record)
  if not text then return true end
  if string.sub(text, 1, 1) == '!' then return false end
  local back, left = {}, {}
  for i = 2, #ARGV do back[ARGV[i]] = true end
  local head, listed = string.match(text, '^(%S+ %S+) [01](.*)$')
  for ref in string.gmatch(listed, '%S+') do
    if not back[ref] then left[#left + 1] = ref end
  end
  if #left == 0 then
    redis.call('DEL', record)
  else
    redis.call('SET', record, head .. ' 1 ' .. table.concat(left, ' '), 'KEEPTTL')
  end
  return true
end
`

// Restore implements [cache.Sessions] in one round trip.
func (s *Sessions) Restore(ctx context.Context, agent string, refs []feed.Ref, retry cache.Retry) error {
	args := make([]any, 0, 1+len(refs))
	args = append(args, s.cfg.TTL.Milliseconds())
	for _, ref := range refs {
		args = append(args, ref.String())
	}
	keys := s.keysOf(agent, retry, s.keys.Session(agent), s.keys.Pending(agent))
	return explain("restore", restoreScript.Run(ctx, s.client, keys, args...).Err())
}
