package intake

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// readLines reads NDJSON; line is the number of the line that comes next.
func (p *reading) readLines(line int) error {
	for first := true; ; line++ {
		text, tooBig, err := p.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return p.unreadable(err) // a line that was cut off is no entry
		}
		text = bytes.Trim(text, " \t\r\n")
		text = bytes.TrimLeft(bytes.TrimPrefix(text, mark), " \t\r\n") // where files were put one after the other
		switch {
		case tooBig:
			p.tooBig(line, text)
		case len(text) == 0: // a blank line, or nothing after the last one
		case first && Spread(text, p.br):
			how := "write each " + p.kind.Entry + " on one line"
			if p.kind.Array {
				how += ", or all of them as a JSON array"
			}
			return p.invalid("line %d begins an object that goes on in the next line; %s", line, how)
		case first && text[0] == '[' && !p.kind.Array:
			return p.invalid("line %d is %.20q; write each %s on one line, as an object", line, text, p.kind.Entry)
		default:
			if err := p.take(line, text); err != nil {
				return err
			}
		}
		first = first && len(text) == 0 && !tooBig
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

// readLine returns the next line with its end, of a line that is too big its
// beginning. The text is good until the next call. The error is that of reading
// on after the text; io.EOF ends a last line as well as a line feed does.
func (p *reading) readLine() (text []byte, tooBig bool, err error) {
	p.buf = p.buf[:0]
	for {
		part, err := p.br.ReadSlice('\n')
		// Two bytes more for the line's end, which is no part of the entry.
		if room := p.kind.Most + 2 - len(p.buf); len(part) > room {
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

// Spread reports whether an object begins on a line and goes on in what comes next, as where
// it was written over several lines for people to read.
func Spread(line []byte, next *bufio.Reader) bool { return unfinished(line) && goesOn(next) }

// unfinished reports whether text is the beginning of an object.
func unfinished(text []byte) bool {
	if len(text) == 0 || text[0] != '{' || json.Valid(text) {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	var raw json.RawMessage
	return errors.Is(dec.Decode(&raw), io.ErrUnexpectedEOF)
}

// goesOn reports whether the next line that is not blank is no entry of its
// own.
func goesOn(br *bufio.Reader) bool {
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
