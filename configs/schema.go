package configs

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
)

// A field is one key of the configuration, read off the struct tags.
type field struct {
	key    string // dotted, e.g. dedup.daily_capacity
	help   string
	secret bool
	oneof  []string // allowed values, nil: any
	index  []int    // where it is in Config, for reflect
	typ    reflect.Type
}

var durationType = reflect.TypeFor[time.Duration]()

// schema lists every key in the order of the struct; byKey finds one.
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
		if sf.Anonymous {
			out = append(out, fieldsOf(sf.Type, prefix, at)...)
			continue
		}
		if sf.Type.Kind() == reflect.Struct && sf.Type != rankingType {
			out = append(out, fieldsOf(sf.Type, key+".", at)...)
			continue
		}
		f := field{key: key, help: sf.Tag.Get("help"), secret: sf.Tag.Get("secret") == "true", index: at, typ: sf.Type}
		if values := sf.Tag.Get("oneof"); values != "" {
			f.oneof = strings.Split(values, ",")
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

// EnvName is the environment variable of a key: dedup.daily_capacity is
// FRESHET_DEDUP_DAILY_CAPACITY.
func EnvName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// form says what a value of the field looks like.
func (f field) form() string {
	switch {
	case f.typ == durationType:
		return "a duration such as 500ms, 30s or 24h"
	case f.typ.Kind() == reflect.Int:
		return "a whole number"
	case f.typ.Kind() == reflect.Float64:
		return "a number"
	case f.typ.Kind() == reflect.Bool:
		return "true or false"
	case f.typ.Kind() == reflect.Slice:
		return "a list of texts, or one text with commas"
	}
	return "text (a number or a yes/no word needs quotes)"
}

// typeName is the placeholder in the help of the flag.
func (f field) typeName() string {
	switch {
	case f.typ == durationType:
		return "duration"
	case f.typ.Kind() == reflect.Float64:
		return "number"
	case f.typ.Kind() == reflect.Slice:
		return "list"
	case f.typ == rankingType:
		return "changes"
	}
	return f.typ.Kind().String()
}

// set stores a value as YAML, an environment variable or a flag gives it.
func (f field) set(c *Config, raw any) error {
	if f.typ == rankingType {
		return setRanking(c, fmt.Sprint(raw), "").err()
	}
	value, ok := f.parse(raw)
	if !ok && f.secret {
		return fmt.Errorf("must be %s", f.form())
	}
	if !ok {
		return fmt.Errorf("must be %s, not %s", f.form(), mask(quote(raw)))
	}
	reflect.ValueOf(c).Elem().FieldByIndex(f.index).Set(reflect.ValueOf(value))
	return nil
}

func (f field) value(c *Config) any {
	return reflect.ValueOf(c).Elem().FieldByIndex(f.index).Interface()
}

func (f field) parse(raw any) (value any, ok bool) {
	switch {
	case f.typ == durationType:
		return parseDuration(raw)
	case f.typ.Kind() == reflect.Int:
		return parseInt(raw)
	case f.typ.Kind() == reflect.Float64:
		return parseFloat(raw)
	case f.typ.Kind() == reflect.Bool:
		return parseBool(raw)
	case f.typ.Kind() == reflect.Slice:
		return parseList(raw)
	}
	s, ok := raw.(string)
	return s, ok
}

func parseDuration(raw any) (any, bool) {
	switch v := raw.(type) {
	case int: // only 0 needs no unit
		return time.Duration(0), v == 0
	case string:
		d, err := time.ParseDuration(strings.TrimSpace(v))
		return d, err == nil
	}
	return nil, false
}

func parseInt(raw any) (any, bool) {
	switch v := raw.(type) {
	case int:
		return v, true
	case float64: // YAML reads 1e6 as a float
		return int(v), v == math.Trunc(v) && math.Abs(v) <= 1<<53
	case string:
		n, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(v), "_", ""))
		return n, err == nil
	}
	return nil, false
}

func parseFloat(raw any) (any, bool) {
	switch v := raw.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	case string:
		x, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return x, err == nil
	}
	return nil, false
}

func parseBool(raw any) (any, bool) {
	switch v := raw.(type) {
	case bool:
		return v, true
	case string:
		b, err := strconv.ParseBool(strings.TrimSpace(v))
		return b, err == nil
	}
	return nil, false
}

func parseList(raw any) (any, bool) {
	var list []string
	switch v := raw.(type) {
	case string:
		for _, one := range strings.Split(v, ",") {
			if one = strings.TrimSpace(one); one != "" {
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

// text writes a value as people write it in the file.
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
