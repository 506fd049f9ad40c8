// Package strictjson decodes JSON from callers. It accepts one JSON object in UTF-8 with known
// fields, each at most once and spelled exactly. For anything else its error names the wrong field
// and describes what to send. It is based on [github.com/go-json-experiment/json];
// docs/decisions/api.md gives the reasons.
package strictjson

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Errors maps the field with the wrong value to the error that a mistake wraps. A field is the last
// part of its path, followed by [] for an element of an array ("limit", "ids[]"). "" means every
// other field and mistake.
type Errors map[string]error

// Unmarshal decodes one JSON object into a struct. Fields that are missing or null in the object
// keep their values, so set defaults before the call; null in an array or a map is an error.
// Integers may be written as 1.0 and 1e3. Errors of a field type's UnmarshalJSON must be worded to
// follow the field's name: "must be a duration".
func Unmarshal(data []byte, into any, is Errors) error {
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return fmt.Errorf("%w: the JSON is empty; send an object", is[""])
	}
	if err := json.Unmarshal(data, into, rules(data)); err != nil {
		return describe(err, data, is)
	}
	return nil
}

// Members decodes one JSON object into its members, by the rules of [Unmarshal], except that null
// is a valid value. Mistakes wrap is.
func Members(data []byte, is error) (map[string]stdjson.RawMessage, error) {
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, fmt.Errorf("%w: the body must be a JSON object", is)
	}
	var raw map[string]jsontext.Value
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, describe(err, data, Errors{"": is})
	}
	members := make(map[string]stdjson.RawMessage, len(raw))
	for name, value := range raw {
		members[name] = stdjson.RawMessage(value)
	}
	return members, nil
}

// Filled checks that none of the named fields of an object that [Unmarshal] accepted is an empty
// text, which a struct cannot distinguish from a field that is left out. The error wraps is.
func Filled(data []byte, is error, names ...string) error {
	if !bytes.Contains(data, []byte(`""`)) {
		return nil
	}
	members, err := Members(data, is)
	if err != nil {
		return err
	}
	for _, name := range names {
		if string(members[name]) == `""` {
			return fmt.Errorf("%w: %s must not be empty; leave it out for its default", is, name)
		}
	}
	return nil
}

// UnmarshalStored decodes stored data, which was accepted earlier. Duplicate and unknown fields and
// invalid UTF-8 are not errors.
func UnmarshalStored(data []byte, into any) error {
	if err := json.Unmarshal(data, into, lenient); err != nil {
		return describe(err, data, nil)
	}
	return nil
}

const aWholeNumber = "a whole number"

// maxPath limits how many bytes of a caller's field names an error repeats.
const maxPath = 64

func describe(err error, data []byte, is Errors) error {
	var broken *jsontext.SyntacticError
	var wrong *json.SemanticError
	switch {
	case errors.As(err, &broken):
		return is.wrap("", describeSyntax(broken))
	case !errors.As(err, &wrong):
		return is.wrap("", err)
	case errors.Is(wrong.Err, json.ErrUnknownName):
		return is.wrap("", fmt.Errorf("unknown field %q%s; known are %s",
			clip(wrong.JSONPointer.LastToken()), within(wrong.JSONPointer.Parent()), strings.Join(fieldNames(wrong.GoType), ", ")))
	}
	what := fmt.Errorf("must be %s, not %s%s", describeType(wrong.GoType), describeValue(wrong), instead(wrong, data))
	if wrong.Err != nil && !errors.Is(wrong.Err, strconv.ErrSyntax) && !errors.Is(wrong.Err, strconv.ErrRange) {
		what = wrong.Err // of a method UnmarshalJSON
	}
	path := pathOf(wrong.JSONPointer)
	if path == "" {
		path = "the JSON"
	}
	return is.wrap(nameOf(wrong.JSONPointer), fmt.Errorf("%s %w", path, what))
}

// wrap wraps why in the error for mistakes in this field.
func (is Errors) wrap(field string, why error) error {
	kind, ok := is[field]
	if !ok {
		kind = is[""]
	}
	if kind == nil {
		return why
	}
	return fmt.Errorf("%w: %w", kind, why)
}

func describeSyntax(err *jsontext.SyntacticError) error {
	if errors.Is(err.Err, jsontext.ErrDuplicateName) {
		return fmt.Errorf("duplicate field %q%s", clip(err.JSONPointer.LastToken()), within(err.JSONPointer.Parent()))
	}
	if errors.Is(err.Err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("bad JSON: unexpected end at byte %d%s", err.ByteOffset, within(err.JSONPointer))
	}
	return fmt.Errorf("bad JSON at byte %d%s: %w", err.ByteOffset, within(err.JSONPointer), err.Err)
}

func describeValue(err *json.SemanticError) string {
	switch err.JSONKind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	if len(err.JSONValue) == 0 {
		return "a number"
	}
	return clip(string(err.JSONValue))
}

// instead says what to send in place of a string that has a whole number, or a time, which every field has in
// Unix seconds; "" for any other value.
func instead(err *json.SemanticError, data []byte) string {
	if err.JSONKind != '"' || describeType(err.GoType) != aWholeNumber {
		return ""
	}
	rest := bytes.TrimLeft(data[min(int(err.ByteOffset), len(data)):], " \t\r\n:,")
	token, failed := jsontext.NewDecoder(bytes.NewReader(rest)).ReadToken()
	if failed != nil || token.Kind() != '"' {
		return ""
	}
	text := token.String()
	if _, failed := strconv.ParseInt(text, 10, 64); failed == nil {
		return "; leave out the quotes"
	}
	for _, form := range timeForms {
		t, failed := time.Parse(form.layout, text)
		if failed == nil {
			return fmt.Sprintf("; %s%s is %d in Unix seconds", clip(text), form.zone, t.Unix())
		}
	}
	return ""
}

// timeForms are forms in which callers write times, and what to add to those without a zone.
var timeForms = []struct{ layout, zone string }{
	{time.RFC3339, ""},
	{"2006-01-02T15:04:05.999999999Z0700", ""},
	{"2006-01-02 15:04:05.999999999Z07:00", ""},
	{time.RFC1123Z, ""},
	{"2006-01-02T15:04:05.999999999", " (UTC)"},
	{"2006-01-02 15:04:05.999999999", " (UTC)"},
	{time.DateOnly, " (UTC)"},
}

// describeType describes what to send for a value of this type.
func describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return describeType(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return aWholeNumber
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return "an array of strings"
		}
		return "an array"
	}
	return "an object"
}

// Names returns the names of the fields that [Unmarshal] accepts for into, a pointer to a struct.
func Names(into any) []string { return fieldNames(reflect.TypeOf(into).Elem()) }

// fieldNames returns the names of the fields that an object of this type may have.
func fieldNames(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// pathOf formats a pointer as a path such as clicks[0].at.
func pathOf(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		switch {
		case isIndex(token):
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return clip(b.String())
}

func within(p jsontext.Pointer) string {
	path := pathOf(p)
	if path != "" {
		return " in " + path
	}
	return ""
}

// nameOf returns the field of a pointer as [Errors] names it.
func nameOf(p jsontext.Pointer) string {
	name := p.LastToken()
	if !isIndex(name) {
		return name
	}
	return p.Parent().LastToken() + "[]"
}

func isIndex(token string) bool {
	_, err := strconv.ParseUint(token, 10, 32)
	return err == nil
}

func clip(s string) string {
	if len(s) <= maxPath {
		return s
	}
	return strings.ToValidUTF8(s[:maxPath], "") + "…"
}
