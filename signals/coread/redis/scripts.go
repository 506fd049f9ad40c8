package redis

import "github.com/redis/go-redis/v9"

// actedScript notes who has acted on an item.
//
//	KEYS[1]  those who have
//	ARGV[1]  seconds until the item is no longer young
//	ARGV[2…] hashes of agents and the item
//	reply    for each 1 if it is new, else 0
var actedScript = redis.NewScript(`
local new = {}
for i = 2, #ARGV do
  new[i - 1] = redis.call('SADD', KEYS[1], ARGV[i])
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return new
`)

// raiseScript adds shares to the entries of a list, drops entries that have ended and, if there are
// too many, those of the lowest strength, as coread.Strength computes it. The client sends a command
// again if its reply was lost: the first line of the list has the number of the last batch of each of
// the last servers that have written to it, and a batch that it has is not added.
//
//	KEYS[1]  the list
//	ARGV[1]  now, Unix seconds
//	ARGV[2]  how long items are young, seconds
//	ARGV[3]  the half-life of strengths, seconds
//	ARGV[4]  maximum number of entries
//	ARGV[5]  the server
//	ARGV[6]  the number of its batch
//	ARGV[7…] shares: item, share, update time of the item
var raiseScript = redis.NewScript(`
local now, window, half, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local list, at, last = {}, {}, 0
local old = redis.call('GET', KEYS[1]) or ''
local senders = {ARGV[5] .. '=' .. ARGV[6]}
for sender, number in string.gmatch(string.match(old, '^[^\n]*'), '(%w+)=(%d+)') do
  if sender == ARGV[5] then
    if tonumber(number) >= tonumber(ARGV[6]) then return 0 end
  elseif #senders < 8 then
    senders[#senders + 1] = sender .. '=' .. number
  end
end
local function add(item, sum, people, dated)
  if dated + window <= now then return end
  if not at[item] then
    list[#list + 1] = {item, 0, 0, dated}
    at[item] = #list
  end
  local e = list[at[item]]
  e[2], e[3], e[4] = e[2] + sum, e[3] + people, dated
end
for item, sum, people, dated in string.gmatch(old, '([^\t\n]+)\t([^\t\n]+)\t([^\t\n]+)\t([^\t\n]+)') do
  add(item, tonumber(sum), tonumber(people), tonumber(dated))
end
for i = 7, #ARGV, 3 do
  add(ARGV[i], tonumber(ARGV[i + 1]), 1, tonumber(ARGV[i + 2]))
  if #list > most then
    local lowest, least = 0, math.huge
    for k, e in ipairs(list) do
      local strength = math.log(e[2]) / math.log(2) + e[4] / half
      if strength < least then lowest, least = k, strength end
    end
    table.remove(list, lowest)
    at = {}
    for k, e in ipairs(list) do at[e[1]] = k end
  end
end
if #list == 0 then return redis.call('DEL', KEYS[1]) end
local lines = {table.concat(senders, ',')}
for k, e in ipairs(list) do
  lines[k + 1] = e[1] .. '\t' .. string.format('%.7g\t%d\t%d', e[2], e[3], e[4])
  last = math.max(last, e[4])
end
return redis.call('SET', KEYS[1], table.concat(lines, '\n'), 'EX', last + window - now)
`)

// countScript counts readers of items, each batch of a server once.
//
//	KEYS[1]  the numbers of readers
//	KEYS[2]  the last batch of each server
//	ARGV[1]  the server
//	ARGV[2]  the number of its batch
//	ARGV[3…] items, each with a number
var countScript = redis.NewScript(`
if tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or 0) >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[2], 86400)
for i = 3, #ARGV, 2 do
  redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1])
end
return 1
`)

// dropScript removes members of a sorted set whose scores are at most a limit.
//
//	KEYS[1]  the set
//	ARGV[1]  the limit
//	ARGV[2…] members
//	reply    those that it has removed
var dropScript = redis.NewScript(`
local dropped = {}
for i = 2, #ARGV do
  local score = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if score and tonumber(score) <= tonumber(ARGV[1]) then
    redis.call('ZREM', KEYS[1], ARGV[i])
    dropped[#dropped + 1] = ARGV[i]
  end
end
return dropped
`)
