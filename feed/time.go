package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// ParseTime reads a moment as callers write one: RFC 3339, or Unix seconds with
// or without a fraction. It must lie between the years 1970 and 9999.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if seconds, numberErr := strconv.ParseFloat(text, 64); numberErr == nil && math.Abs(seconds) <= MaxItemTime {
		t, err = time.UnixMicro(int64(math.Round(seconds*1e6))).UTC(), nil // a float64 is no finer
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
			return errors.New("must be a number where it is Unix seconds, not a string")
		}
	}
	m.Time, err = ParseTime(text)
	return err
}
