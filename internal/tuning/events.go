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
	waiting []client.ReplayClick
	skipped map[string]int
}

// read reads a file to its end, and hands on at most atOnce clicks at a time.
func (c *clicks) read(ctx context.Context, r io.Reader, atOnce int) (rejected int, first []client.Rejection, err error) {
	report, err := intake.Read(ctx, r, intake.Kind{
		Entry: "event", Verb: "replaying", Most: maxEvent, Reason: error.Error, Unavailable: errStopped,
	}, intake.Config{Batch: atOnce, MaxErrors: shownBadLines}, c)
	return report.Rejected, report.Errors, err
}

// Put implements [intake.Batch].
func (c *clicks) Put(ctx context.Context) ([]error, error) {
	some := c.waiting
	if c.waiting = nil; len(some) == 0 {
		return nil, nil
	}
	return nil, c.handOn(ctx, some)
}

// TooBig implements [intake.Batch].
func (*clicks) TooBig([]byte) (string, error) {
	return "", fmt.Errorf("it is longer than %d KiB", maxEvent>>10)
}

// Add implements [intake.Batch]. Unknown fields are ignored.
func (c *clicks) Add(line []byte) (string, error) {
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
