package redislist

// The scripts are put together from these functions.

// groupLua takes the group out of a ref.
const groupLua = `
local function group(ref)
  local bar = string.find(ref, '|', 1, true)
  return bar and string.sub(ref, 1, bar - 1) or ref
end
`

// pendingLua tells for each ref whether its group is pending: present in the
// set KEYS[2] with a score above expired. ZMSCORE is given at most 1,000
// members at once, since a Lua call takes only so many arguments.
const pendingLua = `
local function pending(refs, expired)
  local held = {}
  for from = 1, #refs, 1000 do
    local groups = {}
    for i = from, math.min(from + 999, #refs) do groups[#groups + 1] = group(refs[i]) end
    local scores = redis.call('ZMSCORE', KEYS[2], unpack(groups))
    for i = 1, #groups do
      held[from + i - 1] = scores[i] and tonumber(scores[i]) > expired
    end
  end
  return held
end
`

// claimLua puts a page into the pending set KEYS[2].
const claimLua = `
local function claim(page, now, ttl)
  for from = 1, #page, 500 do
    local adds = {}
    for i = from, math.min(from + 499, #page) do
      adds[#adds + 1] = now
      adds[#adds + 1] = group(page[i])
    end
    redis.call('ZADD', KEYS[2], unpack(adds))
  end
  if #page > 0 then redis.call('EXPIRE', KEYS[2], ttl) end
end
`

// rememberLua writes a page as text and, where there is a record key, stores
// it under it. A further step of the same call adds to what is stored.
const rememberLua = `
local function remember(record, head, extend, ttl, page, more)
  local refs = #page > 0 and ' ' .. table.concat(page, ' ') or ''
  local text = head .. ' ' .. more .. refs
  if not record then return text end
  local whole = text
  if extend then
    local before = redis.call('GET', record)
    if before then
      local first, listed = string.match(before, '^(%S+ %S+) [01](.*)$')
      whole = first .. ' ' .. more .. listed .. refs
    elseif #page == 0 then
      return text
    end
  end
  redis.call('SET', record, whole, 'EX', ttl)
  return text
end
`

// keptLua reads a retry record and marks it with a "!" as answered again, so
// that the first try, should it fail yet, does not give the page back. It
// writes each time: the first try may have failed because replicas did not have
// the record, and waiting for them now needs a write to wait for.
const keptLua = `
local function kept(record)
  local text = redis.call('GET', record)
  if not text then return text end
  if string.sub(text, 1, 1) == '!' then text = string.sub(text, 2) end
  redis.call('SET', record, '!' .. text, 'KEEPTTL')
  return text
end
`
