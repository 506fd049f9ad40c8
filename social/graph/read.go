package graph

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// Report is the outcome of the events of one body.
type Report struct {
	Accepted int         `json:"accepted"` // applied, those that changed nothing among them
	Rejected int         `json:"rejected"`
	Errors   []Rejection `json:"errors"` // by line; the first [Config.MaxErrors] of those rejected
}

// Rejection is one event that was not applied, or not whole.
type Rejection struct {
	Line   int    `json:"line"`         // from 1
	ID     string `json:"id,omitempty"` // [Event.ID]
	Reason string `json:"reason"`
}

// Read applies the events of r, which is NDJSON: one event a line, of at most
// [MaxEventBytes]. It holds no more than a batch in memory. A bad event is
// rejected and the rest goes on.
//
// The report is valid beside an error too, and tells what is applied. Errors
// wrap [feed.ErrInvalid] where the body cannot be read on, [social.ErrUnavailable]
// where the store could not be told (those events are then in neither count),
// else what r returned. Reading the same body again is safe.
func (a *Applier) Read(ctx context.Context, r io.Reader) (Report, error) {
	p := &intake{ctx: ctx, a: a, br: bufio.NewReaderSize(r, 64<<10), report: Report{Errors: []Rejection{}}}
	err := p.read()
	// What was read whole before an error is applied nevertheless.
	if flushErr := p.flush(); err == nil || errors.Is(flushErr, social.ErrUnavailable) {
		err = flushErr
	}
	slices.SortStableFunc(p.report.Errors, func(a, b Rejection) int { return cmp.Compare(a.Line, b.Line) })
	return p.report, err
}

// intake is one Read under way.
type intake struct {
	ctx context.Context
	a   *Applier
	br  *bufio.Reader
	buf []byte // the line being read, reused

	events []Event
	lines  []int // lines[i] is where events[i] stood
	bytes  int

	begun  bool // a line with something in it was read
	failed bool // the store could not be told; nothing more is applied
	report Report
}

func (p *intake) read() error {
	head, _ := p.br.Peek(3)
	switch {
	case bytes.Equal(head, []byte("\xef\xbb\xbf")):
		_, _ = p.br.Discard(3)
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return feed.Errorf(feed.ErrInvalid, "the body is not NDJSON, one event a line: it is gzip; unpack it, or send it with Content-Encoding: gzip")
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return feed.Errorf(feed.ErrInvalid, "the body is not NDJSON, one event a line: it is UTF-16; send UTF-8")
	}
	for line := 1; ; line++ {
		text, tooBig, err := p.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return unreadable(err) // a line that was cut off is no event
		}
		if takeErr := p.take(line, bytes.Trim(text, " \t\r\n"), tooBig); takeErr != nil {
			return takeErr
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

func unreadable(err error) error { return fmt.Errorf("reading the events: %w", err) }

// readLine returns the next line with its end, of a line that is too big its
// beginning. The text is good until the next call. The error is that of reading
// on after the text; io.EOF ends a last line as well as a line feed does.
func (p *intake) readLine() (text []byte, tooBig bool, err error) {
	p.buf = p.buf[:0]
	for {
		part, err := p.br.ReadSlice('\n')
		// Two bytes more for the line's end, which is no part of the event.
		if room := MaxEventBytes + 2 - len(p.buf); len(part) > room {
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

// take decodes one line and applies the batch when it is full.
func (p *intake) take(line int, text []byte, tooBig bool) error {
	if err := p.ctx.Err(); err != nil {
		return unreadable(err)
	}
	switch {
	case tooBig:
		p.begun = true
		CountRejected("")
		p.reject(line, Event{}, errTooBig)
		return nil
	case len(text) == 0: // a blank line, or nothing after the last one
		return nil
	case !p.begun && (string(text) == "{" || text[0] == '['):
		return feed.Errorf(feed.ErrInvalid, "the body is not NDJSON, one event a line: line %d is %.20q; write each event on one line, as an object", line, text)
	}
	p.begun = true
	e, err := Decode(text)
	if err != nil {
		CountRejected(e.Type)
		p.reject(line, e, err)
		return nil
	}
	p.events = append(p.events, e)
	p.lines = append(p.lines, line)
	p.bytes += len(text)
	if len(p.events) >= p.a.cfg.BatchEvents || p.bytes >= p.a.cfg.BatchBytes {
		return p.flush()
	}
	return nil
}

// flush applies the batch.
func (p *intake) flush() (down error) {
	events, lines := p.events, p.lines
	p.events, p.lines, p.bytes = p.events[:0], p.lines[:0], 0
	if len(events) == 0 || p.failed {
		return nil
	}
	for i, err := range p.a.Apply(p.ctx, events) {
		switch {
		case err == nil:
			p.report.Accepted++
		case feed.Refused(err):
			p.reject(lines[i], events[i], err)
		case down == nil:
			p.failed = true
			down = fmt.Errorf("applying the events of lines %d to %d: %w", lines[0], lines[len(lines)-1], err)
		}
	}
	if down != nil && !errors.Is(down, social.ErrUnavailable) {
		down = fmt.Errorf("%w: %w", social.ErrUnavailable, down)
	}
	return down
}

func (p *intake) reject(line int, e Event, why error) {
	p.report.Rejected++
	if len(p.report.Errors) < p.a.cfg.MaxErrors {
		p.report.Errors = append(p.report.Errors, Rejection{Line: line, ID: clip(e.ID()), Reason: Reason(why)})
	}
}

// Reason words an error about an event for those who sent it, without what
// the text begins with to say that it is wrong.
func Reason(err error) string {
	reason := err.Error()
	for _, prefix := range []string{"bad event: ", "bad post: ", feed.ErrInvalid.Error() + ": "} {
		reason = strings.TrimPrefix(reason, prefix)
	}
	return reason
}

// clip keeps a report small whatever its sender calls an id.
func clip(s string) string {
	if len(s) <= feed.MaxItemID {
		return s
	}
	return strings.ToValidUTF8(s[:feed.MaxItemID], "") + "…"
}
