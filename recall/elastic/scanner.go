package elastic

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// scanner walks over JSON that Elasticsearch wrote: it is lenient about what
// it skips and never reads past the end.
type scanner struct {
	data []byte
	pos  int
}

// unexpected is the error that what is wanted does not stand here.
func (s *scanner) unexpected() error { return fmt.Errorf("unexpected JSON at byte %d", s.pos) }

func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\n', '\t', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

// list reads items between two brackets; each must consume one item.
func (s *scanner) list(start, end byte, item func(i int) error) error {
	if !s.take(start) {
		return s.unexpected()
	}
	if s.take(end) {
		return nil
	}
	for i := 0; ; i++ {
		if err := item(i); err != nil {
			return err
		}
		if s.take(end) {
			return nil
		}
		if !s.take(',') {
			return s.unexpected()
		}
	}
}

func (s *scanner) array(element func(i int) error) error { return s.list('[', ']', element) }

func (s *scanner) object(value func(key []byte) error) error {
	return s.list('{', '}', func(int) error {
		key, err := s.str()
		if err != nil {
			return err
		}
		if !s.take(':') {
			return s.unexpected()
		}
		return value(key)
	})
}

// str reads a string; without escapes it is a part of the data.
func (s *scanner) str() ([]byte, error) {
	raw, err := s.raw()
	if err != nil {
		return nil, err
	}
	if len(raw) < 2 || raw[0] != '"' {
		return nil, s.unexpected()
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	return []byte(text), nil
}

func (s *scanner) skip() error {
	_, err := s.raw()
	return err
}

// raw reads any value and answers its bytes.
func (s *scanner) raw() ([]byte, error) {
	first := s.peek()
	start := s.pos
	switch first {
	case '"':
		return s.quoted()
	case '{', '[':
		depth := 0
		for s.pos < len(s.data) {
			switch s.data[s.pos] {
			case '"':
				if _, err := s.quoted(); err != nil {
					return nil, err
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			s.pos++
			if depth == 0 {
				return s.data[start:s.pos], nil
			}
		}
		return nil, s.unexpected()
	}
	for s.pos < len(s.data) && !ends(s.data[s.pos]) {
		s.pos++
	}
	if s.pos == start {
		return nil, s.unexpected()
	}
	return s.data[start:s.pos], nil
}

// ends reports whether c ends a number, true, false or null.
func ends(c byte) bool {
	switch c {
	case ',', ']', '}', ':', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

func (s *scanner) quoted() ([]byte, error) {
	start := s.pos
	for i := s.pos + 1; i < len(s.data); i++ {
		switch s.data[i] {
		case '\\':
			i++
		case '"':
			s.pos = i + 1
			return s.data[start:s.pos], nil
		}
	}
	s.pos = len(s.data)
	return nil, s.unexpected()
}
