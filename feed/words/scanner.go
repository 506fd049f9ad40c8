package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

var unmarked = strings.NewReplacer("™", " ", "℠", " ")

// scanner cuts a normalised text. The token that has begun is in buf.
type scanner struct {
	text string
	at   int // of the next character
	fn   func(token []byte)

	buf    []byte
	last   class // of the token's last character; other: none has begun
	before rune  // the character before at; 0 at the start
}

// step takes one character, or a sign and what it belongs to.
func (s *scanner) step() {
	r, size := s.rune(s.at)
	kind := classify(r)
	switch kind {
	case letter, digit:
		if s.last == ideograph || s.last == pictograph {
			s.end()
		}
		s.add(r, kind)
	case ideograph, pictograph:
		s.end()
		s.add(r, kind)
	case mark:
		if s.last != other && s.last != pictograph {
			s.add(r, s.last)
		}
	case other:
		size = s.sign(r, size)
	}
	if kind != ignored {
		s.before = r
	}
	s.at += size
}

// sign takes a character that is no part of a word unless the characters around
// it make it one, and answers how many bytes were taken.
func (s *scanner) sign(r rune, size int) int {
	inWord := s.last == letter || s.last == digit
	switch {
	case (r == '.' || r == '_') && inWord && s.wordAt(s.at+size):
		s.add(r, s.last)
		return size
	case r == '.' && !inWord && s.classAt(s.at+size) == letter && s.before != '.':
		s.end()
		s.add(r, letter)
		return size
	case r == '-' && inWord && s.lastLetterAt(s.at+size):
		s.add(r, s.last)
		return size
	case (r == '+' || r == '#') && s.last == letter:
		n := s.suffix()
		for _, sign := range s.text[s.at : s.at+n] {
			s.add(sign, letter)
		}
		s.end()
		return max(n, size)
	}
	s.end()
	return size
}

// suffix is how many + and # from here belong to the word before: one at its
// end, or two, which a number may follow (c++17).
func (s *scanner) suffix() int {
	n := 0
	for s.at+n < len(s.text) && (s.text[s.at+n] == '+' || s.text[s.at+n] == '#') {
		if n++; n > 2 {
			return 0 // a row of signs is no name
		}
	}
	switch next := s.classAt(s.at + n); {
	case n == 1 && (next == letter || next == digit), n == 2 && next == letter:
		return 0
	}
	return n
}

// lastLetterAt reports whether one letter stands at a place and the word ends
// behind it.
func (s *scanner) lastLetterAt(at int) bool {
	if s.classAt(at) != letter {
		return false
	}
	_, size := s.rune(at)
	r, next := s.rune(at + size)
	switch r {
	case '-', '_':
		return false
	case '.':
		return !s.wordAt(at + size + next)
	}
	return !s.wordAt(at+size) && classify(r) != mark
}

// wordAt reports whether a letter or a digit stands at a place.
func (s *scanner) wordAt(at int) bool {
	c := s.classAt(at)
	return c == letter || c == digit
}

func (s *scanner) classAt(at int) class {
	r, size := s.rune(at)
	if size == 0 {
		return other
	}
	return classify(r)
}

func (s *scanner) rune(at int) (r rune, size int) {
	if at >= len(s.text) {
		return 0, 0
	}
	if b := s.text[at]; b < utf8.RuneSelf {
		return rune(b), 1
	}
	return utf8.DecodeRuneInString(s.text[at:])
}

// add appends a character to the token, in lower case.
func (s *scanner) add(r rune, kind class) {
	if len(s.buf) > MaxLength-utf8.UTFMax {
		s.end()
	}
	switch {
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		s.buf = append(s.buf, byte(r))
	default:
		s.buf = utf8.AppendRune(s.buf, lower(r))
	}
	s.last = kind
}

// lower goes by the upper case, so that the two small sigmas are one letter.
func lower(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// end hands on the token that has begun, if any.
func (s *scanner) end() {
	if len(s.buf) > 0 {
		s.fn(s.buf)
	}
	s.buf, s.last = s.buf[:0], other
}
