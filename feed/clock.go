package feed

import (
	"fmt"
	"time"
)

// Clock tells the time. It is a parameter wherever a day, a decay or a TTL
// matters, so that tests and replays choose their own now. [time.Now] is one.
type Clock func() time.Time

// MaxClockSkew is how far the clocks of those who send tokens or events may be ahead.
const MaxClockSkew = 30 * time.Second

// Day is a calendar day in UTC, counted from 1 January 1970.
type Day int32

const daySeconds = 24 * 60 * 60

// DayOf returns the UTC day that t falls in.
func DayOf(t time.Time) Day {
	s := t.Unix()
	d := s / daySeconds
	if s%daySeconds < 0 {
		d--
	}
	return Day(d)
}

// ParseDay reads a day written as YYYYMMDD.
func ParseDay(s string) (Day, error) {
	t, err := time.Parse("20060102", s)
	if err != nil {
		return 0, fmt.Errorf("a day is written YYYYMMDD, not %q", s)
	}
	return DayOf(t), nil
}

// Start is the first instant of the day.
func (d Day) Start() time.Time { return time.Unix(int64(d)*daySeconds, 0).UTC() }

// String writes the day as YYYYMMDD, as the keys of the daily filters do.
func (d Day) String() string { return d.Start().Format("20060102") }

// Window lists the days days that count for deduplication at now: today
// first, then the days before it.
func Window(now time.Time, days int) []Day {
	w := make([]Day, days)
	today := DayOf(now)
	for i := range w {
		w[i] = today - Day(i)
	}
	return w
}
