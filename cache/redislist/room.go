package redislist

// roomLua ends a page step that Redis has no room for before it has changed
// anything. At maxmemory Redis refuses a command that may need memory only until
// a script has made its first write; LPOP and DEL need none, so the step would go
// on writing, beyond the limit and unnoticed. This ZADD may need memory
// and changes nothing: it updates a member that no set has.
//
// The pending set is KEYS[2].
const roomLua = `
redis.call('ZADD', KEYS[2], 'XX', 0, '')
`
