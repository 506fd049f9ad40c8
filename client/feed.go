package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// Values of [Ask.Action].
const (
	ActionRefresh  = "refresh"   // the best unseen items
	ActionLoadMore = "load_more" // the next page of the last refresh
)

// rememberedFor is how long a server stores a request id (a minute), less the time of the last
// attempt.
const rememberedFor = 45 * time.Second

// Ask is a request for a page of the feed.
type Ask struct {
	Action string `json:"action"`
	Limit  int    `json:"limit,omitempty"` // items of the page, 1 to 100; 0 is the server's default of 20
	// Silent checks for items that are new since the last refresh and changes nothing.
	Silent bool `json:"silent,omitempty"`
	// RequestID makes the server return the same page again for a minute. If it is "", a client with
	// retries uses a random one.
	RequestID string `json:"request_id,omitempty"`
	// Feed selects the agent's feed: [feed.ForYou], the default, [feed.HomeFeed], a tag ("tag:go"), a
	// language ("lang:de") or a stored feed.
	Feed feed.Name `json:"feed,omitempty"`
	// Why requests the reasons for each item; read them with [InFeedOf].
	Why bool `json:"why,omitempty"`
}

// Page is a page of the feed.
type Page struct {
	Items     []feed.Item `json:"items"`
	HasMore   bool        `json:"has_more"`   // if false, the next load_more is a refresh, which may find more
	NewCount  *int        `json:"new_count"`  // silent refreshes only
	NewReader bool        `json:"new_reader"` // no refresh of the reader had finished before this call
	Degraded  []string    `json:"degraded"`   // features that were unavailable; an empty page is then not the end
	RequestID string      `json:"request_id"`

	rawResponse
}

// InFeedOf returns the reader-specific data of an item or a post on a page, or nil if there is
// none.
func InFeedOf(it feed.Item) (*InFeed, error) {
	raw, ok := it.Business[feed.InFeed]
	if !ok {
		return nil, nil
	}
	var in InFeed
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("item %s: in_feed: %w", it.ID, err)
	}
	return &in, nil
}

// Refresh returns the best unseen items. The remaining items are available through
// [Client.LoadMore].
func (c *Client) Refresh(ctx context.Context, limit int) (Page, error) {
	return c.Feed(ctx, Ask{Action: ActionRefresh, Limit: limit})
}

// LoadMore returns the next page of the last refresh.
func (c *Client) LoadMore(ctx context.Context, limit int) (Page, error) {
	return c.Feed(ctx, Ask{Action: ActionLoadMore, Limit: limit})
}

// Silent returns the items of a refresh that are newer than the last one, and changes nothing. If
// there are any, show a "new" badge.
func (c *Client) Silent(ctx context.Context, limit int) (Page, error) {
	return c.Feed(ctx, Ask{Action: ActionRefresh, Limit: limit, Silent: true})
}

// Feed calls POST /v1/feed.
func (c *Client) Feed(ctx context.Context, ask Ask) (Page, error) {
	r := Request{Method: http.MethodPost, Path: "/v1/feed", Repeatable: true}
	if !ask.Silent {
		if ask.RequestID == "" && c.tries > 1 {
			ask.RequestID = rand.Text()
		}
		r.Repeatable, r.Within = ask.RequestID != "", rememberedFor
	}
	return send[Page](ctx, c, r, ask)
}

// GuestPage is a page of the feed for readers without an account.
type GuestPage struct {
	Items    []feed.Item `json:"items"`    // best first; [InFeedOf] returns the source and the trend
	Degraded []string    `json:"degraded"` // features that were unavailable

	rawResponse
}

// Guest calls GET /v1/feed/guest: trending items, the same for everyone, so that no agent is
// needed. limit is 1 to 100, 0 for the server's default of 20.
func (c *Client) Guest(ctx context.Context, limit int) (GuestPage, error) {
	path := withQuery("/v1/feed/guest", nil, map[string]int64{"limit": int64(limit)})
	return call[GuestPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// RelatedPage holds the items related to another one.
type RelatedPage struct {
	Items    []feed.Item `json:"items"`    // [InFeedOf] returns the one reason of each
	Degraded []string    `json:"degraded"` // features that were unavailable

	rawResponse
}

// Related calls GET /v1/items/{id}/related: what the readers of an item or a post have read as well,
// then what shares a tag with it. limit is 1 to 100, 0 for the server's default of 10.
func (c *Client) Related(ctx context.Context, id string, limit int) (RelatedPage, error) {
	path := withQuery(v1("items", id, "related"), nil, map[string]int64{"limit": int64(limit)})
	return call[RelatedPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// Timeline calls GET /v1/timeline: all new posts from the authors that the agent follows, newest
// first. cursor is the NextCursor of the previous page, "" for the newest; limit is 1 to 100, 0 for
// the server's default of 20.
func (c *Client) Timeline(ctx context.Context, cursor string, limit int) (PostPage, error) {
	return call[PostPage](ctx, c, Request{Method: http.MethodGet, Path: withPage("/v1/timeline", "cursor", cursor, limit), Repeatable: true})
}

// WarmTimeline calls POST /v1/timeline/warm, which makes the agent's next [Client.Timeline] fast.
func (c *Client) WarmTimeline(ctx context.Context) error {
	return c.run(ctx, http.MethodPost, "/v1/timeline/warm")
}

// maxEvents is the maximum number of events in one call.
const maxEvents = 500

// The types of events.
const (
	Click   = "click"
	Like    = "like"
	Unlike  = "unlike" // takes a like back; reports keep counting it
	Dislike = "dislike"
	Hide    = "hide" // also mutes the item for the agent permanently
)

// Events calls POST /v1/events: it reports the agent's actions. Long lists take several calls;
// reporting an event twice is harmless.
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

// maxImpressions is the maximum number of items in one report.
const maxImpressions = 500

// Seen calls POST /v1/impressions: it reports that the agent has seen these items. It is needed if
// the server has impressions.on set to seen; otherwise it is harmless, as are repeated reports.
// Long lists take several calls.
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
