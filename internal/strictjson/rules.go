package strictjson

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how many objects and arrays a value that is kept as it is may have within each
// other. Elasticsearch takes 1,000, and no sensible item has more than a few.
const MaxDepth = 100

// strict holds the rules for what callers send, lenient those for what was
// stored under earlier rules.
var (
	strict = json.JoinOptions(json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.JoinUnmarshalers(wholeNumbers[int](), wholeNumbers[int64](), json.UnmarshalFromFunc(shallow))))
	strictWithNull = json.JoinOptions(json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(absent), wholeNumbers[int](), wholeNumbers[int64](), json.UnmarshalFromFunc(shallow))))
	lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
)

// rules are the options for a body. Looking for null at every value takes twice
// the time, and few bodies have one.
func rules(data []byte) json.Options {
	if bytes.Contains(data, []byte("null")) {
		return strictWithNull
	}
	return strict
}

// absent makes a field that is null the same as one that is not there. In an
// array, in a map and instead of the body null is an error.
func absent(dec *jsontext.Decoder, to any) error {
	if dec.PeekKind() != 'n' {
		return errors.ErrUnsupported
	}
	parent, _ := dec.StackIndex(dec.StackDepth())
	inMap := false
	switch to.(type) {
	case *stdjson.RawMessage:
		return errors.ErrUnsupported // kept as it is
	case stdjson.Unmarshaler:
		if parent == '[' {
			return errors.ErrUnsupported // it knows what else to send
		}
	case *float64: // a field of a struct is a *float64, which is **float64 here
		inMap = true
	}
	if parent != '{' || inMap {
		return &json.SemanticError{JSONKind: 'n', GoType: reflect.TypeOf(to).Elem()}
	}
	return dec.SkipValue()
}

// wholeNumbers reads 1.0 and 1e3 as what they are: JSON has one kind of number,
// and many languages write whole ones so.
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
			if floatErr != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
				return &json.SemanticError{JSONKind: '0', JSONValue: text.Clone(), GoType: reflect.TypeFor[T](), Err: strconv.ErrSyntax}
			}
			n = int64(f)
		}
		*to = T(n)
		return nil
	})
}

// shallow keeps a value as it is written, if it is not nested too deep.
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

// depth is how many objects and arrays of a valid value are within each other.
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
