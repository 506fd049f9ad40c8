package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// RankingChange is a change of the live ranking, with its author and reason.
type RankingChange struct {
	Ranking *feed.Ranking `json:"ranking,omitempty"` // nil leaves it unchanged
	// Experiments is the complete list of experiments to run; empty ends all, nil leaves them
	// unchanged.
	Experiments []Experiment `json:"experiments,omitzero"`
	By          string       `json:"by,omitempty"` // "" is admin
	Why         string       `json:"why,omitempty"`
}

// AnyVersion allows a change whatever the newest version of the ranking is.
const AnyVersion = -1

// Ranking calls GET /v1/ranking: the newest version. It needs the admin token, as do all calls for
// the ranking.
func (c *Client) Ranking(ctx context.Context) (RankingVersion, error) {
	return call[RankingVersion](ctx, c, Request{Method: http.MethodGet, Path: "/v1/ranking", Repeatable: true})
}

// PutRanking calls PUT /v1/ranking and returns the new version. onlyIf is the version that must be
// the newest, or [AnyVersion]; otherwise it returns [ErrPrecondition].
func (c *Client) PutRanking(ctx context.Context, onlyIf int, change RankingChange) (RankingVersion, error) {
	return send[RankingVersion](ctx, c, Request{Method: http.MethodPut, Path: "/v1/ranking", Header: ifVersion(onlyIf)}, change)
}

// RevertRanking calls POST /v1/ranking/revert and returns the new version, which equals version to;
// 0 is that of the configuration. onlyIf is as for PutRanking. If version to never existed, it
// returns [ErrNotFound].
func (c *Client) RevertRanking(ctx context.Context, onlyIf, to int, by, why string) (RankingVersion, error) {
	body := struct {
		Version int    `json:"version"`
		By      string `json:"by,omitempty"`
		Why     string `json:"why,omitempty"`
	}{to, by, why}
	return send[RankingVersion](ctx, c, Request{Method: http.MethodPost, Path: "/v1/ranking/revert", Header: ifVersion(onlyIf)}, body)
}

// RankingHistory calls GET /v1/ranking/history: the newest versions, newest first, at most limit (1
// to 100). If fewer exist, version 0 comes last.
func (c *Client) RankingHistory(ctx context.Context, limit int) ([]RankingVersion, error) {
	list, err := call[api.RankingHistory](ctx, c, Request{Method: http.MethodGet, Path: "/v1/ranking/history?limit=" + strconv.Itoa(limit), Repeatable: true})
	return list.Versions, err
}

func ifVersion(version int) http.Header {
	if version == AnyVersion {
		return nil
	}
	return http.Header{"If-Match": {`"` + strconv.Itoa(version) + `"`}}
}

// Report calls GET /v1/ranking/report for today and the days before it, 1 to 90 in total; 0 is a
// week. It needs the admin token.
func (c *Client) Report(ctx context.Context, days int) (Report, error) {
	return c.ReportFor(ctx, ReportAsk{Days: days})
}

// ReportAsk are the parameters of a report.
type ReportAsk struct {
	Days   int     // today and the days before it, 1 to 90 in total; 0 is a week
	Effect float64 // the difference, as a part of control's rate, for which the size of a test is given; 0 is 0.1
}

// ReportFor calls GET /v1/ranking/report. It needs the admin token.
func (c *Client) ReportFor(ctx context.Context, ask ReportAsk) (Report, error) {
	texts := map[string]string{}
	if ask.Effect != 0 {
		texts["effect"] = strconv.FormatFloat(ask.Effect, 'g', -1, 64)
	}
	path := withQuery("/v1/ranking/report", texts, map[string]int64{"days": int64(ask.Days)})
	return call[Report](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// ExplainAsk is a request to explain a refresh.
type ExplainAsk struct {
	Agent string    `json:"agent_id"`
	Feed  feed.Name `json:"feed,omitempty"`  // "" is [feed.ForYou]
	Limit int       `json:"limit,omitempty"` // items of the page, 1 to 100; 0 is the server's default of 20
	Item  string    `json:"item,omitempty"`  // explain the position of this item
	// Ranking changes the ranking parameters: an object with the parameters to change.
	// [feed.ChangesJSON] writes one.
	Ranking json.RawMessage `json:"ranking,omitempty"`
	At      time.Time       `json:"at,omitzero"` // time of the refresh; zero means now
}

// Explanation describes the result of a refresh and the reasons for it.
type Explanation struct {
	api.Explanation
	rawResponse
}

// Explain calls POST /v1/explain, as an admin. It returns what a refresh of an agent would do and
// changes nothing.
func (c *Client) Explain(ctx context.Context, ask ExplainAsk) (Explanation, error) {
	return send[Explanation](ctx, c, Request{Method: http.MethodPost, Path: "/v1/explain", Repeatable: true}, ask)
}

// CompareRequest is a request to compare two rankings. A and B are changes to the live ranking,
// such as "scale=72h,offset=2h"; "" is the live ranking itself.
type CompareRequest struct {
	A      string     `json:"a"`
	B      string     `json:"b"`
	Agents []string   `json:"agents,omitempty"` // up to 200; or
	Sample int        `json:"sample,omitempty"` // number to draw from the agents with a profile
	Seed   int64      `json:"seed,omitempty"`   // the same seed draws the same agents
	At     *time.Time `json:"at,omitempty"`     // nil means now
	K      int        `json:"k,omitempty"`      // items compared, 1 to 100; 0: 20
	Lists  bool       `json:"lists,omitempty"`  // also return the two lists; for one agent
}

// Compare calls POST /v1/compare. It needs the admin token.
func (c *Client) Compare(ctx context.Context, r CompareRequest) (offline.Comparison, error) {
	return send[offline.Comparison](ctx, c, Request{Method: http.MethodPost, Path: "/v1/compare", Repeatable: true, Timeout: longestTimeout}, r)
}

// ReplayRequest asks which positions rankings would have given to clicked items. The rankings are
// changes to the live one, as in [CompareRequest].
type ReplayRequest struct {
	Clicks   []offline.Click `json:"clicks"`          // up to 200
	Rankings []string        `json:"rankings"`        // up to 40
	Depth    int             `json:"depth,omitempty"` // number of items ranked; 0: 500
}

// Replay calls POST /v1/replay. It needs the admin token.
func (c *Client) Replay(ctx context.Context, r ReplayRequest) (offline.Replayed, error) {
	return send[offline.Replayed](ctx, c, Request{Method: http.MethodPost, Path: "/v1/replay", Repeatable: true, Timeout: longestTimeout}, r)
}
