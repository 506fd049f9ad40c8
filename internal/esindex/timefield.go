package esindex

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// TimeField knows how the update time is written in one index. The zero value
// is not usable; see [EpochSeconds] and [Inspect].
type TimeField struct {
	format  timeFormat
	numeric bool   // a number field: no date math, distances are numbers too
	sorts   string // of a number field, the type that indices of one search must share to be sorted
	formats string // every format of the field, for reading documents
	most    int64  // the largest number that the type of a number field holds
}

// EpochSeconds is the time field of our own index, a date.
var EpochSeconds = TimeField{format: epochSecond, formats: epochSecond}

// timeFormat is a date format of Elasticsearch, by name or as a pattern; for
// a number field epoch_second or epoch_millis.
type timeFormat string

const (
	epochSecond = "epoch_second"
	epochMillis = "epoch_millis"
)

// layouts are Go's equivalents of the built-in formats that express at least
// seconds. They carry milliseconds where the format allows: a bound written
// without them would be rounded up to the end of its second.
var layouts = map[timeFormat]string{
	"strict_date_optional_time":       "2006-01-02T15:04:05.000Z07:00",
	"date_optional_time":              "2006-01-02T15:04:05.000Z07:00",
	"strict_date_optional_time_nanos": "2006-01-02T15:04:05.000Z07:00",
	"iso8601":                         "2006-01-02T15:04:05.000Z07:00",
	"strict_date_time":                "2006-01-02T15:04:05.000Z07:00",
	"date_time":                       "2006-01-02T15:04:05.000Z07:00",
	"strict_date_time_no_millis":      "2006-01-02T15:04:05Z07:00",
	"date_time_no_millis":             "2006-01-02T15:04:05Z07:00",
	"strict_date_hour_minute_second":  "2006-01-02T15:04:05",
	"date_hour_minute_second":         "2006-01-02T15:04:05",
	"basic_date_time":                 "20060102T150405.000Z07:00",
	"basic_date_time_no_millis":       "20060102T150405Z07:00",
}

// patternParts are the parts of a Java date pattern we can write.
var patternParts = []struct{ java, layout string }{
	{"yyyy", "2006"},
	{"uuuu", "2006"},
	{"MM", "01"},
	{"dd", "02"},
	{"HH", "15"},
	{"mm", "04"},
	{"ss", "05"},
	{".SSS", ".000"},
	{"XXX", "Z07:00"},
	{"XX", "Z0700"},
	{"X", "Z07"},
	{"Z", "-0700"},
}

// newTimeField picks the first of the formats that can express a second.
func newTimeField(formats string) (TimeField, error) {
	for f := range strings.SplitSeq(formats, "||") {
		f := timeFormat(f)
		if _, ok := f.layout(); ok || f.epoch() != 0 {
			return TimeField{format: f, formats: formats}, nil
		}
	}
	return TimeField{}, fmt.Errorf("the date format %q is not one that can be written; add ||epoch_second to it", formats)
}

// epoch is how many units of the format make a second; 0: it is no epoch.
func (f timeFormat) epoch() int64 {
	switch f {
	case epochSecond:
		return 1
	case epochMillis:
		return 1000
	}
	return 0
}

func (f timeFormat) layout() (string, bool) {
	if l, ok := layouts[f]; ok {
		return l, true
	}
	pattern, layout := string(f), ""
	used := map[string]bool{}
next:
	for pattern != "" {
		if pattern[0] == '\'' {
			end := strings.IndexByte(pattern[1:], '\'')
			if end <= 0 {
				return "", false
			}
			layout, pattern = layout+pattern[1:1+end], pattern[end+2:]
			continue
		}
		for _, p := range patternParts {
			if rest, ok := strings.CutPrefix(pattern, p.java); ok {
				layout, pattern = layout+p.layout, rest
				used[p.layout] = true
				continue next
			}
		}
		if !strings.ContainsRune("-/.: _", rune(pattern[0])) {
			return "", false
		}
		layout, pattern = layout+pattern[:1], pattern[1:]
	}
	for _, needed := range []string{"2006", "01", "02", "15", "04", "05"} {
		if !used[needed] {
			return "", false
		}
	}
	return layout, true
}

// lastTime is the end of the year 9999, in Unix seconds. Milliseconds that are read as
// seconds lie beyond it from 1978 on; so does no date that somebody means.
const lastTime = 253402300799

// times finds whether a time that is a number is one of seconds or of milliseconds: it is
// milliseconds where more documents would be dated after the year 9999 otherwise than before.
// A date by which every document is dated after that year is a fatal problem.
func (r *Report) times(ctx context.Context, client Client, index string) error {
	name, t := r.Schema.Fields.UpdateTime, &r.Schema.Time
	sooner := object{"range": object{name: object{"lte": t.Literal(lastTime)}}}
	later := object{"range": object{name: object{"gt": t.Literal(lastTime)}}}
	if t.numeric {
		seconds, err := count(ctx, client, index, sooner, true)
		if err != nil {
			return err
		}
		millis, err := count(ctx, client, index, later, true)
		if millis > seconds {
			t.format, t.formats = epochMillis, epochMillis
		}
		return err
	}
	// A document that comes between the two questions must not be taken for a later one.
	if n, err := count(ctx, client, index, later, false); err != nil || n == 0 {
		return nil // a date is known by its mapping, and recall will tell of a failure
	}
	if n, err := count(ctx, client, index, sooner, false); err != nil || n > 0 {
		return nil
	}
	r.Problems = append(r.Problems, Problem{Field: "update_time", Name: name, Fatal: true, Message: "every document is dated after the year 9999: " +
		"its times are milliseconds, and are read as seconds; let the mapping's format begin with epoch_millis"})
	return nil
}

// numberOf is the field of a number of seconds, until [Report.times] finds another unit.
func numberOf(kind string) TimeField {
	t := TimeField{format: epochSecond, formats: epochSecond, numeric: true, sorts: kind, most: math.MaxInt64}
	if kind == "integer" {
		t.sorts, t.most = "long", math.MaxInt32
	}
	return t
}

// count returns how many documents a query matches; where not all are asked for, 1 stands
// for any number of them.
func count(ctx context.Context, client Client, index string, query object, all bool) (n int, err error) {
	search := object{"size": 0, "track_total_hits": all, "query": query}
	if !all {
		search["track_total_hits"], search["terminate_after"] = 1, 1
	}
	var got struct {
		Hits struct {
			Total struct {
				Value int `json:"value"`
			} `json:"total"`
		} `json:"hits"`
	}
	err = Ask(ctx, client, http.MethodPost, "/"+index+"/_search", wholeAnswer, search, &got)
	return got.Hits.Total.Value, err
}

// String names the format, for people.
func (t TimeField) String() string {
	if t.numeric {
		return "a number, " + string(t.format)
	}
	return "a date, " + string(t.format)
}

// firstTime is the beginning of the year 1, in Unix seconds: a date before it, and one after
// [lastTime], is none in some formats.
const firstTime = -62135596800

// Literal writes a time, in Unix seconds, as the field's own JSON value: it is
// understood in a range, and as the origin of a decay. One that no date has, or that the
// field's type does not hold, is the nearest one that it holds: Elasticsearch would refuse
// the search.
func (t TimeField) Literal(unix int64) json.RawMessage {
	unix = min(max(unix, firstTime), lastTime)
	per, least := t.format.epoch(), -t.most-1
	if t.sorts == "unsigned_long" {
		least = 0
	}
	switch {
	case t.numeric:
		return strconv.AppendInt(nil, min(max(unix*per, least), t.most), 10)
	case per != 0:
		return json.RawMessage(`"` + strconv.FormatInt(unix*per, 10) + `"`)
	}
	return t.Stored(unix)
}

// Stored writes a time, in Unix seconds, as a document's value. An epoch is
// written as a number, as most writers do.
func (t TimeField) Stored(unix int64) json.RawMessage {
	if per := t.format.epoch(); per != 0 {
		return strconv.AppendInt(nil, unix*per, 10)
	}
	layout, _ := t.format.layout()
	return json.RawMessage(strconv.Quote(time.Unix(unix, 0).UTC().Format(layout)))
}

// Span writes a distance in time as the decay of this field wants it.
func (t TimeField) Span(d time.Duration) json.RawMessage {
	if t.numeric {
		return strconv.AppendFloat(nil, d.Seconds()*float64(t.format.epoch()), 'f', -1, 64)
	}
	return json.RawMessage(`"` + strconv.FormatInt(d.Milliseconds(), 10) + `ms"`)
}

// FromSort reads a sort value, of a date in milliseconds, as Unix seconds.
func (t TimeField) FromSort(v []byte) (int64, error) {
	per := int64(1000)
	if t.numeric {
		per = t.format.epoch()
	}
	unix, ok := seconds(string(v), per)
	if !ok {
		return 0, fmt.Errorf("the sort value of the time field is %s, not a number", v)
	}
	return unix, nil
}

// FromSource reads a document's value, in any of the field's formats, as Unix
// seconds: of several the latest, which sorts, too.
func (t TimeField) FromSource(v json.RawMessage) (int64, error) {
	if len(v) > 0 && v[0] == '[' {
		return t.latest(v)
	}
	text := string(v)
	if len(v) > 0 && v[0] == '"' {
		if err := json.Unmarshal(v, &text); err != nil {
			return 0, err
		}
	}
	// In their order, as Elasticsearch does: 2026 is a year where a format of dates comes
	// before one of numbers.
	for f := range strings.SplitSeq(t.formats, "||") {
		if unix, ok := timeFormat(f).parse(text); ok {
			return unix, nil
		}
	}
	return 0, fmt.Errorf("the time %s has none of the formats %s", v, t.formats)
}

// latest reads the values of a list, whose nulls Elasticsearch ignores. A list may
// hold lists. Where one cannot be read the others are not known to be the latest: that is
// an error, beside the latest of those.
func (t TimeField) latest(v json.RawMessage) (int64, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(v, &list); err != nil {
		return 0, err
	}
	latest, some := int64(0), false
	var unread error
	for _, one := range list {
		if string(one) == "null" {
			continue
		}
		unix, err := t.FromSource(one)
		if err != nil {
			unread = err
		} else if !some || unix > latest {
			latest, some = unix, true
		}
	}
	if !some && unread == nil {
		unread = fmt.Errorf("%s holds no time", v)
	}
	return latest, unread
}

func (f timeFormat) parse(text string) (int64, bool) {
	if per := f.epoch(); per != 0 {
		return seconds(text, per)
	}
	layout, ok := f.layout()
	if !ok {
		return 0, false
	}
	tries := []string{layout, strings.Replace(layout, ".000", "", 1)}
	if strings.Contains(string(f), "optional_time") || f == "iso8601" {
		tries = append(tries, optionalTimes...)
	}
	for _, l := range tries {
		// time.Parse accepts a fraction of a second the layout does not name.
		if at, err := time.Parse(l, text); err == nil {
			return at.Unix(), true
		}
	}
	return 0, false
}

// optionalTimes are the layouts of a date whose time, and parts of it, may be left out.
var optionalTimes = func() []string {
	list := []string{"2006-01-02", "2006-01", "2006"}
	for _, time := range []string{"15:04:05", "15:04", "15"} {
		for _, zone := range []string{"Z07:00", "Z0700", "Z07", ""} {
			list = append(list, "2006-01-02T"+time+zone)
		}
	}
	return list
}()

// seconds reads a number of units, of which some make a second, and rounds it down.
func seconds(text string, per int64) (unix int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(text, 64)
		return int64(math.Floor(f / float64(per))), err == nil
	}
	unix = n / per
	if n%per < 0 {
		unix--
	}
	return unix, true
}
