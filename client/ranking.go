package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// RankingChange says what shall become of the live ranking, and who says so.
type RankingChange struct {
	Ranking *feed.Ranking `json:"ranking,omitempty"` // nil: as it is
	// Experiments is the whole list of those that shall run; empty ends all, nil
	// leaves them as they are.
	Experiments []Experiment `json:"experiments,omitzero"`
	By          string       `json:"by,omitempty"` // "": admin
	Why         string       `json:"why,omitempty"`
}

// AnyVersion lets a change be made whichever version of the ranking is the
// newest.
const AnyVersion = -1

// Ranking calls GET /v1/ranking: the newest version. It needs the admin token,
// as all calls of the ranking do.
func (c *Client) Ranking(ctx context.Context) (RankingVersion, error) {
	return call[RankingVersion](ctx, c, Request{Method: http.MethodGet, Path: "/v1/ranking", Repeatable: true})
}

// PutRanking calls PUT /v1/ranking and returns the version it made. onlyIf is
// the version that must be the newest, or [AnyVersion]; [ErrPrecondition] where
// another one is: read it, and decide again.
func (c *Client) PutRanking(ctx context.Context, onlyIf int, change RankingChange) (RankingVersion, error) {
	return send[RankingVersion](ctx, c, Request{Method: http.MethodPut, Path: "/v1/ranking", Header: ifVersion(onlyIf)}, change)
}

// RevertRanking calls POST /v1/ranking/revert and returns the version it made,
// equal to version to; 0 is the configuration's. onlyIf is as for
// PutRanking. A version that never was is [ErrNotFound].
func (c *Client) RevertRanking(ctx context.Context, onlyIf, to int, by, why string) (RankingVersion, error) {
	body := struct {
		Version int    `json:"version"`
		By      string `json:"by,omitempty"`
		Why     string `json:"why,omitempty"`
	}{to, by, why}
	return send[RankingVersion](ctx, c, Request{Method: http.MethodPost, Path: "/v1/ranking/revert", Header: ifVersion(onlyIf)}, body)
}

// RankingHistory calls GET /v1/ranking/history: the newest versions, newest
// first, at most limit (1 to 100). Where there is room, version 0 comes last.
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
