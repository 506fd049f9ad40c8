package intake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// readArray reads the elements of a JSON array whose bracket was read. An
// element that is no good entry is rejected; where an element's own JSON is
// broken the start of the next is unknown, and reading ends.
func (p *reading) readArray() error {
	for n := 1; ; n++ {
		c, err := p.nextByte()
		if err != nil {
			return p.broken(n, "the array does not end", err)
		}
		if c == ']' && n == 1 {
			return p.endArray()
		}
		if err := p.element(n, c); err != nil {
			return err
		}
		switch c, err = p.nextByte(); {
		case err != nil:
			return p.broken(n, "the array does not end after it", err)
		case c == ']':
			return p.endArray()
		case c != ',':
			return p.broken(n, fmt.Sprintf("after it comes %q instead of a comma or the end of the array", p.character(c)), nil)
		}
	}
}

// element reads the n-th element, which begins with c.
func (p *reading) element(n int, c byte) error {
	if c == ',' || c == ']' || c == '}' {
		return p.broken(n, "it is missing; a comma too many?", nil)
	}
	tooBig, err := p.readElement(c)
	switch {
	case err != nil:
		return p.broken(n, "the array ends within it", err)
	case tooBig:
		p.tooBig(n, p.buf)
		return nil
	case !json.Valid(p.buf):
		_, err := p.batch.Add(p.buf) // says at which byte
		return p.broken(n, p.kind.Reason(err), nil)
	}
	return p.take(n, p.buf)
}

// broken is the error about an array that cannot be read on; err, where there
// is one, is the reader's.
func (p *reading) broken(n int, what string, err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return p.unreadable(err)
	}
	return p.invalid("element %d of the array: %s", n, what)
}

// endArray checks that nothing comes after the array.
func (p *reading) endArray() error {
	switch c, err := p.nextByte(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return p.unreadable(err)
	default:
		return p.invalid("after the array comes %q; send one array", p.character(c))
	}
}

// character is the one whose first byte was read.
func (p *reading) character(first byte) rune {
	if first >= utf8.RuneSelf && p.br.UnreadByte() == nil {
		c, _, _ := p.br.ReadRune()
		return c
	}
	return rune(first)
}

// nextByte returns the next byte that is no space.
func (p *reading) nextByte() (byte, error) {
	for {
		c, err := p.br.ReadByte()
		if err != nil || (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
			return c, err
		}
	}
}

// readElement reads the value that begins with c into buf, up to what an entry
// may have. It counts brackets outside of strings and leaves it to the caller
// to look whether they match.
func (p *reading) readElement(c byte) (tooBig bool, err error) {
	p.buf = p.buf[:0]
	for depth, inString, escaped := 0, false, false; ; {
		if len(p.buf) <= p.kind.Most {
			p.buf = append(p.buf, c)
		} else {
			tooBig = true
		}
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		closed := c == '"' || c == '}' || c == ']'
		if !inString && (depth < 0 || depth == 0 && (closed || p.wordEnds())) {
			return tooBig || len(p.buf) > p.kind.Most, nil
		}
		if c, err = p.br.ReadByte(); err != nil {
			return tooBig, err
		}
	}
}

// wordEnds reports whether what comes next ends a number, true, false or null.
// The end of the body does; the caller then misses the bracket.
func (p *reading) wordEnds() bool {
	next, err := p.br.Peek(1)
	if err != nil {
		return true
	}
	switch next[0] {
	case ',', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}
