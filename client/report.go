package client

import (
	"context"
	"net/http"
	"strconv"
)

// Report calls GET /v1/ranking/report for today and the days before it, 1 to 90
// in all; 0 is a week. It needs the admin token.
func (c *Client) Report(ctx context.Context, days int) (Report, error) {
	path := "/v1/ranking/report"
	if days != 0 {
		path += "?days=" + strconv.Itoa(days)
	}
	return call[Report](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}
