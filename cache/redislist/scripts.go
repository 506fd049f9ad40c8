package redislist

// The scripts are put together from these functions.

// keysLua lists what refs first to last are remembered by in the pending set:
// the group of each and, where it differs, its id; and for each of these keys
// the number of its ref. A third part, the source, is not remembered.
const keysLua = `
local function keysof(refs, first, last)
  local keys, of = {}, {}
  for i = first, last do
    local ref = refs[i]
    local bar = string.find(ref, '|', 1, true)
    if bar then
      keys[#keys + 1], of[#of + 1] = string.sub(ref, 1, bar - 1), i
      ref = string.sub(ref, bar + 1)
      bar = string.find(ref, '|', 1, true)
      if bar then ref = string.sub(ref, 1, bar - 1) end
    end
    if ref ~= '' then keys[#keys + 1], of[#of + 1] = ref, i end
  end
  return keys, of
end
`

// pendingLua reports for each ref whether it is pending: one of its keys is in
// the set KEYS[2] with a score above expired. ZMSCORE is given at most 1,000
// members at once, since a Lua call takes only so many arguments.
const pendingLua = `
local function pending(refs, expired)
  local held = {}
  for from = 1, #refs, 500 do
    local keys, of = keysof(refs, from, math.min(from + 499, #refs))
    local scores = redis.call('ZMSCORE', KEYS[2], unpack(keys))
    for i = 1, #keys do
      if scores[i] and tonumber(scores[i]) > expired then held[of[i]] = true end
    end
  end
  return held
end
`

// claimLua puts a page into the pending set KEYS[2].
const claimLua = `
local function claim(page, now, ttl)
  for from = 1, #page, 250 do
    local adds = {}
    for _, key in ipairs(keysof(page, from, math.min(from + 249, #page))) do
      adds[#adds + 1], adds[#adds + 2] = now, key
    end
    redis.call('ZADD', KEYS[2], unpack(adds))
  end
  if #page > 0 then redis.call('EXPIRE', KEYS[2], ttl) end
end
`

// strikeLua takes what was handed out, a set of groups and ids, out of a session,
// where it is under its group or its id, and answers how many refs that were. What
// is struck is overwritten and then removed in one pass: that needs no memory, and
// the session keeps its TTL.
const strikeLua = `
local function strike(session, out)
  local refs, gone = redis.call('LRANGE', session, 0, -1), 0
  for i = 1, #refs do
    local ref = refs[i]
    local hit = out[ref]
    if not hit then
      local bar = string.find(ref, '|', 1, true)
      if bar then
        local group, id = string.match(ref, '^([^|]*)|([^|]*)') -- what follows is the source
        hit = out[group] or out[id]
      end
    end
    if hit then
      redis.call('LSET', session, i - 1, '')
      gone = gone + 1
    end
  end
  if gone > 0 then redis.call('LREM', session, 0, '') end
  return gone
end

local function setof(list, first)
  local set = {}
  for i = first, #list do set[list[i]] = true end
  return set
end
`

// A call's record is text, words with a blank between them:
//
//	<action> <limit> <owner> <1 or 0 for has_more> ~<step> <ref…> ~<step> <ref…>
//
// or "x" where the call was abandoned before its first step came. Before it stands a word of
// "!" and the other calls that it was answered to, with commas: owner, "=", and how many of
// the steps. What the call has restored of these since has a "^" before it, what another one
// may have delivered a "+". A page travels as a record of one step. No word can hold a
// blank, no ref one of these signs.

// recordLua reads and writes records.
const recordLua = `
local function load(key)
  local text = redis.call('GET', key)
  if not text or text == 'x' then return text end
  local others, rest = string.match(text, '^!(%S*) (.*)$')
  local head, owner, more, steps = string.match(rest or text, '^(%S+ %S+) (%S+) ([01])( ~.*)$')
  if not head then return false end
  local r = {text = text, head = head, owner = owner, more = more, steps = steps, others = {}}
  for other, count in string.gmatch(others or '', '(%w+)=(%d+)') do
    r.others[#r.others + 1] = {owner = other, count = tonumber(count)}
  end
  return r
end

local function save(call, key, r, ...)
  local others = {}
  for i = 1, #r.others do others[i] = r.others[i].owner .. '=' .. r.others[i].count end
  local before = #others > 0 and '!' .. table.concat(others, ',') .. ' ' or ''
  call('SET', key, before .. r.head .. ' ' .. r.owner .. ' ' .. r.more .. r.steps, ...)
end

local function indexof(others, owner)
  for i = 1, #others do
    if others[i].owner == owner then return i end
  end
end
`

// answerLua answers a step from the record of its call, if that has it. It notes in the
// record which other call it is answered to, so that the first call, should it
// fail yet, does not give the page back alone. It writes the mark each time: the first
// try may have failed because replicas did not have the record, and waiting for
// them now needs a write to wait for.
const answerLua = `
local function recorded(key, owner, step)
  if not key then return end
  local r = load(key)
  if not r then return end
  if r == 'x' then return {'void', ''} end
  if step ~= '0' and not string.find(r.steps .. ' ', ' ~' .. step .. ' ', 1, true) then return end
  if r.owner ~= owner then
    local _, count = string.gsub(r.steps, '~', '')
    r.others[indexof(r.others, owner) or #r.others + 1] = {owner = owner, count = count}
    save(redis.pcall, key, r, 'KEEPTTL') -- a server that is full can still answer
  end
  return {'old', r.text}
end
`

// rememberLua writes what a step handed out as the text of a page and adds it to
// the record, where there is one to keep. A step after the first that handed
// out nothing changes only has_more.
const rememberLua = `
local function remember(key, head, owner, step, ttl, page, more)
  local refs = #page > 0 and ' ' .. table.concat(page, ' ') or ''
  local text = head .. ' ' .. owner .. ' ' .. more .. ' ~' .. step .. refs
  if not key then return text end
  local r = step ~= '0' and load(key)
  if r and r ~= 'x' then
    r.more = more
    if #page > 0 then r.steps = r.steps .. ' ~' .. step .. refs end
    save(redis.call, key, r, 'EX', ttl)
  elseif step == '0' or #page > 0 then
    redis.call('SET', key, text, 'EX', ttl)
  end
  return text
end
`
