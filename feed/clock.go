package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Clock returns the current time. It is a parameter wherever a day, a decay or a TTL matters, so
// that tests and replays can set the time. [time.Now] is a Clock.
type Clock func() time.Time

// MaxClockSkew is how far ahead the clocks of senders of tokens or events may be.
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
		return 0, fmt.Errorf("a day must be in the format YYYYMMDD, not %q", s)
	}
	return DayOf(t), nil
}

// Start returns the first instant of the day.
func (d Day) Start() time.Time { return time.Unix(int64(d)*daySeconds, 0).UTC() }

// String formats the day as YYYYMMDD, like the keys of the daily filters.
func (d Day) String() string { return d.Start().Format("20060102") }

// Window returns the days of the dedup window at now: today first, then the days before it.
func Window(now time.Time, days int) []Day {
	w := make([]Day, days)
	today := DayOf(now)
	for i := range w {
		w[i] = today - Day(i)
	}
	return w
}

// ParseTime reads a time in a caller's format: RFC 3339, or Unix seconds with or without a
// fraction. It must lie between the years 1970 and 9999.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	seconds, numberErr := strconv.ParseFloat(text, 64)
	if numberErr == nil && math.Abs(seconds) <= MaxItemTime {
		t, err = time.UnixMicro(int64(math.Round(seconds*1e6))).UTC(), nil // a float64 has no finer resolution
	}
	if err != nil || t.Unix() < 1 || t.Unix() > MaxItemTime {
		return t, fmt.Errorf(`must be a time such as "2026-03-06T12:00:00Z", or Unix seconds, not %.40q`, text)
	}
	return t, nil
}

// Moment is a time in the JSON of a body: a string in RFC 3339, or a number of
// Unix seconds.
type Moment struct{ time.Time }

// UnmarshalJSON reads the time by the rule of [ParseTime]. Unix seconds in quotes
// are refused, because a number in quotes is refused everywhere else.
func (m *Moment) UnmarshalJSON(value []byte) (err error) {
	text := string(value)
	if value[0] == '"' {
		if err := json.Unmarshal(value, &text); err != nil {
			return err
		}
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return errors.New("must be a number if it is in Unix seconds, not a string")
		}
	}
	m.Time, err = ParseTime(text)
	return err
}
