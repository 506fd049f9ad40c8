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

// TimeField describes the format of the update time in one index. The zero value is not usable; see
// [EpochSeconds] and [Inspect].
type TimeField struct {
	format  timeFormat
	numeric bool   // a number field: no date math, and distances are numbers too
	sorts   string // for a number field, the type that all indices of a search must share to sort by it
	formats string // every format of the field, for reading documents
	most    int64  // the largest value of a number field's type
}

// EpochSeconds is the time field of our own index, a date.
var EpochSeconds = TimeField{format: epochSecond, formats: epochSecond}

// timeFormat is a date format of Elasticsearch, by name or as a pattern; for a number field it is
// epoch_second or epoch_millis.
type timeFormat string

const (
	epochSecond = "epoch_second"
	epochMillis = "epoch_millis"
)

// layouts are Go's equivalents of the built-in formats that express at least seconds. They contain
// milliseconds if the format allows: a bound written without them would be rounded up to the end of
// its second.
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

// patternParts are the supported parts of Java date patterns.
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

// newTimeField chooses the first of the formats that can express a second.
func newTimeField(formats string) (TimeField, error) {
	for f := range strings.SplitSeq(formats, "||") {
		f := timeFormat(f)
		if _, ok := f.layout(); ok || f.epoch() != 0 {
			return TimeField{format: f, formats: formats}, nil
		}
	}
	return TimeField{}, fmt.Errorf("dates cannot be written in the format %q; add ||epoch_second to it", formats)
}

// epoch returns the number of units of the format per second, or 0 if it is not an epoch.
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

// lastTime is the end of the year 9999, in Unix seconds. Milliseconds read as seconds exceed it
// from 1978 on; intended dates do not.
const lastTime = 253402300799

// times determines whether a numeric time is in seconds or milliseconds: in milliseconds if, read
// as seconds, more documents would be dated after the year 9999 than before. If the field is a date
// and every document is dated after that year, this is a fatal problem.
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
	// The later ones are counted first: a document written between the two requests must not make
	// all documents look later.
	if n, err := count(ctx, client, index, later, false); err != nil || n == 0 {
		return nil // the mapping defines the format of a date, and recall will report a failure
	}
	if n, err := count(ctx, client, index, sooner, false); err != nil || n > 0 {
		return nil
	}
	r.Problems = append(r.Problems, Problem{Field: "update_time", Name: name, Fatal: true, Message: "every document is dated after the year 9999: " +
		"its times are in milliseconds, but are read as seconds; put epoch_millis first in the mapping's format"})
	return nil
}

// numberOf returns a number field in seconds; [Report.times] may change the unit.
func numberOf(kind string) TimeField {
	t := TimeField{format: epochSecond, formats: epochSecond, numeric: true, sorts: kind, most: math.MaxInt64}
	if kind == "integer" {
		t.sorts, t.most = "long", math.MaxInt32
	}
	return t
}

// count returns the number of documents that a query matches; if not all, it is 1 for any number of
// them.
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

// String describes the format for people.
func (t TimeField) String() string {
	if t.numeric {
		return "a number, " + string(t.format)
	}
	return "a date, " + string(t.format)
}

// firstTime is the beginning of the year 1, in Unix seconds: some formats cannot express dates
// before it or after [lastTime].
const firstTime = -62135596800

// Literal encodes a time, in Unix seconds, as a JSON value of the field for a range query or the
// origin of a decay. A time outside the range of dates, or of the field's type, becomes the nearest
// valid one: Elasticsearch would reject the search.
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

// Stored encodes a time, in Unix seconds, as a document's value. An epoch becomes a number, as most
// writers do.
func (t TimeField) Stored(unix int64) json.RawMessage {
	per := t.format.epoch()
	if per != 0 {
		return strconv.AppendInt(nil, unix*per, 10)
	}
	layout, _ := t.format.layout()
	return json.RawMessage(strconv.Quote(time.Unix(unix, 0).UTC().Format(layout)))
}

// Span encodes a distance in time for a decay on this field.
func (t TimeField) Span(d time.Duration) json.RawMessage {
	if t.numeric {
		return strconv.AppendFloat(nil, d.Seconds()*float64(t.format.epoch()), 'f', -1, 64)
	}
	return json.RawMessage(`"` + strconv.FormatInt(d.Milliseconds(), 10) + `ms"`)
}

// FromSort decodes a sort value, which for a date is in milliseconds, to Unix seconds.
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

// FromSource decodes a document's value, in any of the field's formats, to Unix seconds. Of several
// values it returns the latest, which also is the one sorted by.
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
	// In the order of the formats, as in Elasticsearch: 2026 is a year if a date format precedes an
	// epoch format.
	for f := range strings.SplitSeq(t.formats, "||") {
		if unix, ok := timeFormat(f).parse(text); ok {
			return unix, nil
		}
	}
	return 0, fmt.Errorf("the time %s matches none of the formats %s", v, t.formats)
}

// latest decodes a list of values, which may be nested, and ignores nulls, as Elasticsearch does.
// If a value cannot be decoded, the latest of the others may not be the latest of all: it is
// returned with an error.
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
		unread = fmt.Errorf("%s contains no time", v)
	}
	return latest, unread
}

func (f timeFormat) parse(text string) (int64, bool) {
	per := f.epoch()
	if per != 0 {
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
		// time.Parse accepts a fraction of a second that the layout does not have.
		if at, err := time.Parse(l, text); err == nil {
			return at.Unix(), true
		}
	}
	return 0, false
}

// optionalTimes are the layouts of a date whose time may be missing in part or whole.
var optionalTimes = func() []string {
	list := []string{"2006-01-02", "2006-01", "2006"}
	for _, time := range []string{"15:04:05", "15:04", "15"} {
		for _, zone := range []string{"Z07:00", "Z0700", "Z07", ""} {
			list = append(list, "2006-01-02T"+time+zone)
		}
	}
	return list
}()

// seconds parses a number of units, per of them a second, and rounds down to seconds.
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
