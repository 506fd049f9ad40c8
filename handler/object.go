package handler

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// members walks the members of one JSON object without decoding them. It is
// strict where encoding/json is not: names are compared exactly, and the routes
// refuse a name they have seen before. Small bodies pass without an allocation.
type members struct {
	data []byte // valid JSON, an object
	pos  int
}

// openObject checks that body is one JSON object and nothing else.
func openObject(body []byte) (members, error) {
	start := skipSpace(body, 0)
	if start == len(body) {
		return members{}, fmt.Errorf("%w: the body is empty; send a JSON object", errBadRequest)
	}
	if !json.Valid(body) {
		return members{}, fmt.Errorf("%w: the body is not JSON: %w", errBadRequest, syntaxError(body))
	}
	if body[start] != '{' {
		return members{}, fmt.Errorf("%w: the body must be a JSON object", errBadRequest)
	}
	return members{data: body, pos: start + 1}, nil
}

// syntaxError finds out what json.Valid only knows to be wrong.
func syntaxError(body []byte) error {
	var value json.RawMessage
	return json.Unmarshal(body, &value)
}

// next returns a member's name, unquoted, and its value as written; ok is
// false after the last one.
func (m *members) next() (name, value []byte, ok bool) {
	i := skipSpace(m.data, m.pos)
	if m.data[i] == ',' {
		i = skipSpace(m.data, i+1)
	}
	if m.data[i] == '}' {
		return nil, nil, false
	}
	end := stringEnd(m.data, i)
	name = unquote(m.data[i:end])
	i = skipSpace(m.data, end) + 1 // the colon
	i = skipSpace(m.data, i)
	end = valueEnd(m.data, i)
	m.pos = end
	return name, m.data[i:end], true
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd is where the string that starts at i ends, its quotes included.
func stringEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// valueEnd is where the value that starts at i ends.
func valueEnd(b []byte, i int) int {
	depth := 0
	for {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			i++
			if depth > 0 {
				continue
			}
			for !endsScalar(b[i]) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}

// endsScalar reports whether a byte cannot belong to a number or a literal.
func endsScalar(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// isString reports whether a value is a string.
func isString(value []byte) bool { return value[0] == '"' }

// unquote returns what a JSON string says; without escapes that is a part of
// the body.
func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil { // it has been checked before
		return nil
	}
	return []byte(s)
}

// unknownField names the field, shortened so that an answer stays short.
func unknownField(name []byte, known string) error {
	const most = 64
	if len(name) > most {
		name = name[:most]
	}
	return fmt.Errorf("%w: unknown field %q; known are %s", errBadRequest, name, known)
}

func repeatedField(name string) error {
	return fmt.Errorf("%w: field %q is there twice", errBadRequest, name)
}
