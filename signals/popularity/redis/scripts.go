package redis

import "github.com/redis/go-redis/v9"

// countScript counts the acts on one item atomically, as feed.Counts.Add does.
//
//	KEYS[1]  the item's counts
//	KEYS[2]  the agents who have acted on it
//	ARGV[1]  days that an agent is remembered
//	ARGV[2]  half-life of the first sum, seconds
//	ARGV[3]  half-life of the second sum
//	ARGV[4]  length of an epoch, half-lives
//	ARGV[5]  how much later the latest act may be, seconds
//	ARGV[6…] acts: the agent's hash, Unix seconds
//	reply    1 if any of them is new
var countScript = redis.NewScript(`
local c = redis.call('HMGET', KEYS[1], 'last', 'sum_2h', 'sum_2d')
local last, half = tonumber(c[1] or 0), {tonumber(ARGV[2]), tonumber(ARGV[3])}
local sums, length = {tonumber(c[2] or 0), tonumber(c[3] or 0)}, tonumber(ARGV[4])
local new, remember, today = 0, tonumber(ARGV[1]), 0
for i = 6, #ARGV, 2 do
  local at = math.max(tonumber(ARGV[i + 1]), 1)
  local day = math.floor(at / 86400)
  local known = redis.call('ZSCORE', KEYS[2], ARGV[i])
  if not known or tonumber(known) <= day - remember then
    redis.call('ZADD', KEYS[2], day, ARGV[i])
    if last > at + tonumber(ARGV[5]) then
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
    last, new, today = math.max(last, at), 1, math.max(today, day)
  end
end
if new == 1 then
  redis.call('HSET', KEYS[1], 'last', string.format('%.0f', last), 'sum_2h', string.format('%.17g', sums[1]), 'sum_2d', string.format('%.17g', sums[2]))
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', today - remember)
  redis.call('EXPIRE', KEYS[1], remember * 86400)
  redis.call('EXPIRE', KEYS[2], remember * 86400)
end
return new
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
