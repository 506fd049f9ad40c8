package configs

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
)

// A field is one key of the configuration, derived from the struct tags.
type field struct {
	key         string // dotted, e.g. dedup.daily_capacity
	help        string
	secret      bool
	oneof       []string // allowed values; nil for any
	least, most any      // allowed range, both ends included; nil for any
	index       []int    // position in Config, for reflect
	kind        kind
}

// kind is a type of values.
type kind struct {
	name string // as shown in the help of the flag
	form string // description of valid values
	read func(text string) (any, error)
}

var kinds = map[reflect.Type]kind{
	reflect.TypeFor[time.Duration](): {"duration", "a duration such as 500ms, 30s or 24h", func(s string) (any, error) { return time.ParseDuration(s) }},
	reflect.TypeFor[int]():           {"int", "a whole number", func(s string) (any, error) { return strconv.Atoi(strings.ReplaceAll(s, "_", "")) }},
	reflect.TypeFor[float64]():       {"number", "a number", func(s string) (any, error) { return strconv.ParseFloat(s, 64) }},
	reflect.TypeFor[bool]():          {"bool", "true or false", func(s string) (any, error) { return strconv.ParseBool(s) }},
	reflect.TypeFor[[]string]():      {"list", "a list of texts, or one text with commas", nil},
	reflect.TypeFor[string]():        {"string", "text (a number or a yes/no word needs quotes)", nil},
	reflect.TypeFor[feed.Ranking]():  {name: "changes"},
}

// schema lists every key in the order of the struct; byKey is an index of it.
var (
	schema = fieldsOf(reflect.TypeFor[Config](), "", nil)
	byKey  = func() map[string]field {
		m := make(map[string]field, len(schema))
		for _, f := range schema {
			m[f.key] = f
		}
		return m
	}()
)

func fieldsOf(t reflect.Type, prefix string, index []int) []field {
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Tag.Get("key") == "-" {
			continue
		}
		key := prefix + sf.Tag.Get("key")
		at := append(append([]int(nil), index...), i)
		kind, ok := kinds[sf.Type]
		if !ok {
			out = append(out, fieldsOf(sf.Type, key+".", at)...)
			continue
		}
		f := field{key: key, help: sf.Tag.Get("help"), secret: sf.Tag.Get("secret") == "true", index: at, kind: kind}
		values := sf.Tag.Get("oneof")
		if values != "" {
			f.oneof = strings.Split(values, ",")
		}
		if least, most, ok := strings.Cut(sf.Tag.Get("range"), " to "); ok {
			f.least, _ = kind.read(least)
			f.most, _ = kind.read(most)
		}
		out = append(out, f)
	}
	return out
}

// Keys lists every key, dotted, in the order of the shipped file.
func Keys() []string {
	keys := make([]string, len(schema))
	for i, f := range schema {
		keys[i] = f.key
	}
	return keys
}

// EnvName returns the environment variable of a key: FRESHET_DEDUP_DAILY_CAPACITY for
// dedup.daily_capacity.
func EnvName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// set stores a value from YAML, an environment variable or a flag.
func (f field) set(c *Config, raw any) error {
	if f.kind.name == "changes" {
		return setRanking(c, fmt.Sprint(raw), "").err()
	}
	value, ok := f.parse(raw)
	if !ok && f.secret {
		return fmt.Errorf("must be %s", f.kind.form)
	}
	if !ok {
		return fmt.Errorf("must be %s, not %s", f.kind.form, mask(quote(raw)))
	}
	reflect.ValueOf(c).Elem().FieldByIndex(f.index).Set(reflect.ValueOf(value))
	return nil
}

func (f field) value(c *Config) any {
	return reflect.ValueOf(c).Elem().FieldByIndex(f.index).Interface()
}

func (f field) parse(raw any) (value any, ok bool) {
	written, isText := raw.(string)
	switch f.kind.name {
	case "string":
		return written, isText
	case "list":
		return parseList(raw)
	}
	switch raw.(type) {
	case int, float64, bool: // YAML parses 1e6 as a float
		written = text(raw)
	case string:
	default:
		return nil, false
	}
	value, err := f.kind.read(strings.TrimSpace(written))
	return value, err == nil
}

func parseList(raw any) (any, bool) {
	var list []string
	switch v := raw.(type) {
	case string:
		for _, one := range strings.Split(v, ",") {
			one = strings.TrimSpace(one)
			if one != "" {
				list = append(list, one)
			}
		}
	case []any:
		for _, one := range v {
			s, ok := one.(string)
			if !ok {
				return nil, false
			}
			list = append(list, s)
		}
	default:
		return nil, false
	}
	return list, true
}

// text formats a value as it is written in the file.
func text(value any) string {
	switch v := value.(type) {
	case time.Duration:
		return feed.DurationText(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []string:
		return strings.Join(v, ",")
	}
	return fmt.Sprint(value)
}

func quote(raw any) string {
	if s, ok := raw.(string); ok {
		return strconv.Quote(s)
	}
	return fmt.Sprint(raw)
}
