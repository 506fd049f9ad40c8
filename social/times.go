package social

import (
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
)

// Stamp returns the value that orders changes by time: Unix microseconds. The zero time, which
// means a change made here, is 0.
func Stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// CheckTime checks the time of a change: zero, or an event's that is at most [feed.MaxClockSkew]
// ahead of now, since the sender's clock may be ahead. Such a time still orders the changes of one
// thing. The error wraps [feed.ErrInvalid].
func CheckTime(at, now time.Time) error {
	switch {
	case at.IsZero():
		return nil
	case at.UnixMicro() < 1:
		return fmt.Errorf("%w: the time of an event must be after 1970, not %s", feed.ErrInvalid, at.UTC().Format(time.RFC3339Nano))
	case at.After(now.Add(feed.MaxClockSkew)):
		return fmt.Errorf("%w: the time of an event, %s, is more than %s ahead of this server's clock, %s; check both clocks and the unit of the time",
			feed.ErrInvalid, at.UTC().Format(time.RFC3339Nano), feed.MaxClockSkew, now.UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// ChangeTime returns the stamp to store for a change: an event's own or, for a change made here,
// now, but later than the stored one.
func ChangeTime(at, now time.Time, kept int64) int64 {
	if at.IsZero() {
		return max(Stamp(now), kept+1)
	}
	return Stamp(at)
}

// Supersedes reports whether a change to on (exists) or off (removed), at a stamp, supersedes the
// stored state. Something never stored is off at 0.
func Supersedes(on bool, at int64, keptOn bool, keptAt int64) bool {
	removes := keptOn && !on
	return at > keptAt || at == keptAt && removes
}
