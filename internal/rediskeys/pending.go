package rediskeys

// HoldLua puts groups into the pending set key that were shown by something else
// than a page of a session: groups[first] to groups[last], at a time in ms. The
// half millisecond in their scores says that they are held: a page that had
// claimed them before and is given back leaves them there. Of two times the later
// one stays. ZADD and ZMSCORE are given so few members at once because a Lua call
// takes only so many arguments.
const HoldLua = `
local function hold(key, groups, first, last, at)
  for from = first, last, 500 do
    local to, adds = math.min(from + 499, last), {}
    local scores = redis.call('ZMSCORE', key, unpack(groups, from, to))
    for i = 1, #scores do
      local served = math.max(math.floor(tonumber(scores[i] or 0)), at)
      adds[2 * i - 1], adds[2 * i] = string.format('%.1f', served + 0.5), groups[from + i - 1]
    end
    redis.call('ZADD', key, unpack(adds))
  end
end
`

// LetGoLua takes groups[first] to groups[last] out of the pending set key, unless
// one of them is held: then it leaves all of them. It answers whether any was taken
// out. They are at most 1,000.
const LetGoLua = `
local function letgo(key, groups, first, last)
  local scores = redis.call('ZMSCORE', key, unpack(groups, first, last))
  for i = 1, #scores do
    if scores[i] and tonumber(scores[i]) % 1 ~= 0 then return false end
  end
  return redis.call('ZREM', key, unpack(groups, first, last)) > 0
end
`
