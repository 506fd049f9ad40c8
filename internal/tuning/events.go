package tuning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/intake"
)

const (
	maxEvent      = 64 << 10 // bytes
	shownBadLines = 20       // lines that cannot be used and are told
)

var errStopped = errors.New("the replay stops there")

// clicks is the [intake.Batch] of a file of events, one JSON object a line: it hands on
// clicks, and counts other events by their types.
type clicks struct {
	handOn  func(ctx context.Context, some []client.ReplayClick) error
	atOnce  int // clicks that are handed on together
	waiting []client.ReplayClick
	skipped map[string]int
}

// read reads a file to its end, and hands on at most atOnce clicks at a time.
func (c *clicks) read(ctx context.Context, r io.Reader, atOnce int) (rejected int, first []client.Rejection, err error) {
	c.atOnce = atOnce
	report, err := intake.Read(ctx, r, intake.Kind{
		Entry: "event", Verb: "replaying", Most: maxEvent, Reason: error.Error, Unavailable: errStopped,
	}, intake.Config{Batch: atOnce, MaxErrors: shownBadLines}, c)
	if err == nil && len(c.waiting) > 0 {
		err = c.handOn(ctx, c.waiting)
	}
	return report.Rejected, report.Errors, err
}

// Put implements [intake.Batch]. Most events may be of other types, so clicks wait until a
// call is full of them.
func (c *clicks) Put(ctx context.Context) ([]error, error) {
	for len(c.waiting) >= c.atOnce {
		some := c.waiting[:c.atOnce]
		c.waiting = c.waiting[c.atOnce:]
		if err := c.handOn(ctx, some); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// TooBig implements [intake.Batch].
func (*clicks) TooBig([]byte) (string, error) {
	return "", fmt.Errorf("it is longer than %d KiB", maxEvent>>10)
}

// Add implements [intake.Batch]. Unknown fields are ignored.
func (c *clicks) Add(_ int, line []byte) (string, error) {
	var event struct {
		Agent string          `json:"agent_id"`
		ID    string          `json:"id"`
		At    json.RawMessage `json:"at"`
		Type  string          `json:"type"`
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return "", fmt.Errorf("it is not a JSON object with agent_id, id, at and type: %w", err)
	}
	if event.Type == "" {
		return "", errors.New("type is missing")
	}
	if event.Type != "click" {
		c.skipped[event.Type]++
		return "", nil
	}
	at, err := eventTime(event.At)
	if err := errors.Join(feed.CheckAgentID(event.Agent), feed.CheckItemID(event.ID), err); err != nil {
		return "", err
	}
	c.waiting = append(c.waiting, client.ReplayClick{Agent: event.Agent, ID: event.ID, At: at})
	return "", nil
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
