package redislist

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

// takeBackScript takes back refs that a call was handed out.
//
//	KEYS[1]  the agent's session
//	KEYS[2]  the agent's pending set
//	KEYS[3]  the call's record, if it has one
//	ARGV[1]  owner of the call
//	ARGV[2]  "restore": back to the head of the session; "discard"; "omit": they stay pending
//	ARGV[3]  TTL of a session that had ended, ms
//	ARGV[4]  the scope of a named feed, or ""
//	ARGV[5…] the refs, best first
//	reply    0
//
// Refs that the record does not list, or that the call does not hold, or, without a record, that
// are not pending, have been taken back before: a client resends a script whose reply was lost.
// Refs that other calls hold are not changed. Withdrawn refs were shown elsewhere meanwhile: they
// stay pending and are not restored.
var takeBackScript = redis.NewScript(partsLua + hitLua + claimedLua + letGoLua + begunLua + recordLua + touchLua + `
local restore, omit = ARGV[2] == 'restore', ARGV[2] == 'omit'
local r, free = nil, {}
if KEYS[3] then
  r = load(KEYS[3])
  local mine = r and r ~= 'x' and bitof(r, ARGV[1])
  if not mine then return 0 end
  local back, left = setof(ARGV, 5), nil
  free, left = release(r, omit and everyone or mine, function(w) return back[w.ref] end)
  r.steps = joined(left)
  if restore then r.more = '1' end
  touch(KEYS[3])
else
  for i = 5, #ARGV do free[#free + 1] = ARGV[i] end
end
local ended, scope = restore and redis.call('EXISTS', KEYS[1]) == 0, ARGV[4]
local mine = scope == '' or ended or restore and begun(KEYS[1], scope) -- another named feed may have replaced the session
local latest = ended and scope ~= '' and redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] -- no earlier than the refs, which are pending
for i = omit and 0 or #free, 1, -1 do
  local gone = letgo(KEYS[2], free[i])
  if gone and restore and mine then redis.call('LPUSH', KEYS[1], free[i]) end
end
if ended then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  if scope ~= '' then redis.call('ZADD', KEYS[2], 'GT', (latest or 0) + ARGV[3], '` + namedMarker + `') end
end
if r and restore and not string.find(r.steps, ' [^~]') then -- no refs
  redis.call('DEL', KEYS[3])
elseif r then
  write(KEYS[3], r, 'KEEPTTL')
end
return 0
`)

// Restore implements [cache.Sessions] in one round trip.
func (s *Sessions) Restore(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	return s.undo(ctx, "restore", agent, refs, call)
}

// Discard implements [cache.Sessions] in one round trip.
func (s *Sessions) Discard(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	return s.undo(ctx, "discard", agent, refs, call)
}

// Omit implements [cache.Sessions] in one round trip.
func (s *Sessions) Omit(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	return s.undo(ctx, "omit", agent, refs, call)
}

func (s *Sessions) undo(ctx context.Context, step, agent string, refs []feed.Ref, call cache.Call) error {
	if len(refs) == 0 {
		return nil
	}
	args := make([]any, 0, 4+len(refs))
	args = append(args, owner(call), step, s.cfg.TTL.Milliseconds(), call.Feed.Scope())
	for _, ref := range refs {
		args = append(args, ref.String())
	}
	keys := s.keysOf(agent, call, s.keys.Session(agent, call.Feed), s.keys.Pending(agent))
	return contractError(step, takeBackScript.Run(ctx, s.client, keys, args...).Err())
}

// abandonScript discards the refs that a call was handed out from a step on.
//
//	KEYS[1]  the agent's pending set
//	KEYS[2]  the call's record
//	ARGV[1]  owner of the call
//	ARGV[2]  number of the first step that is discarded
//	ARGV[3]  TTL of the mark that stops a late first step of the call, s; 0: no mark
//	reply    0
//
// Withdrawn refs were shown elsewhere meanwhile and stay pending, as do refs that other calls hold.
var abandonScript = redis.NewScript(partsLua + hitLua + claimedLua + letGoLua + recordLua + touchLua + `
local function clear()
  if ARGV[3] == '0' then redis.call('DEL', KEYS[2]) else redis.call('SET', KEYS[2], 'x', 'EX', ARGV[3]) end
end
local r = load(KEYS[2])
if not r then
  clear()
  return 0
end
local mine = r ~= 'x' and bitof(r, ARGV[1])
if not mine then return 0 end
touch(KEYS[2])
local first = tonumber(ARGV[2])
local free, left = release(r, mine, function(w) return tonumber(w.step) >= first end)
for i = 1, #free do letgo(KEYS[1], free[i]) end
local words = {}
for i, w in ipairs(left) do
  local after = left[i + 1]
  local empty = w.text and not (after and after.ref)
  if not empty or tonumber(w.step) < first then words[#words + 1] = w end
end
r.steps = joined(words)
if #words == 0 then clear() else write(KEYS[2], r, 'KEEPTTL') end
return 0
`)

// Abandon implements [cache.Sessions] in one round trip. A request id gets no mark, because its
// retry may reach any server.
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

// withdrawScript removes groups that were shown elsewhere from the agent's sessions.
//
//	KEYS[1]  the agent's pending set
//	KEYS[2…] the agent's sessions
//	ARGV[1]  TTL of the pending set, s
//	ARGV[2…] for each group: when it was shown, ms, plus 0.5; and the group
//
// The half millisecond marks the group as held: returning a page that had claimed it before leaves
// it in the pending set. Of two times the later one counts, and is then held.
//
// The pending set is changed first, because that needs memory: if Redis has none, nothing changes.
// ZADD gets at most 500 groups, because a Lua call takes a limited number of arguments.
var withdrawScript = redis.NewScript(partsLua + hitLua + strikeLua + `
for from = 2, #ARGV, 1000 do
  local to = math.min(from + 999, #ARGV)
  if redis.call('ZADD', KEYS[1], 'GT', 'CH', unpack(ARGV, from, to)) <= (to - from) / 2 then
    for i = from + 1, to, 2 do -- another server's clock may be ahead
      if redis.call('ZSCORE', KEYS[1], ARGV[i]) % 1 == 0 then redis.call('ZINCRBY', KEYS[1], 0.5, ARGV[i]) end
    end
  end
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
for k = 2, #KEYS do strike(KEYS[k], ARGV, 3, 2) end
return 0
`)

// Withdraw implements [cache.Withdrawer] in one round trip.
func (s *Sessions) Withdraw(ctx context.Context, agent string, groups []string, at time.Time) error {
	if len(groups) == 0 {
		return nil
	}
	held := strconv.FormatInt(at.UnixMilli(), 10) + ".5"
	args := make([]any, 0, 1+2*len(groups))
	args = append(args, seconds(rediskeys.PendingTTL(s.cfg.PendingTTL)))
	for i := range groups {
		args = append(args, &held, &groups[i])
	}
	keys := []string{s.keys.Pending(agent), s.keys.Session(agent, feed.ForYou), s.keys.Session(agent, feed.HomeFeed), s.keys.Session(agent, feed.AnyNamed)}
	return contractError("withdraw", withdrawScript.Run(ctx, s.writes, keys, args...).Err())
}
