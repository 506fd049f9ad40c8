package catalog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/freshet/freshet/feed"
)

// readLines reads NDJSON; line is the number of the line that comes next.
func (p *intake) readLines(line int) error {
	for first := true; ; line++ {
		text, tooBig, err := p.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return unreadable(err) // a line that was cut off is no item
		}
		text = bytes.Trim(text, " \t\r\n")
		switch {
		case tooBig:
			p.reject(line, peekID(text), errTooBig)
		case len(text) == 0: // a blank line, or nothing after the last one
		case first && unfinished(text) && p.goesOn():
			return feed.Errorf(feed.ErrInvalid, "the body is neither NDJSON nor a JSON array of items: line %d begins an object that goes on in the next line; write each item on one line, or all of them as a JSON array", line)
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
func (p *intake) readLine() (text []byte, tooBig bool, err error) {
	p.buf = p.buf[:0]
	for {
		part, err := p.br.ReadSlice('\n')
		// Two bytes more for the line's end, which is no part of the item.
		if room := feed.MaxItemBytes + 2 - len(p.buf); len(part) > room {
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

// unfinished reports whether text is the beginning of an object.
func unfinished(text []byte) bool {
	if text[0] != '{' || json.Valid(text) {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	var raw json.RawMessage
	return errors.Is(dec.Decode(&raw), io.ErrUnexpectedEOF)
}

// goesOn reports whether the next line that is not blank is no item of its
// own: then the object begun before was written over several lines.
func (p *intake) goesOn() bool {
	for n := 1; n <= p.br.Size(); n++ {
		ahead, err := p.br.Peek(n)
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
