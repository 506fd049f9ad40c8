package client

import (
	"context"
	"net/http"
	"time"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

// CompareRequest asks how far two rankings differ. A and B are changes to the
// live ranking, such as "scale=72h,offset=2h"; "" is the live ranking itself.
type CompareRequest struct {
	A      string     `json:"a"`
	B      string     `json:"b"`
	Agents []string   `json:"agents,omitempty"` // up to 200; or
	Sample int        `json:"sample,omitempty"` // how many to draw of those with a profile
	Seed   int64      `json:"seed,omitempty"`   // the same seed draws the same
	At     *time.Time `json:"at,omitempty"`     // nil: now
	K      int        `json:"k,omitempty"`      // items compared, 1 to 100; 0: 20
	Lists  bool       `json:"lists,omitempty"`  // the two lists, too; for one agent
}

// Compare calls POST /v1/compare. It needs the admin token.
func (c *Client) Compare(ctx context.Context, r CompareRequest) (offline.Comparison, error) {
	return send[offline.Comparison](ctx, c, Request{Method: http.MethodPost, Path: "/v1/compare", Repeatable: true, Timeout: longestTimeout}, r)
}

// ReplayClick is an item that an agent opened.
type ReplayClick struct {
	Agent string    `json:"agent_id"`
	ID    string    `json:"id"`
	At    time.Time `json:"at"`
}

// ReplayRequest asks where rankings would have placed what was clicked. The
// rankings are changes to the live one, as in [CompareRequest].
type ReplayRequest struct {
	Clicks   []ReplayClick `json:"clicks"`          // up to 200
	Rankings []string      `json:"rankings"`        // up to 40
	Depth    int           `json:"depth,omitempty"` // how far is ranked; 0: 500
}

// Replayed is the answer: an outcome for each click, in order, with a rank by
// each ranking.
type Replayed struct {
	Rankings []feed.Ranking    `json:"rankings"`
	Notes    []string          `json:"notes,omitempty"` // what the changes did beside what they say
	Depth    int               `json:"depth"`
	Outcomes []offline.Outcome `json:"outcomes"`
}

// Replay calls POST /v1/replay. It needs the admin token.
func (c *Client) Replay(ctx context.Context, r ReplayRequest) (Replayed, error) {
	return send[Replayed](ctx, c, Request{Method: http.MethodPost, Path: "/v1/replay", Repeatable: true, Timeout: longestTimeout}, r)
}
