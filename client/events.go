package client

import (
	"context"
	"net/http"
	"slices"
)

// maxEvents is how many events one call may bring.
const maxEvents = 500

// The types of events.
const (
	Click   = "click"
	Like    = "like"
	Dislike = "dislike"
	Hide    = "hide" // also mutes the item for the agent, for good
)

// Event is something the agent did with an item.
type Event struct {
	Type string `json:"type"` // Click, Like, Dislike or Hide
	ID   string `json:"id"`
}

// EventsTaken is the outcome of reporting events.
type EventsTaken struct {
	Accepted int `json:"accepted"`  // of items the agent was shown; each counts once a day
	NotShown int `json:"not_shown"` // of items the agent was not shown; they do not count
}

// Events calls POST /v1/events: the agent has done this. Long lists take
// several calls; telling something twice is harmless.
func (c *Client) Events(ctx context.Context, events ...Event) (EventsTaken, error) {
	var all EventsTaken
	for part := range slices.Chunk(events, maxEvents) {
		body := map[string][]Event{"events": part}
		taken, err := send[EventsTaken](ctx, c, Request{Method: http.MethodPost, Path: "/v1/events", Repeatable: true}, body)
		if err != nil {
			return all, err
		}
		all.Accepted += taken.Accepted
		all.NotShown += taken.NotShown
	}
	return all, nil
}
