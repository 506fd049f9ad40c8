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

// maxImpressions is how many items one report may name.
const maxImpressions = 500

// Seen calls POST /v1/impressions: the agent has seen these items. It is
// needed where the server has impressions.on set to seen, and harmless
// elsewhere. Long lists take several calls; reporting an item twice is
// harmless.
func (c *Client) Seen(ctx context.Context, ids ...string) error {
	for part := range slices.Chunk(ids, maxImpressions) {
		body := map[string][]string{"ids": part}
		_, err := send[struct{}](ctx, c, Request{Method: http.MethodPost, Path: "/v1/impressions", Repeatable: true}, body)
		if err != nil {
			return err
		}
	}
	return nil
}
