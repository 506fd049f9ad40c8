package redislist

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// The scripts are assembled from these functions.

// partsLua takes a ref apart: its group, its id or nil if that is the group, its marks, and the scope
// of the named feed that it belongs to.
var partsLua = strings.NewReplacer("$mark", feed.GivenMark, "$scope", feed.ScopeMark).Replace(`
local find, sub, byte, match = string.find, string.sub, string.byte, string.match -- called for each ref of a session: local names are faster
local separator = byte('|')

local function parts(ref)
  local bar = find(ref, '|', 1, true)
  if not bar then return ref end
  local last = find(ref, '|', bar + 1, true)
  local id = byte(ref, bar + 1) ~= separator and sub(ref, bar + 1, (last or #ref + 1) - 1) or nil
  if not last then return sub(ref, 1, bar - 1), id end
  return sub(ref, 1, bar - 1), id, sub(ref, last + 1), match(ref, '$scope%w+', last + 1)
end

local function scoped(scope, key) return '$mark' .. scope .. '$mark' .. key end
`)

// keysLua lists the keys of refs first to last in the pending set, as [feed.Ref.AppendTakenKeys] lists
// them: the group of each and, if it differs, its id; and for each key the index of its ref.
const keysLua = `
local function keysof(refs, first, last)
  local keys, of, n = {}, {}, 0
  for i = first, last do
    local group, id, marks, scope = parts(refs[i])
    if scope then
      n = n + 1
      keys[n], of[n] = scoped(scope, group), i
      if id then
        n = n + 1
        keys[n], of[n] = scoped(scope, id), i
      end
    end
    if not scope or not find(marks, 's', 1, true) then
      n = n + 1
      keys[n], of[n] = group, i
      if id then
        n = n + 1
        keys[n], of[n] = id, i
      end
    end
  end
  return keys, of
end
`

// hitLua tells whether one of the keys that keysLua lists for a ref is in a set of keys.
const hitLua = `
local function hit(ref, keys)
  if keys[ref] then return true end
  if not find(ref, '|', 1, true) then return false end
  local group, id, marks, scope = parts(ref)
  if scope then
    if keys[scoped(scope, group)] or id and keys[scoped(scope, id)] then return true end
    if find(marks, 's', 1, true) then return false end
  end
  return keys[group] or id and keys[id] or false
end

local function setof(list, first, step)
  local set = {}
  for i = first, #list, step or 1 do set[list[i]] = true end
  return set
end
`

// unheldLua moves refs to a list, except those that are pending: one of their keys is in the set
// KEYS[2], which has count members, with a score above expired. A set that is not much larger than
// the list is read whole: in a listpack, looking up one member reads half the set. ZMSCORE gets at
// most 1,000 members at once, because a Lua call takes a limited number of arguments.
const unheldLua = `
local function unheld(refs, count, expired, list)
  if count == 0 then
    for i = 1, #refs do list[#list + 1] = refs[i] end
  elseif count <= 2 * #refs then
    local held = setof(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. expired, '+inf'), 1)
    for i = 1, #refs do
      if not hit(refs[i], held) then list[#list + 1] = refs[i] end
    end
  else
    local oldest, held = tonumber(expired), {}
    for from = 1, #refs, 500 do
      local keys, of = keysof(refs, from, math.min(from + 499, #refs))
      local scores = redis.call('ZMSCORE', KEYS[2], unpack(keys))
      for i = 1, #keys do
        if scores[i] and tonumber(scores[i]) > oldest then held[of[i]] = true end
      end
    end
    for i = 1, #refs do
      if not held[i] then list[#list + 1] = refs[i] end
    end
  end
end
`

// claimedLua lists the keys that refs first to last have in the pending set once they are handed
// out, as [feed.ClaimKeys] lists them: plain, their own keys and those of the sources that gave them
// out; scoped, those of a named feed; and again, own keys of refs that a named feed shows again.
var claimedLua = func() string {
	var letters strings.Builder
	for _, s := range feed.GivenSources {
		letters.WriteByte(byte(s))
	}
	return strings.NewReplacer("$mark", feed.GivenMark, "$sources", letters.String(), "$post", feed.PostPrefix, "$scope", feed.ScopeMark).Replace(`
local function claimed(refs, first, last)
  local plain, n, of_scope, again = {}, 0, {}, {}
  for i = first, last do
    local group, id, marks, scope = parts(refs[i])
    if scope then
      local own = find(marks, 's', 1, true) and again or plain
      own[#own + 1] = group
      if id then own[#own + 1] = id end
      of_scope[#of_scope + 1] = scoped(scope, group)
      if id then of_scope[#of_scope + 1] = scoped(scope, id) end
      of_scope[#of_scope + 1] = scoped('$scope', group)
      n = #plain
    else
      local source = marks and match(marks, '[$sources]')
      n = n + 1
      plain[n] = group
      if id then
        n = n + 1
        plain[n] = id
      end
      if source then
        n = n + 1
        plain[n] = '$mark' .. source .. '$mark' .. group
      elseif find(id or group, '^$post') then
        n = n + 1
        plain[n] = '$mark' .. (id or group)
      end
    end
  end
  return plain, of_scope, again
end
`)
}()

// claimLua adds a page to the pending set KEYS[2] and removes it from the agent's other sessions: from
// first, and from second if that may exist. What a named feed shows again may be pending as shown by
// another feed: it is held from then on, so that giving either page back leaves it.
const claimLua = `
local function add(keys, score, option)
  local adds = {}
  for i = 1, #keys do adds[2 * i - 1], adds[2 * i] = score, keys[i] end
  if #keys == 0 then return end
  if option then redis.call('ZADD', KEYS[2], option, unpack(adds)) else redis.call('ZADD', KEYS[2], unpack(adds)) end
end

local function claim(page, now, ttl, first, second)
  for from = 1, #page, 250 do
    local plain, of_scope, again = claimed(page, from, math.min(from + 249, #page))
    add(plain, now)
    add(of_scope, now)
    add(again, now .. '.5', 'XX')
    add(again, now, 'NX')
    for i = 1, #again do plain[#plain + 1] = again[i] end
    strike(first, plain, 1, 1)
    if second then strike(second, plain, 1, 1) end
  end
  if #page > 0 then redis.call('EXPIRE', KEYS[2], ttl) end
end
`

// begunLua tells whether a session has refs of the named feed with that scope.
const begunLua = `
local function begun(session, scope)
  local head = redis.call('LRANGE', session, 0, 0)[1]
  if not head then return false end
  local _, _, _, of = parts(head)
  return of == scope
end
`

// strikeLua removes refs with a group or id in a list from a session; the keys are every step-th
// value from the first on. The refs are overwritten and then removed in one pass: that needs no
// memory, and the session keeps its TTL.
const strikeLua = `
local function strike(session, list, first, step)
  local refs, gone = redis.call('LRANGE', session, 0, -1), false
  if #refs == 0 then return end
  local out = setof(list, first, step)
  for i = 1, #refs do
    if hit(refs[i], out) then
      redis.call('LSET', session, i - 1, '')
      gone = true
    end
  end
  if gone then redis.call('LREM', session, 0, '') end
end
`

// letGoLua removes the keys of a ref from a pending set, unless one of them is held: then it leaves
// all of them. It returns whether any was removed. The keys of a named feed are removed in any case;
// for a ref that the feed shows again, they decide.
const letGoLua = `
local function remove(set, keys)
  local scores = redis.call('ZMSCORE', set, unpack(keys))
  for i = 1, #scores do
    if scores[i] and tonumber(scores[i]) % 1 ~= 0 then return false end
  end
  return redis.call('ZREM', set, unpack(keys)) > 0
end

local function letgo(set, ref)
  local plain, of_scope, again = claimed({ref}, 1, 1)
  if #of_scope == 0 then return remove(set, plain) end
  if not remove(set, of_scope) then return false end
  if #again == 0 then return remove(set, plain) end
  remove(set, again)
  return true
end
`

// A call's record is text, consisting of words separated by spaces:
//
//	<action> <limit> <owner> <1 or 0 for has_more> ~<step> <ref…> ~<step> <ref…>
//
// or "x" if the call was abandoned before its first step came. A "!" after the owner means that the
// call contains the agent's first refresh; older servers read it as a part of the owner. If the
// record was returned to other calls, it is preceded by a word that consists of "!" and their
// owners, separated by commas. A ref that is not held by the record's owner alone is preceded by
// "^", a number and "^". The number has a bit for each call that holds the ref: 1 for the owner, 2
// for the first other call, 4 for the second and so on, and one for all beyond [cache.MaxCalls],
// which none of them can remove. A page is encoded as a record of one step. No word can contain a
// space, and no ref one of these signs.

// recordLua reads and writes records, and changes which calls hold their refs.
var recordLua = strings.NewReplacer("$calls", strconv.Itoa(cache.MaxCalls), "$beyond", strconv.Itoa(1<<cache.MaxCalls)).Replace(`
local function load(key)
  local text = redis.call('GET', key)
  if not text or text == 'x' then return text end
  local others, rest = string.match(text, '^!(%S*) (.*)$')
  local head, owner, first, more, steps = string.match(rest or text, '^(%S+ %S+) (%S-)(!?) ([01])( ~.*)$')
  if not head then return false end
  local r = {text = text, head = head, calls = {owner}, more = more, first = first, steps = steps}
  for other in string.gmatch(others or '', '[^,]+') do r.calls[#r.calls + 1] = other end
  return r
end

local function write(key, r, ...)
  local others = #r.calls > 1 and '!' .. table.concat(r.calls, ',', 2) .. ' ' or ''
  redis.call('SET', key, others .. r.head .. ' ' .. r.calls[1] .. r.first .. ' ' .. r.more .. r.steps, ...)
end

local function bitof(r, owner)
  for i = 1, #r.calls do
    if r.calls[i] == owner then return bit.lshift(1, i - 1) end
  end
end

local function join(r, owner)
  if not bitof(r, owner) and #r.calls < $calls then r.calls[#r.calls + 1] = owner end
  return bitof(r, owner) or $beyond
end

local function split(r)
  local words, step = {}, nil
  for word in string.gmatch(r.steps, '%S+') do
    local number = string.match(word, '^~(%d+)$')
    if number then
      step = number
      words[#words + 1] = {step = step, text = word}
    else
      local held, ref = string.match(word, '^%^(%d+)%^(.*)$')
      words[#words + 1] = {step = step, ref = ref or word, held = tonumber(held) or 1}
    end
  end
  return words
end

local function marked(ref, held) return held == 1 and ref or '^' .. held .. '^' .. ref end

local function joined(words)
  local list = {}
  for i = 1, #words do list[i] = words[i].text or marked(words[i].ref, words[i].held) end
  return ' ' .. table.concat(list, ' ')
end

local everyone = bit.bnot(0) -- all calls

local function hold(w, calls) w.held = bit.bor(w.held, calls) end

-- release ends the hold of calls on the refs that match. It returns the refs that are then unheld,
-- and the other words of the record.
local function release(r, calls, matches)
  local free, left = {}, {}
  for _, w in ipairs(split(r)) do
    if w.ref and matches(w) then w.held = bit.band(w.held, bit.bnot(calls)) end
    if w.held == 0 then free[#free + 1] = w.ref else left[#left + 1] = w end
  end
  return free, left
end
`)

// touchLua extends the TTL of a record. It is the first write of its scripts and needs no memory:
// at maxmemory Redis allows the writes that follow it.
var touchLua = fmt.Sprintf(`
local function touch(key) redis.call('PEXPIRE', key, math.max(redis.call('PTTL', key), %d)) end
`, cache.AnsweredTTL.Milliseconds())

// answerLua answers a step from the record of its call, if the record has that step, and records
// that this call now holds the refs too. It writes every time: the first attempt may have failed
// because replicas did not have the record, and waiting for replicas requires a write. Without a
// record, one of another feed under the same request id is a conflict. Each session has a key of its
// own, as in 0.1.0, whose servers may share this Redis.
const answerLua = `
local function recorded(at, head, owner, step)
  local key = KEYS[at]
  if not key then return end
  local r = load(key)
  if not r then
    if KEYS[at + 1] and redis.call('EXISTS', KEYS[at + 1], KEYS[at + 2]) > 0 then return {'other', ''} end
    return
  end
  if r == 'x' then return {'void', ''} end
  if step ~= '0' and not string.find(r.steps .. ' ', ' ~' .. step .. ' ', 1, true) then return end
  if r.head ~= head then return {'old', r.text} end -- which is a conflict
  touch(key)
  local mine, words = join(r, owner), split(r)
  for _, w in ipairs(words) do
    if w.ref and (step == '0' or w.step == step) then hold(w, mine) end
  end
  r.steps = joined(words)
  write(key, r, 'KEEPTTL')
  return {'old', r.text}
end
`

// rememberLua writes the refs that a step handed out as the text of a page and adds it to the
// call's record, which it creates if necessary; a call without a record key has none. A step after
// the first that handed out nothing changes only has_more. The reply is that of the page step.
const rememberLua = `
local function remember(key, head, owner, step, ttl, page, more, first)
  local refs = #page > 0 and ' ' .. table.concat(page, ' ') or ''
  local text = head .. ' ' .. owner .. (first and '!' or '') .. ' ' .. more .. ' ~' .. step .. refs
  if not key then return {'new', text} end
  local r = step ~= '0' and load(key)
  if r and r ~= 'x' then
    r.more = more
    if #page > 0 then
      local mine = join(r, owner)
      r.steps = r.steps .. ' ~' .. step
      for i = 1, #page do r.steps = r.steps .. ' ' .. marked(page[i], mine) end
    end
    write(key, r, 'EX', ttl)
    return {#r.calls > 1 and 'shared' or 'new', text}
  elseif step == '0' or #page > 0 then
    redis.call('SET', key, text, 'EX', ttl)
  end
  return {'new', text}
end
`

// roomLua fails a page step before it has changed anything if Redis is out of memory. At maxmemory
// Redis refuses a command that may need memory only until a script has made its first write; LPOP
// and DEL need none, so the step would continue to write beyond the limit, unnoticed. This ZADD may
// need memory and changes nothing: it adds 0 to the score of a member, if the set has it. That member
// marks that the agent may have a session of a named feed, which costs the steps of the other feeds
// no command as long as there is none.
//
// The pending set is KEYS[2].
var roomLua = `
local named = redis.call('ZADD', KEYS[2], 'XX', 'INCR', 0, '` + namedMarker + `')
`

// namedMarker is the member of a pending set that marks that the agent may have a session of a named
// feed. Its score is when that session ends at the latest, ms: it is removed like a page that was not
// recorded, after a minute more.
const namedMarker = feed.GivenMark + "named"
