package words

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// emitParts emits the words that signs join in the current token, or the token if it has none.
// Names of software stay whole: js and net mean something else alone.
func (s *scanner) emitParts() {
	if bytes.HasSuffix(s.buf, []byte(".js")) {
		s.fn(s.buf)
		return
	}
	var initials []byte
	emitted := false
	emit := func(part []byte) {
		s.fn(part)
		emitted = true
	}
	flush := func() {
		if utf8.RuneCount(initials) > 1 {
			emit(initials)
		}
		initials = initials[:0]
	}
	for rest := s.buf; len(rest) > 0; {
		part := rest[:partLength(rest)]
		begins := len(rest) == len(s.buf)
		rest = rest[min(len(part)+1, len(rest)):]
		r, size := utf8.DecodeRune(part)
		switch {
		case size == len(part) && classify(r) == letter:
			initials = append(initials, part...)
		case size < len(part) && (begins || string(part) != "net"):
			flush()
			emit(part)
		default:
			flush()
		}
	}
	flush()
	if !emitted {
		s.fn(s.buf)
	}
}

// partLength returns the length of the token's first part. A sign at its start or its end separates
// nothing, nor does a dot in a number.
func partLength(token []byte) int {
	for i := 1; i < len(token)-1; i++ {
		inNumber := isDigit(token[i-1]) && isDigit(token[i+1])
		if token[i] == '_' || token[i] == '.' && !inNumber {
			return i
		}
	}
	return len(token)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// OneLetterParts returns the tokens of a keyword as two spellings: with one-letter parts as words
// of their own (vitamin d), and joined to the word before by a hyphen (vitamin-d), which is nil if
// there are none. Texts have both, and in neither is the letter found alone.
func OneLetterParts(tokens []string) (apart, joined []string) {
	for _, token := range tokens {
		before, part, found := strings.Cut(token, "-")
		apart = append(apart, before)
		if found {
			apart = append(apart, part)
		}
	}
	for _, token := range apart {
		last := len(joined) - 1
		if last >= 0 && oneLetter(token) && mayTakePart(joined[last]) {
			joined[last] += "-" + token
		} else {
			joined = append(joined, token)
		}
	}
	if slices.Equal(apart, joined) {
		joined = nil
	}
	return apart, joined
}

// oneLetter reports whether a token is a letter with the signs that belong to it (c, c++).
func oneLetter(token string) bool {
	r, size := utf8.DecodeRuneInString(token)
	return classify(r) == letter && strings.Trim(token[size:], "+#") == ""
}

// mayTakePart reports whether a hyphen after the token can join a part to it.
func mayTakePart(token string) bool {
	r, _ := utf8.DecodeLastRuneInString(token)
	c := classify(r)
	return (c == letter || c == digit) && !strings.Contains(token, "-")
}
