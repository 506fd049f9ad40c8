package rediskeys

import (
	"fmt"
	"time"
)

// ClocksApart is more than the clocks of two servers may differ by, see docs/operations.md.
const ClocksApart = 6 * time.Minute

// CommonTime is a Lua function for scripts. It returns what has to be added to a server's time, in ms, so
// that the times of all servers agree: the difference to Redis's clock, or 0 if that is larger than
// [ClocksApart]; and the time of Redis's clock. The scores of pending sets are such times: what one server
// has just handed out is not old for another one whose clock is ahead.
var CommonTime = fmt.Sprintf(`
local function common(now)
  local t = redis.call('TIME')
  local clock = t[1] * 1000 + math.floor(t[2] / 1000)
  if math.abs(clock - now) > %d then return 0, clock end
  return clock - now, clock
end

local function moved(at, by) return string.format('%%.0f', at + by) end
`, ClocksApart.Milliseconds())

// Common returns what [CommonTime] returns first, for a time of Redis's clock in ms.
func Common(now time.Time, clock int64) time.Duration {
	apart := time.Duration(clock-now.UnixMilli()) * time.Millisecond
	if apart.Abs() > ClocksApart {
		return 0
	}
	return apart
}
