package tuning

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
)

// maxEventLine is the longest line of an event file, in bytes.
const maxEventLine = 64 << 10

// shownBadLines is how many lines that cannot be used are told.
const shownBadLines = 20

// BadLine is a line of an event file that cannot be used.
type BadLine struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// events reads clicks out of a file of events, one JSON object a line, and
// counts other events and bad lines.
type events struct {
	in      *bufio.Reader
	line    int
	skipped map[string]int // other events, by type
	bad     int
	shown   []BadLine // the first of the bad lines
}

func newEvents(r io.Reader) *events {
	return &events{in: bufio.NewReaderSize(r, maxEventLine), skipped: map[string]int{}}
}

// next returns up to n clicks; fewer mean that the file is at its end.
func (e *events) next(n int) ([]client.ReplayClick, error) {
	var clicks []client.ReplayClick
	for len(clicks) < n {
		line, whole, err := e.read()
		if len(bytes.TrimSpace(line)) > 0 {
			click, isClick, lineErr := e.parse(line, whole)
			switch {
			case lineErr != nil:
				e.reject(lineErr)
			case isClick:
				clicks = append(clicks, click)
			}
		}
		if errors.Is(err, io.EOF) {
			return clicks, nil
		}
		if err != nil {
			return clicks, err
		}
	}
	return clicks, nil
}

// read returns the next line. Of one that is too long it returns the beginning,
// and whole is false.
func (e *events) read() (line []byte, whole bool, err error) {
	line, err = e.in.ReadSlice('\n')
	e.line++
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, true, err
	}
	line = bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = e.in.ReadSlice('\n')
	}
	return line, false, err
}

func (e *events) reject(why error) {
	e.bad++
	if len(e.shown) < shownBadLines {
		e.shown = append(e.shown, BadLine{e.line, why.Error()})
	}
}

// parse reads one event. Unknown fields are ignored.
func (e *events) parse(line []byte, whole bool) (click client.ReplayClick, isClick bool, err error) {
	if !whole {
		return click, false, fmt.Errorf("it is longer than %d KiB", maxEventLine>>10)
	}
	if e.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	var event struct {
		Agent string          `json:"agent_id"`
		ID    string          `json:"id"`
		At    json.RawMessage `json:"at"`
		Type  string          `json:"type"`
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return click, false, fmt.Errorf("it is not a JSON object with agent_id, id, at and type: %w", err)
	}
	if event.Type == "" {
		return click, false, errors.New("type is missing")
	}
	if event.Type != "click" {
		e.skipped[event.Type]++
		return click, false, nil
	}
	if err := errors.Join(feed.CheckAgentID(event.Agent), feed.CheckItemID(event.ID)); err != nil {
		return click, false, err
	}
	at, err := eventTime(event.At)
	return client.ReplayClick{Agent: event.Agent, ID: event.ID, At: at}, err == nil, err
}

func eventTime(raw json.RawMessage) (time.Time, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return time.Time{}, errors.New("at is missing")
	}
	text := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return time.Time{}, err
		}
	}
	at, err := feed.ParseTime(text)
	if err != nil {
		return at, fmt.Errorf("at %w", err)
	}
	return at, nil
}
