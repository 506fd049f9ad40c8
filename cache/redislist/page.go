package redislist

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/internal/rediskeys"
)

// replaceScript is the page step of a refresh.
//
//	KEYS[1]   the agent's session
//	KEYS[2]   the agent's pending set
//	KEYS[3]   the time of the agent's last refresh
//	KEYS[4,5] the agent's other sessions; of a feed that is not named, the second is that of named ones
//	KEYS[6,7] the times of the last refresh of those
//	KEYS[8]   the call's record, if it has one
//	KEYS[9,10] the records of the other sessions under the same request id, if the call has one
//	ARGV[1]   now by the server's clock, ms: in [rediskeys.CommonTime], the score of the refs handed out
//	ARGV[2]   newest score that no longer counts, ms, likewise
//	ARGV[3]   number of refs to hand out
//	ARGV[4]   TTL of the session, ms
//	ARGV[5]   TTL of the pending set, s
//	ARGV[6]   TTL of the time of the last refresh, s
//	ARGV[7]   server time of the check the list is based on, ms; 0: none
//	ARGV[8]   age at which the check is too old, ms
//	ARGV[9]   action and limit of the call
//	ARGV[10]  owner of the call
//	ARGV[11]  number of the step
//	ARGV[12]  TTL of the record, s
//	ARGV[13]  1 if the agent has refreshed before, else 0
//	ARGV[14]  the scope of a named feed, or ""
//	ARGV[15…] the refs, best first
//	reply     {"old", the record} | {"other", ""} | {"void", ""} | {"late", ""} | {"new" or "shared", the page}
//
// All decisions are made before the first write.
var replaceScript = redis.NewScript(rediskeys.CommonTime + partsLua + hitLua + keysLua + unheldLua + claimedLua + strikeLua + claimLua + recordLua + touchLua + answerLua + rememberLua + `
local before = recorded(8, ARGV[9], ARGV[10], ARGV[11])
if before then return before end
local apart, clock = common(ARGV[1])
local checked = tonumber(ARGV[7])
if checked > 0 and clock - checked >= tonumber(ARGV[8]) then return {'late', ''} end
local now, expired = moved(ARGV[1], apart), moved(ARGV[2], apart)

-- opened puts a named feed first in the list of those refreshed last.
local function opened(was, scope, now)
  local list = {scope .. '=' .. now}
  for word in string.gmatch(was, '%S+') do
    if #list < 16 and sub(word, 1, #scope + 1) ~= scope .. '=' then list[#list + 1] = word end
  end
  return table.concat(list, ' ')
end

local refs = {}
for i = 15, #ARGV do refs[i - 14] = ARGV[i] end
local count, list = redis.call('ZCARD', KEYS[2]), {}
unheld(refs, count, expired, list)
local limit, page, rest = tonumber(ARGV[3]), {}, {}
for i = 1, #list do
  if i <= limit then page[i] = list[i] else rest[i - limit] = list[i] end
end
local first = ARGV[13] == '0' and redis.call('EXISTS', KEYS[3], KEYS[6], KEYS[7]) == 0
` + roomLua + `
redis.call('DEL', KEYS[1])
for from = 1, #rest, 1000 do
  redis.call('RPUSH', KEYS[1], unpack(rest, from, math.min(from + 999, #rest)))
end
if #rest > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
if count > 0 then redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', expired) end
local scope, refreshed = ARGV[14], ARGV[1]
if scope ~= '' then
  if #rest > 0 then redis.call('ZADD', KEYS[2], moved(now, ARGV[4]), '` + namedMarker + `') end
  refreshed = opened(redis.call('GET', KEYS[3]) or '', scope, refreshed)
end
claim(page, now, ARGV[5], KEYS[4], (named or scope ~= '') and KEYS[5])
redis.call('SET', KEYS[3], refreshed, 'EX', ARGV[6])
return remember(KEYS[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12], page, #rest > 0 and 1 or 0, first)
`)

// Replace implements [cache.Sessions] in one round trip.
func (s *Sessions) Replace(ctx context.Context, r cache.Replace) (cache.Page, error) {
	refs := make([]string, len(r.Ranked))
	args := make([]any, 0, 14+len(refs))
	known := 0
	if r.Known {
		known = 1
	}
	args = append(args,
		r.Now.UnixMilli(), s.expired(r.Now), r.Limit, s.cfg.TTL.Milliseconds(),
		seconds(rediskeys.PendingTTL(s.cfg.PendingTTL)), seconds(rediskeys.RefreshedTTL),
		r.CheckedAt, s.cfg.Grace.Milliseconds(),
		head(r.Call), owner(r.Call), r.Call.Step, seconds(s.recordTTL(r.Call)), known, r.Call.Feed.Scope())
	for i, ref := range r.Ranked {
		refs[i] = ref.String()
		args = append(args, &refs[i]) // the client writes a *string as the string; passing a string would allocate
	}
	others := r.Call.Feed.Others()
	keys := s.keysOf(r.Agent, r.Call, s.keys.Session(r.Agent, r.Call.Feed), s.keys.Pending(r.Agent),
		s.keys.Refreshed(r.Agent, r.Call.Feed), s.keys.Session(r.Agent, others[0]), s.keys.Session(r.Agent, others[1]),
		s.keys.Refreshed(r.Agent, others[0]), s.keys.Refreshed(r.Agent, others[1]))
	return s.confirmed(ctx, "replace", r.Agent, replaceScript.Run(ctx, s.writes, keys, args...), r.Call)
}

// popScript is the page step of a load_more.
//
//	KEYS[1]  the agent's session
//	KEYS[2]  the agent's pending set
//	KEYS[3,4] the agent's other sessions, as in replaceScript
//	KEYS[5]  the call's record, if it has one
//	KEYS[6,7] the records of the other sessions under the same request id, if the call has one
//	ARGV[1]  now by the server's clock, ms: in [rediskeys.CommonTime], the score of the refs handed out
//	ARGV[2]  newest score that no longer counts, ms, likewise
//	ARGV[3]  number of refs to hand out
//	ARGV[4]  TTL of the pending set, s
//	ARGV[5]  action and limit of the call
//	ARGV[6]  owner of the call
//	ARGV[7]  number of the step
//	ARGV[8]  TTL of the record, s
//	ARGV[9]  number of refs to list of those left in the session
//	ARGV[10] the scope of a named feed, or ""; of another one than the session's, nothing is popped
//	reply    {"old", the record} | {"other", ""} | {"void", ""} | {"new" or "shared", the page, the refs left}
//
// Pending refs are popped and dropped, and others popped in their place. Refs that are handed out
// are also removed from the other session: by the time that is paged they may no longer be pending.
var popScript = redis.NewScript(rediskeys.CommonTime + partsLua + hitLua + keysLua + unheldLua + claimedLua + strikeLua + claimLua + begunLua + recordLua + touchLua + answerLua + rememberLua + `
local before = recorded(5, ARGV[5], ARGV[6], ARGV[7])
if before then return before end
` + roomLua + `
local apart = common(ARGV[1])
local now, expired = moved(ARGV[1], apart), moved(ARGV[2], apart)
local count, limit, page, left = redis.call('ZCARD', KEYS[2]), tonumber(ARGV[3]), {}, true
if ARGV[10] ~= '' then left = begun(KEYS[1], ARGV[10]) end
while #page < limit and left do
  local most = math.min(limit - #page, 1000)
  local refs = redis.call('LPOP', KEYS[1], most) or {}
  unheld(refs, count, expired, page)
  left = #refs == most
end

claim(page, now, ARGV[4], KEYS[3], (named or ARGV[10] ~= '') and KEYS[4])
local ahead = left and redis.call('LRANGE', KEYS[1], 0, math.max(ARGV[9], 1) - 1) or {}
local record = (#page > 0 or ARGV[7] ~= '0') and KEYS[5]
local reply = remember(record, ARGV[5], ARGV[6], ARGV[7], ARGV[8], page, #ahead > 0 and 1 or 0)
if ARGV[9] ~= '0' then reply[3] = table.concat(ahead, ' ') end
return reply
`)

// Pop implements [cache.Sessions] in one round trip.
func (s *Sessions) Pop(ctx context.Context, p cache.Pop) (cache.Page, error) {
	others := p.Call.Feed.Others()
	keys := s.keysOf(p.Agent, p.Call, s.keys.Session(p.Agent, p.Call.Feed), s.keys.Pending(p.Agent),
		s.keys.Session(p.Agent, others[0]), s.keys.Session(p.Agent, others[1]))
	cmd := popScript.Run(ctx, s.writes, keys,
		p.Now.UnixMilli(), s.expired(p.Now), p.Limit, seconds(rediskeys.PendingTTL(s.cfg.PendingTTL)),
		head(p.Call), owner(p.Call), p.Call.Step, seconds(s.recordTTL(p.Call)), max(p.Ahead, 0), p.Call.Feed.Scope())
	page, err := s.confirmed(ctx, "pop", p.Agent, cmd, p.Call)
	if len(page.Refs) == 0 && p.Call.Step == 0 && !page.Replayed {
		page.Next = 0 // it is not recorded
	}
	return page, err
}

// undoTimeout bounds the time for returning a page that replicas did not confirm.
const undoTimeout = time.Second

// confirmed reads the reply of a page script. A page that too few replicas have is not handed out:
// after a failover it could be handed out again. The error wraps [cache.ErrUnavailable].
//
// With a request id the page stays taken, and the retry gets it as soon as replicas have it;
// returning it to the session could race with the response to that retry. Without a request id no
// call will ask for it again, so it returns to the head of the session.
func (s *Sessions) confirmed(ctx context.Context, step, agent string, cmd *redis.Cmd, call cache.Call) (cache.Page, error) {
	short := cmd.Err()
	if !errors.Is(short, rediskeys.ErrReplicas) {
		return answer(step, cmd, call)
	}
	if call.RequestID != "" {
		return cache.Page{}, contractError(step, short)
	}
	cmd.SetErr(nil)
	page, err := answer(step, cmd, call)
	if err != nil || len(page.Refs) == 0 {
		return cache.Page{}, errors.Join(contractError(step, short), err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if err := s.Restore(ctx, agent, page.Refs, call); err != nil {
		s.cfg.Logger.WarnContext(ctx, "a page that too few replicas confirmed could not be returned to its session; its items count as shown",
			"agent", agent, "items", len(page.Refs), "error", err)
	}
	return cache.Page{}, contractError(step, short)
}

// lookupScript reads a record and notes the call in it, so that waiting for replicas covers it.
//
//	KEYS[1]  the call's record
//	KEYS[2,3] the records of the other sessions under the same request id
//	ARGV[1]  action and limit of the call
//	ARGV[2]  owner of the call
//	reply    {"old", the record} | {"other", ""}, or nil
var lookupScript = redis.NewScript(recordLua + touchLua + answerLua + `return recorded(1, ARGV[1], ARGV[2], '0')`)
