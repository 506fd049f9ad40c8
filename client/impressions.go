package client

import (
	"context"
	"net/http"
	"slices"
)

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
