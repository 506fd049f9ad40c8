package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

var unmarked = strings.NewReplacer("™", " ", "℠", " ", "\u2010", "-", "\u2011", "-")

// scanner splits a normalised text into tokens. buf holds the current token.
type scanner struct {
	text string
	at   int // index of the next character
	fn   func(token []byte)

	buf    []byte
	last   class // class of the token's last character; other if no token has begun
	before rune  // the character before at; 0 at the start

	joined bool // a sign joined words
	apart  bool // takes such words apart
}

func (s *scanner) scan() {
	for s.at < len(s.text) {
		s.step()
	}
	s.end()
}

// step consumes one character, or a sign with the characters that belong to it.
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

// sign consumes a character that is part of a word only in certain contexts, and returns the
// number of bytes consumed.
func (s *scanner) sign(r rune, size int) int {
	inWord := s.last == letter || s.last == digit
	joins := inWord && (r == '.' || r == '_')
	begins := !inWord && r == '.' && s.before != '.' // as in .net
	switch {
	case joins && s.wordAt(s.at+size):
		inNumber := r == '.' && s.last == digit && s.classAt(s.at+size) == digit
		s.joined = s.joined || !inNumber
		s.add(r, s.last)
		return size
	case begins && s.classAt(s.at+size) == letter:
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

// suffix returns how many + and # from here belong to the preceding word: one at its end, or two,
// which a number may follow (c++17).
func (s *scanner) suffix() int {
	n := 0
	for s.at+n < len(s.text) && (s.text[s.at+n] == '+' || s.text[s.at+n] == '#') {
		n++
		if n > 2 {
			return 0 // a longer run is not part of a name
		}
	}
	next := s.classAt(s.at + n)
	inWord := next == letter || n == 1 && next == digit
	if n > 0 && inWord {
		return 0
	}
	return n
}

// lastLetterAt reports whether a single letter is at an index and ends the word.
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

// wordAt reports whether a letter or a digit is at an index.
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
	b := s.text[at]
	if b < utf8.RuneSelf {
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

// lower converts to upper case first, so that both small sigmas become one letter.
func lower(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// end emits the current token, if any.
func (s *scanner) end() {
	switch {
	case len(s.buf) == 0:
	case s.apart:
		s.emitParts()
	default:
		s.fn(s.buf)
	}
	s.buf, s.last = s.buf[:0], other
}
