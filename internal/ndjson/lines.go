package ndjson

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// readLines reads NDJSON; line is the number of the next line.
func (p *reading) readLines(line int) error {
	for first := true; ; line++ {
		text, tooBig, err := p.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return p.unreadable(fmt.Errorf("line %d: %w", line, err)) // a truncated line is not an entry
		}
		text = bytes.Trim(text, " \t\r\n")
		text = bytes.TrimLeft(bytes.TrimPrefix(text, mark), " \t\r\n") // if files were concatenated
		switch {
		case tooBig:
			p.tooBig(line, text)
		case len(text) == 0: // a blank line, or the end after the last line
		case first && unfinished(text) && nextLineContinues(p.br):
			how := "write each " + p.kind.Entry + " on one line (jq -c . does that)"
			if p.kind.Array {
				how += ", or all of them as a JSON array"
			}
			return p.invalid("line %d begins an object that continues on the next line; %s", line, how)
		case first && !p.kind.Table && otherFormat(text) != "":
			return p.invalid("line %d is %.20q; %s", line, text, otherFormat(text))
		case first && text[0] == '[' && !p.kind.Array:
			return p.invalid("line %d is %.20q; write each %s on one line, as an object (jq -c '.[]' converts an array)", line, text, p.kind.Entry)
		default:
			if err := p.addEntry(line, text); err != nil {
				return err
			}
		}
		first = first && len(text) == 0 && !tooBig
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

// readLine returns the next line with its line end; of a line that is too big, only the beginning.
// The text is valid until the next call. The error is that of reading beyond the text; io.EOF ends
// a last line as a line feed does.
func (p *reading) readLine() (text []byte, tooBig bool, err error) {
	p.buf = p.buf[:0]
	for {
		part, err := p.br.ReadSlice('\n')
		// Two more bytes for the line end, which is not part of the entry.
		room := p.kind.Most + 2 - len(p.buf)
		if len(part) > room {
			tooBig = true
			part = part[:room]
		}
		p.buf = append(p.buf, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return p.buf, tooBig, err
		}
		if err := p.ctx.Err(); err != nil {
			return nil, false, err
		}
	}
}

// header matches the first line of CSV and TSV: the names of columns.
var header = regexp.MustCompile(`^"?[A-Za-z][\w .-]*"?(?:[,;\t]"?[A-Za-z][\w .-]*"?){1,200}$`)

// otherFormat returns what to do about a body that begins with this line, if it is in a well-known
// format other than NDJSON, and "" if it is not.
func otherFormat(text []byte) string {
	switch {
	case text[0] == '<':
		return "it is XML or HTML, such as an RSS or Atom feed; write each entry as a JSON object with the documented fields, on one line"
	case header.Match(text):
		return "it is a table; write each row as a JSON object with the documented fields, on one line (mlr --icsv --ojsonl cat converts CSV)"
	}
	return ""
}

// unfinished reports whether text is the beginning of an object.
func unfinished(text []byte) bool {
	if len(text) == 0 || text[0] != '{' || json.Valid(text) {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	var raw json.RawMessage
	return errors.Is(dec.Decode(&raw), io.ErrUnexpectedEOF)
}

// nextLineContinues reports whether the next non-blank line does not begin an entry.
func nextLineContinues(br *bufio.Reader) bool {
	for n := 1; n <= br.Size(); n++ {
		ahead, err := br.Peek(n)
		if len(ahead) < n || err != nil {
			return false
		}
		switch ahead[n-1] {
		case ' ', '\t', '\r', '\n':
		default:
			return ahead[n-1] != '{'
		}
	}
	return false
}

// readArray reads the elements of a JSON array after its opening bracket. An invalid entry is
// rejected; if an element's JSON is malformed, the start of the next one is unknown, and reading
// ends.
func (p *reading) readArray() error {
	for n := 1; ; n++ {
		_, c, err := p.skipBlank()
		if err != nil {
			return p.broken(n, "the array is not closed", err)
		}
		if c == ']' && n == 1 {
			return p.endArray()
		}
		if err := p.element(n, c); err != nil {
			return err
		}
		_, c, err = p.skipBlank()
		switch {
		case err != nil:
			return p.broken(n, "the array is not closed after it", err)
		case c == ']':
			return p.endArray()
		case c != ',':
			return p.broken(n, fmt.Sprintf("it is followed by %q instead of a comma or the end of the array", p.character()), nil)
		}
		_, _ = p.br.Discard(1)
	}
}

// element reads the n-th element, which begins with c.
func (p *reading) element(n int, c byte) error {
	if c == ',' || c == ']' || c == '}' {
		return p.broken(n, "it is missing; is there an extra comma?", nil)
	}
	tooBig, err := p.readElement()
	switch {
	case err != nil:
		return p.broken(n, "it is incomplete", err)
	case tooBig:
		p.tooBig(n, p.buf)
		return nil
	case !json.Valid(p.buf):
		_, err := p.batch.Add(n, p.buf) // the error contains the position
		return p.broken(n, p.kind.Reason(err), nil)
	}
	return p.addEntry(n, p.buf)
}

// broken returns the error about an array that cannot be parsed any further; err, if not nil, is
// the reader's.
func (p *reading) broken(n int, what string, err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return p.unreadable(err)
	}
	return p.invalid("element %d of the array: %s", n, what)
}

// endArray reads the closing bracket, and checks that nothing follows it.
func (p *reading) endArray() error {
	_, _ = p.br.Discard(1)
	_, _, err := p.skipBlank()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return p.unreadable(err)
	}
	return p.invalid("the array is followed by %q; send one array", p.character())
}

// character reads the next character.
func (p *reading) character() rune {
	c, _, _ := p.br.ReadRune()
	return c
}

// readElement reads a value into buf, up to the size limit of an entry. It counts brackets outside
// of strings; the caller checks whether they match.
func (p *reading) readElement() (tooBig bool, err error) {
	p.buf = p.buf[:0]
	for depth, inString, escaped := 0, false, false; ; {
		c, err := p.br.ReadByte()
		if err != nil {
			return tooBig, err
		}
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
		ended := closed || depth < 0
		within := inString || depth > 0
		if !within && (ended || p.wordEnds()) {
			return tooBig || len(p.buf) > p.kind.Most, nil
		}
	}
}

// wordEnds reports whether the next byte ends a number, true, false or null. The end of the body
// does too; the caller then reports the missing bracket.
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
