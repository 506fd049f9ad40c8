package redis

import "github.com/redis/go-redis/v9"

// A list is a sorted set of post ids, scored by the second of their creation. The first members
// are not entries; their score is -inf, and they contain a space, which ids do not:
//
//	!<state> <token> <version> <started>   the mark: b building, x building with
//	                                       cleared token, r ready; started in ms
//	$<at> <id>                             the floor; $ alone means none
//	~ <id>                                 an id removed during the build, to be
//	                                       excluded from the build's content
//
// Mark and floor are separate so that each is short enough for a listpack
// (zset-max-listpack-value 64). Both always exist, so that no set ever becomes empty: Redis would
// delete it, and its TTL with it.
//
// Each script has one key and is atomic. It may be sent twice, and its second copy may arrive
// late. KEYS[1] is the list in all of them.

// markLua reads and writes the mark and the floor.
//
// Strings are compared byte by byte: < depends on the locale of the server.
const markLua = `
local key = KEYS[1]
local function load()
  local first = redis.call('ZRANGE', key, 0, 1)
  if not first[1] then return nil end
  local m = {text = first[1], floor = first[2] or ''}
  m.state, m.token, m.version, m.started = string.match(m.text, '^!(%l) (%S+) (%S+) (%d+)$')
  if not m.state then error(key .. ' is no list: it has no mark', 0) end
  local at, id = string.match(m.floor, '^%$(%S+) (.*)$')
  m.at, m.id = tonumber(at), id
  return m
end
local function replace(old, new)
  if old == new then return end
  redis.call('ZADD', key, '-inf', new)
  if old then redis.call('ZREM', key, old) end
end
local function another(m, prefix) -- the server's time tells apart the copies of one call
  local t = redis.call('TIME')
  m.version = prefix .. string.format('%03d%06d', t[1] % 1000, t[2])
end
local function save(m)
  replace(m.text, '!' .. m.state .. ' ' .. m.token .. ' ' .. m.version .. ' ' .. m.started)
end
local function less(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end
local function above(at, id, m)
  if not m.at then return true end
  at = tonumber(at)
  return at > m.at or at == m.at and less(m.id, id)
end
local function each(list, from, f)
  for i = from, #list, 1000 do f(unpack(list, i, math.min(i + 999, #list))) end
end
`

// rankLua counts the members below a position, and with upto also the one at it. Within one second
// it uses a binary search, because the position need not be that of a member.
const rankLua = `
local function rank(at, id, upto)
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. at)
  local high = low + redis.call('ZCOUNT', key, at, at)
  while low < high do
    local mid = math.floor((low + high) / 2)
    local member = redis.call('ZRANGE', key, mid, mid)[1]
    if less(member, id) or upto and member == id then low = mid + 1 else high = mid end
  end
  return low
end
`

// writeLua adds and trims. Writes that need memory come first: at maxmemory Redis refuses a script
// at its first write, or not at all.
const writeLua = `
local function others(m) -- members that are no entries
  return m.state == 'r' and 2 or redis.call('ZCOUNT', key, '-inf', '-inf')
end
local function setfloor(m, at, id)
  local new = '$' .. at .. ' ' .. id
  replace(m.floor, new)
  m.floor, m.at, m.id = new, tonumber(at), id
end
local function put(m, from, gone)
  local adds = {}
  for i = from, #ARGV, 2 do
    local at, id = ARGV[i], ARGV[i + 1]
    if above(at, id, m) and not (gone and gone[id]) then
      adds[#adds + 1] = at
      adds[#adds + 1] = id
    end
  end
  each(adds, 1, function(...) redis.call('ZADD', key, ...) end)
  return #adds / 2
end
local function trim(m, cap)
  local first = others(m)
  local extra = redis.call('ZCARD', key) - first - cap
  if extra <= 0 then return false end
  extra = extra + math.floor(cap / 64) -- timeline.TrimMore
  local last = redis.call('ZRANGE', key, first + extra - 1, first + extra - 1, 'WITHSCORES')
  setfloor(m, last[2], last[1])
  redis.call('ZREMRANGEBYRANK', key, first, first + extra - 1)
  return true
end
`

// raiseLua raises the floor to a position and removes the entries at or below it.
const raiseLua = `
local function raise(m, at, id)
  if at == '' or not above(at, id, m) then return end
  setfloor(m, at, id)
  local first, past = others(m), rank(at, id, true)
  if past > first then redis.call('ZREMRANGEBYRANK', key, first, past - 1) end
end
`

// removeLua removes the ids ARGV[from…to] from the list.
const removeLua = `
local function remove(m, from, to)
  local ids, gone = {}, {}
  for i = from, to do
    ids[#ids + 1] = ARGV[i]
    if m.state == 'b' then
      gone[#gone + 1] = '-inf'
      gone[#gone + 1] = '~ ' .. ARGV[i]
    end
  end
  each(gone, 1, function(...) redis.call('ZADD', key, ...) end)
  each(ids, 1, function(...) redis.call('ZREM', key, ...) end)
end
`

// readScript reads a page and renews the TTL.
//
//	ARGV[1]  number of entries
//	ARGV[2]  the second of the position below which to read; empty to read from the newest
//	ARGV[3]  the id of that position
//	ARGV[4]  TTL, ms
//	reply    {} | {the mark} | {the mark, the floor, {id, at, …}}: one entry more than
//	         requested, and possibly members that are not entries
var readScript = redis.NewScript(markLua + rankLua + `
local m = load()
if not m then return {} end
if m.state ~= 'r' then return {m.text} end
redis.call('PEXPIRE', key, ARGV[4])
local from = 0
if ARGV[2] ~= '' then from = redis.call('ZCARD', key) - rank(ARGV[2], ARGV[3]) end
return {m.text, m.floor, redis.call('ZREVRANGE', key, from, from + ARGV[1], 'WITHSCORES')}
`)

// pushScript adds entries.
//
//	ARGV[1]  expected version of the list
//	ARGV[2]  cap
//	ARGV[3…] at and id of each entry in turn
//	reply    how many of the entries the list has; 0 if it has another version
var pushScript = redis.NewScript(markLua + writeLua + `
local m = load()
if not m or m.version ~= ARGV[1] then return 0 end
local held = put(m, 3)
if held > 0 and trim(m, tonumber(ARGV[2])) then
  held = 0
  for i = 3, #ARGV, 2 do
    if above(ARGV[i], ARGV[i + 1], m) then held = held + 1 end
  end
end
return held
`)

// removeScript removes ids.
//
//	ARGV[1]  prefix of the list's new version
//	ARGV[2…] the ids
//	reply    1, or 0 if there is no list
var removeScript = redis.NewScript(markLua + removeLua + `
local m = load()
if not m then return 0 end
another(m, ARGV[1])
save(m)
remove(m, 2, #ARGV)
return 1
`)

// replaceScript removes ids and adds others.
//
//	ARGV[1]  expected version of the list
//	ARGV[2]  its new version, unique to this call
//	ARGV[3]  cap
//	ARGV[4]  the second of the floor; empty for none
//	ARGV[5]  the id of the floor
//	ARGV[6]  number of ids to remove
//	ARGV[7…] these ids; then at and id of each entry in turn
//	reply    1, also if it was done before; 0 if the list has another version
var replaceScript = redis.NewScript(markLua + rankLua + writeLua + raiseLua + removeLua + `
local m = load()
if not m then return 0 end
if m.version == ARGV[2] then return 1 end
if m.version ~= ARGV[1] then return 0 end
local adds = 7 + ARGV[6]
m.version = ARGV[2]
save(m)
remove(m, 7, adds - 1)
raise(m, ARGV[4], ARGV[5])
put(m, adds)
trim(m, tonumber(ARGV[3]))
return 1
`)

// clearScript clears the token of a build, and gives the list a new version.
//
//	ARGV[1]  prefix of the version
//	reply    1, or 0 if there is no list
var clearScript = redis.NewScript(markLua + `
local m = load()
if not m then return 0 end
if m.state == 'b' then m.state = 'x' end
another(m, ARGV[1])
save(m)
return 1
`)

// beginScript begins a build.
//
//	ARGV[1]  prefix of the token, unique to this call
//	ARGV[2]  now, ms
//	ARGV[3]  age at which a build is taken over, ms
//	ARGV[4]  TTL of a list that is being built, ms
//	reply    the token, or the state: b or r
//
// The token ends with the server's time. Without it, a late copy of this script would create the
// list again with the same token, after the list has lost its pushed entries or its token was
// cleared, and the build would commit content that it had read before that.
var beginScript = redis.NewScript(markLua + `
local m = load()
if m then
  if m.state == 'r' then return 'r' end
  if m.state == 'b' then
    if string.sub(m.token, 1, #ARGV[1]) == ARGV[1] then return m.token end
    if ARGV[2] - m.started < tonumber(ARGV[3]) then return 'b' end
  end
  redis.call('DEL', key)
end
local t = redis.call('TIME')
local token = ARGV[1] .. string.format('%03d%06d', t[1] % 1000, t[2])
redis.call('ZADD', key, '-inf', '!b ' .. token .. ' ' .. token .. ' ' .. ARGV[2], '-inf', '$')
redis.call('PEXPIRE', key, ARGV[4])
return token
`)

// commitScript makes a list ready.
//
//	ARGV[1]  token
//	ARGV[2]  cap
//	ARGV[3]  TTL, ms
//	ARGV[4]  the second of the floor; empty for none
//	ARGV[5]  the id of the floor
//	ARGV[6…] at and id of each entry in turn
//	reply    1, also if it was done before; 0 if the token is not the list's
var commitScript = redis.NewScript(markLua + rankLua + writeLua + raiseLua + `
local m = load()
if not m or m.token ~= ARGV[1] or m.state == 'x' then return 0 end
if m.state == 'r' then return 1 end
local gone, marks = {}, redis.call('ZRANGEBYSCORE', key, '-inf', '-inf')
for i = 3, #marks do gone[string.sub(marks[i], 3)] = true end
m.state, m.started = 'r', 0
save(m)
each(marks, 3, function(...) redis.call('ZREM', key, ...) end)
raise(m, ARGV[4], ARGV[5])
put(m, 6, gone)
trim(m, tonumber(ARGV[2]))
redis.call('PEXPIRE', key, ARGV[3])
return 1
`)

// abandonScript deletes a list that is still being built.
//
//	ARGV[1]  token
//	reply    1, or 0 if there is no list, or it is ready or has another token
var abandonScript = redis.NewScript(markLua + `
local m = load()
if not m or m.state == 'r' or m.token ~= ARGV[1] then return 0 end
redis.call('DEL', key)
return 1
`)

// dropScript deletes a list.
//
//	reply    1, or 0 if there is none
var dropScript = redis.NewScript(`return redis.call('UNLINK', KEYS[1])`)
