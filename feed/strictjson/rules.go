package strictjson

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the maximum nesting of objects and arrays in a value that is stored as is.
// Elasticsearch allows 1,000, and no sensible item has more than a few.
const MaxDepth = 100

// strict holds the rules for input of callers, lenient those for stored data, which may have been
// accepted under earlier rules.
var (
	strict = json.JoinOptions(json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.JoinUnmarshalers(wholeNumbers[int](), wholeNumbers[int64](), json.UnmarshalFromFunc(shallow))))
	strictWithNull = json.JoinOptions(json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(absent), wholeNumbers[int](), wholeNumbers[int64](), json.UnmarshalFromFunc(shallow))))
	lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
)

// rules returns the options for a body. Checking every value for null takes twice the time, and few
// bodies contain null.
func rules(data []byte) json.Options {
	if bytes.Contains(data, []byte("null")) {
		return strictWithNull
	}
	return strict
}

// absent treats a null field like a missing one. In an array, in a map and in place of the body
// null is an error.
func absent(dec *jsontext.Decoder, to any) error {
	if dec.PeekKind() != 'n' {
		return errors.ErrUnsupported
	}
	parent, _ := dec.StackIndex(dec.StackDepth())
	inMap := false
	switch to.(type) {
	case *stdjson.RawMessage:
		return errors.ErrUnsupported // stored as is
	case stdjson.Unmarshaler:
		if parent == '[' {
			return errors.ErrUnsupported // its error describes what to send instead
		}
	case *float64: // a field of a struct is a *float64, which is **float64 here
		inMap = true
	}
	if parent != '{' || inMap {
		return &json.SemanticError{JSONKind: 'n', GoType: reflect.TypeOf(to).Elem()}
	}
	return dec.SkipValue()
}

// wholeNumbers decodes 1.0 and 1e3 as integers: JSON has one kind of number, and many languages
// write integers this way.
func wholeNumbers[T int | int64]() *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, to *T) error {
		if dec.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		text, err := dec.ReadValue()
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			// A float64 holds every whole number up to 2^53.
			f, floatErr := strconv.ParseFloat(string(text), 64)
			if floatErr != nil || math.Abs(f) > 1<<53 || !isWhole(string(text)) {
				return &json.SemanticError{JSONKind: '0', JSONValue: text.Clone(), GoType: reflect.TypeFor[T](), Err: strconv.ErrSyntax}
			}
			n = int64(f)
		}
		*to = T(n)
		return nil
	})
}

// isWhole reports whether a number has no fraction. A float64 has lost those of 1e-400 and of
// 1.00000000000000000001.
func isWhole(number string) bool {
	mantissa, power, _ := strings.Cut(strings.ToLower(number), "e")
	digits, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	significant := strings.TrimRight(digits+fraction, "0")
	if significant == "" {
		return true
	}
	exponent, err := strconv.Atoi(cmp.Or(power, "0"))
	return err == nil && exponent+len(digits)-len(significant) >= 0
}

// shallow stores a value as written, if it is not nested too deeply.
func shallow(dec *jsontext.Decoder, to *stdjson.RawMessage) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if depth(value) > MaxDepth {
		return fmt.Errorf("has more than %d nested objects and arrays; nest fewer", MaxDepth)
	}
	*to = stdjson.RawMessage(bytes.Clone(value))
	return nil
}

// depth returns the maximum nesting of objects and arrays in a valid value.
func depth(value []byte) (deepest int) {
	open, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open++
			deepest = max(deepest, open)
		case c == '}' || c == ']':
			open--
		}
	}
	return deepest
}
