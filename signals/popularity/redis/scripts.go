package redis

import "github.com/redis/go-redis/v9"

// countScript counts the acts on one item atomically, as feed.Counts does.
//
// The score of an agent is the day of the act that was counted, its part of the day, and what was
// done: (at · 8 + kinds) / (86,400 · 8). kinds are the bits 1 for a click and 2 for a like, or 4 if
// the like was taken back at that time. It is 0 in whole days, which earlier versions have stored.
//
//	KEYS[1]  the item's counts
//	KEYS[2]  the agents who have acted on it
//	ARGV[1]  days that an agent is remembered
//	ARGV[2]  half-life of the first sum, seconds
//	ARGV[3]  half-life of the second sum
//	ARGV[4]  length of an epoch, half-lives
//	ARGV[5]  how much later the latest act may be, seconds
//	ARGV[6]  further half-lives whose sums are kept, as in "1h:3600 7d:604800"; others are dropped
//	ARGV[7…] acts: the agent's hash, Unix seconds, kind (1: click, 2: like, 4: unlike)
//	reply    1 if the counts have changed
var countScript = redis.NewScript(`
local click, like, unlike = 1, 2, 4
local c = redis.call('HMGET', KEYS[1], 'last', 'sum_2h', 'sum_2d', 'more')
local last, half = tonumber(c[1] or 0), {tonumber(ARGV[2]), tonumber(ARGV[3])}
local sums, length = {tonumber(c[2] or 0), tonumber(c[3] or 0)}, tonumber(ARGV[4])
local changed, remember, today = 0, tonumber(ARGV[1]), 0

-- Each further sum has its own latest act: a server that does not keep it leaves it behind.
local more = {}
for name, half in string.gmatch(ARGV[6], '(%w+):(%d+)') do
  local long = length * tonumber(half)
  local at, sum = string.match(c[4] or '', name .. ':(%d+):(%S+)')
  if not at or tonumber(at) > last then at, sum = last, 0 end
  more[#more + 1] = {name = name, half = tonumber(half), long = long, last = tonumber(at), sum = tonumber(sum)}
end

local function add(at)
  local before, ahead = last, last > at + tonumber(ARGV[5])
  if ahead then
    for k = 1, 2 do
      local long = length * half[k]
      sums[k] = sums[k] * 2 ^ ((at % long - last % long) / half[k])
    end
    last = at
  end
  for k = 1, 2 do
    local long = length * half[k]
    local epoch = math.floor(math.max(last, at) / long)
    sums[k] = sums[k] * 2 ^ (-length * (epoch - math.floor(last / long))) + 2 ^ ((at - epoch * long) / half[k])
  end
  last, changed = math.max(last, at), 1
  for _, m in ipairs(more) do
    if ahead then
      m.sum = m.sum * 2 ^ ((at % m.long - (before - math.floor(m.last / m.long) * m.long)) / m.half)
      m.last = at
    end
    local epoch = math.floor(last / m.long)
    m.sum = m.sum * 2 ^ (-length * (epoch - math.floor(m.last / m.long))) + 2 ^ ((at - epoch * m.long) / m.half)
    m.last = last
  end
end

local function subtract(at)
  if last == 0 then return end
  for k = 1, 2 do
    local long = length * half[k]
    sums[k] = math.max(0, sums[k] - 2 ^ ((math.min(at, last) - math.floor(last / long) * long) / half[k]))
  end
  for _, m in ipairs(more) do
    local term, epoch = math.min(at, last), math.floor(m.last / m.long)
    if math.floor(term / m.long) <= epoch then
      m.sum = math.max(0, m.sum - 2 ^ ((term - epoch * m.long) / m.half))
    end
  end
  changed = 1
end

for i = 7, #ARGV, 3 do
  local at, kind = math.max(tonumber(ARGV[i + 1]), 1), tonumber(ARGV[i + 2])
  local day = math.floor(at / 86400)
  local score = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[i]) or 0)
  local since, kinds = 0, unlike
  if math.floor(score) > day - remember then
    local packed = math.floor(score * 691200 + 0.5)
    since, kinds = math.floor(packed / 8), packed % 8
  end
  local from, done = since, kinds
  if kinds == 0 or (kinds == unlike and kind == like and at < since) then
  elseif kind == unlike and kinds == unlike then
    from = math.max(since, at)
  elseif kind == unlike and kinds == like then
    subtract(since)
    from, done = at, unlike
  elseif kind == unlike then
    done = click
  elseif kinds == unlike then
    add(at)
    from, done = at, kind
  elseif kinds ~= kind then
    done = click + like
  end
  if from ~= since or done ~= kinds then
    redis.call('ZADD', KEYS[2], string.format('%.17g', (from * 8 + done) / 691200), ARGV[i])
    today = math.max(today, day)
  end
end
if today > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. today - remember + 1)
  redis.call('EXPIRE', KEYS[2], remember * 86400)
end
if changed == 1 then
  redis.call('HSET', KEYS[1], 'last', string.format('%.0f', last), 'sum_2h', string.format('%.17g', sums[1]), 'sum_2d', string.format('%.17g', sums[2]))
  local texts = {}
  for _, m in ipairs(more) do
    if m.sum > 0 then texts[#texts + 1] = string.format('%s:%.0f:%.17g', m.name, m.last, m.sum) end
  end
  if #texts > 0 then
    redis.call('HSET', KEYS[1], 'more', table.concat(texts, ' '))
  elseif c[4] then
    redis.call('HDEL', KEYS[1], 'more')
  end
  redis.call('EXPIRE', KEYS[1], remember * 86400)
end
return changed
`)

// now computes the server's time in milliseconds, so that the clocks of Freshet's servers do not
// matter.
const now = `local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`

// changedScript marks items as changed. An item that a server has leased can then be taken again,
// because that server may have read its counts before the change.
//
//	KEYS[1]  the changed items
//	ARGV[1]  TTL, seconds
//	ARGV[2]  how long before they may be taken, ms
//	ARGV[3…] items
var changedScript = redis.NewScript(now + `
local from = string.format('%.0f', now + tonumber(ARGV[2]))
for i = 3, #ARGV do
  redis.call('ZADD', KEYS[1], 'LT', from, ARGV[i])
end
return redis.call('EXPIRE', KEYS[1], ARGV[1])
`)

// takeScript leases the items that have been marked as changed longest; items that are not done by
// the end of the lease can be taken again. One server takes at a time.
//
//	KEYS[1]  the changed items
//	KEYS[2]  the turn
//	ARGV[1]  maximum number of items
//	ARGV[2]  length of the lease, ms
//	ARGV[3]  how long no other server takes any, ms; 0 ignores turns
//	reply    number of changed items, end of the lease, the items
var takeScript = redis.NewScript(now + `
local waiting = redis.call('ZCARD', KEYS[1])
if ARGV[3] ~= '0' and not redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[3]) then
  return {waiting, '', {}}
end
local till = string.format('%.0f', now + tonumber(ARGV[2]))
local items = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])
for _, item in ipairs(items) do
  redis.call('ZADD', KEYS[1], till, item)
end
return {waiting, till, items}
`)

// doneScript removes items from the list that have not changed since they were taken.
//
//	KEYS[1]  the changed items
//	ARGV[1]  end of their lease
//	ARGV[2…] items
var doneScript = redis.NewScript(`
for i = 2, #ARGV do
  local score = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if score and tonumber(score) == tonumber(ARGV[1]) then
    redis.call('ZREM', KEYS[1], ARGV[i])
  end
end
return 1
`)
