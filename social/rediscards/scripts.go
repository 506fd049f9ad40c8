package rediscards

import "github.com/redis/go-redis/v9"

// writeScript puts a card or a tombstone in its post's place, unless what is there
// is newer. At one version a tombstone holds: the post may be gone for a reason
// that raises no version, such as that its author is being erased.
//
// The version, and that something is a tombstone, are the first fields of the
// JSON, so they are read without the rest.
//
//	KEYS[1]  the post's key
//	ARGV[1]  its version
//	ARGV[2]  1 for a tombstone, else 0
//	ARGV[3]  the value
//	ARGV[4]  its TTL, ms
//	reply    1 if it was written, else 0
var writeScript = redis.NewScript(`
local there = redis.call('GETRANGE', KEYS[1], 0, 63)
local version = tonumber(string.match(there, '^{"v":(%d+)'))
if version then
  local new = tonumber(ARGV[1])
  local gone = string.find(there, '^{"v":%d+,"gone":true')
  if new < version or new == version and gone and ARGV[2] == '0' then return 0 end
end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1
`)
