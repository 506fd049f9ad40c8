package redislist

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

// takeBackScript takes back what a call was handed out.
//
//	KEYS[1]  the agent's session
//	KEYS[2]  the agent's pending set
//	KEYS[3]  the call's record; only where one is kept
//	ARGV[1]  owner of the call
//	ARGV[2]  "restore": back to the head of the session; "discard"; "omit": they stay pending
//	ARGV[3]  TTL of a session that had ended, ms
//	ARGV[4…] the refs, best first
//	reply    how many refs were taken back
//
// What the record does not list, or what is not pending where there is no
// record, has been taken back before: the client sends a script again whose
// answer it did not get. What is held was shown elsewhere meanwhile: it stays
// pending and goes nowhere.
var takeBackScript = redis.NewScript(keysLua + rediskeys.LetGoLua + recordLua + strikeLua + `
local restore, taken, listed, r, none, back, refs = ARGV[2] == 'restore', 0, nil, nil, true, setof(ARGV, 4), {}
for i = 4, #ARGV do refs[#refs + 1] = ARGV[i] end
if KEYS[3] then
  r = load(KEYS[3])
  if not r or r == 'x' then return 0 end
  local words, marks, steps, step = {}, {}, {}, 0
  for word in string.gmatch(r.steps, '%S+') do
    local n = #words + 1
    marks[n], words[n] = string.match(word, '^([%^+]?)(.*)$')
    if string.sub(word, 1, 1) == '~' then step = step + 1 end
    steps[n] = step
  end
  if r.owner ~= ARGV[1] then -- one that the record was answered to, which did not deliver these
    local other = indexof(r.others, ARGV[1])
    if not restore or not other then return 0 end
    local count, given = table.remove(r.others, other).count, {}
    for n = 1, #words do
      if steps[n] <= count and not back[words[n]] and string.sub(words[n], 1, 1) ~= '~' then marks[n] = '+' end
      if marks[n] == '^' then given[#given + 1] = words[n] end
    end
    refs = #r.others == 0 and given or {}
    back = setof(refs, 1)
  elseif restore then
    local seen = 0 -- they may have of these steps what this one could not deliver
    for i = 1, #r.others do seen = math.max(seen, r.others[i].count) end
    for n = 1, #words do
      if back[words[n]] and steps[n] <= seen and marks[n] == '' then marks[n] = '^' end
      if marks[n] == '+' or marks[n] == '^' and steps[n] <= seen then back[words[n]] = nil end
    end
  end
  local left = {}
  listed = {}
  for n = 1, #words do
    if back[words[n]] then
      listed[words[n]] = true
    else
      left[#left + 1] = marks[n] .. words[n]
      none = none and string.sub(words[n], 1, 1) == '~'
    end
  end
  if restore then r.more = '1' end
  r.steps = ' ' .. table.concat(left, ' ')
end
local ended = restore and redis.call('EXISTS', KEYS[1]) == 0
for i = #refs, ARGV[2] == 'omit' and #refs + 1 or 1, -1 do
  if not listed or listed[refs[i]] then
    local keys = keysof(refs, i, i)
    if letgo(KEYS[2], keys, 1, #keys) then
      taken = taken + 1
      if restore then redis.call('LPUSH', KEYS[1], refs[i]) end
    end
  end
end
if ended and taken > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
if r then -- last, because a server that is full takes it only from a script that has made room
  if none and restore then redis.call('DEL', KEYS[3]) else save(redis.call, KEYS[3], r, 'KEEPTTL') end
end
return taken
`)

// Restore implements [cache.Sessions] in one round trip.
func (s *Sessions) Restore(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	return s.takeBack(ctx, "restore", agent, refs, call)
}

// Discard implements [cache.Sessions] in one round trip.
func (s *Sessions) Discard(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	return s.takeBack(ctx, "discard", agent, refs, call)
}

// Omit implements [cache.Sessions] in one round trip.
func (s *Sessions) Omit(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	return s.takeBack(ctx, "omit", agent, refs, call)
}

func (s *Sessions) takeBack(ctx context.Context, step, agent string, refs []feed.Ref, call cache.Call) error {
	if len(refs) == 0 {
		return nil
	}
	args := make([]any, 0, 3+len(refs))
	args = append(args, owner(call), step, s.cfg.TTL.Milliseconds())
	for _, ref := range refs {
		args = append(args, ref.String())
	}
	keys := s.keysOf(agent, call, s.keys.Session(agent, call.Feed), s.keys.Pending(agent))
	return contractError(step, takeBackScript.Run(ctx, s.client, keys, args...).Err())
}

// abandonScript discards what a call was handed out from a step on.
//
//	KEYS[1]  the agent's pending set
//	KEYS[2]  the call's record
//	ARGV[1]  owner of the call
//	ARGV[2]  number of the first step that is discarded
//	ARGV[3]  TTL of the mark that keeps the call's first step from coming yet, s; 0: no mark
//	reply    how many refs were discarded
//
// What is held was shown elsewhere meanwhile, and stays pending.
var abandonScript = redis.NewScript(keysLua + rediskeys.LetGoLua + recordLua + `
local function clear()
  if ARGV[3] == '0' then redis.call('DEL', KEYS[2]) else redis.call('SET', KEYS[2], 'x', 'EX', ARGV[3]) end
end
local r = load(KEYS[2])
if not r then
  clear()
  return 0
end
if r == 'x' or #r.others > 0 or r.owner ~= ARGV[1] then return 0 end
local first, step, left, gone = tonumber(ARGV[2]), 0, {}, 0
for word in string.gmatch(r.steps, '%S+') do
  if string.sub(word, 1, 1) == '~' then step = tonumber(string.sub(word, 2)) end
  local mark, ref = string.match(word, '^([%^+]?)(.*)$')
  if step < first or mark == '+' then
    left[#left + 1] = word
  elseif string.sub(word, 1, 1) ~= '~' then
    local keys = keysof({ref}, 1, 1)
    letgo(KEYS[1], keys, 1, #keys)
    gone = gone + 1
  end
end
r.steps = ' ' .. table.concat(left, ' ')
if #left == 0 then clear() else save(redis.call, KEYS[2], r, 'KEEPTTL') end
return gone
`)

// Abandon implements [cache.Sessions] in one round trip. A request id is not
// marked, because its retry may come to any server.
func (s *Sessions) Abandon(ctx context.Context, agent string, call cache.Call) error {
	if call.None() {
		return nil
	}
	var mark int64
	if call.RequestID == "" && call.Step == 0 {
		mark = seconds(s.recordTTL(call))
	}
	keys := []string{s.keys.Pending(agent), s.keys.Page(agent, call.Feed, call.Record())}
	return contractError("abandon", abandonScript.Run(ctx, s.client, keys, owner(call), call.Step, mark).Err())
}
