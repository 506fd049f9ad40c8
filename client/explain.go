package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// ExplainAsk asks what a refresh would do.
type ExplainAsk struct {
	Agent string    `json:"agent_id"`
	Feed  feed.Name `json:"feed,omitempty"`  // "": [feed.ForYou]
	Limit int       `json:"limit,omitempty"` // items of the page, 1 to 100; 0: the server's 20
	Item  string    `json:"item,omitempty"`  // say of this one why it is where it is
	// Ranking changes the parameters the agent is ranked by: an object that
	// names those that change. [feed.ChangesJSON] writes one.
	Ranking json.RawMessage `json:"ranking,omitempty"`
	At      time.Time       `json:"at,omitzero"` // the moment of the refresh; zero: now
}

// Explanation describes the result of a refresh and the reasons for it.
type Explanation struct {
	api.Explanation
	asSent
}

// Explain calls POST /v1/explain, as an admin: what a refresh of an agent
// would do. It changes nothing.
func (c *Client) Explain(ctx context.Context, ask ExplainAsk) (Explanation, error) {
	return send[Explanation](ctx, c, Request{Method: http.MethodPost, Path: "/v1/explain", Repeatable: true}, ask)
}
