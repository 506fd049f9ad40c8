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

// What [Ask.Action] may be.
const (
	ActionRefresh  = "refresh"   // the best unseen items now
	ActionLoadMore = "load_more" // the next page of the last refresh
)

// rememberedFor is how long a server knows a request id (a minute), less what
// the last try itself may take.
const rememberedFor = 45 * time.Second

// Ask is one call of the feed.
type Ask struct {
	Action string `json:"action"`
	Limit  int    `json:"limit,omitempty"` // items of the page, 1 to 100; 0: the server's 20
	// Silent looks for what is new since the last refresh and changes nothing.
	Silent bool `json:"silent,omitempty"`
	// RequestID makes the server answer the same page again for a minute; "" takes a random
	// one where the client retries.
	RequestID string `json:"request_id,omitempty"`
	// Feed is which of the agent's feeds is read: [feed.ForYou], which "" is too, or
	// [feed.HomeFeed].
	Feed feed.Name `json:"feed,omitempty"`
	// Why asks why each item is there; [InFeedOf] reads the answer.
	Why bool `json:"why,omitempty"`
}

// Page is the answer of the feed.
type Page struct {
	Items     []feed.Item `json:"items"`
	HasMore   bool        `json:"has_more"`   // false: the next load_more is a refresh, which may find more
	NewCount  *int        `json:"new_count"`  // silent refreshes only
	NewReader bool        `json:"new_reader"` // no refresh of the reader had ended before this call
	Degraded  []string    `json:"degraded"`   // what the server had to do without
	RequestID string      `json:"request_id"`

	asSent
}

// InFeedOf returns what a page says about the reader of an item or a post, nil
// where it says nothing.
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

// Refresh answers the best unseen items now. The rest of what was found waits
// for [Client.LoadMore].
func (c *Client) Refresh(ctx context.Context, limit int) (Page, error) {
	return c.Feed(ctx, Ask{Action: ActionRefresh, Limit: limit})
}

// LoadMore answers the next page of the last refresh.
func (c *Client) LoadMore(ctx context.Context, limit int) (Page, error) {
	return c.Feed(ctx, Ask{Action: ActionLoadMore, Limit: limit})
}

// Silent answers what a refresh would find that is newer than the last one,
// and changes nothing: with items, show a "new" badge.
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

// GuestPage is the feed for readers without an account.
type GuestPage struct {
	Items    []feed.Item `json:"items"`    // best first; [InFeedOf] has the source and the trend
	Degraded []string    `json:"degraded"` // what the server had to do without

	asSent
}

// Guest calls GET /v1/feed/guest: what trends, the same for everybody, so that no agent
// is needed. limit is 1 to 100, 0 for the server's 20.
func (c *Client) Guest(ctx context.Context, limit int) (GuestPage, error) {
	path := withQuery("/v1/feed/guest", nil, map[string]int64{"limit": int64(limit)})
	return call[GuestPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// Timeline calls GET /v1/timeline: everything new from whom the agent follows,
// newest first. cursor is the NextCursor of the page before, "" for the newest;
// limit is 1 to 100, 0 for the server's 20.
func (c *Client) Timeline(ctx context.Context, cursor string, limit int) (PostPage, error) {
	return call[PostPage](ctx, c, Request{Method: http.MethodGet, Path: withPage("/v1/timeline", "cursor", cursor, limit), Repeatable: true})
}

// WarmTimeline calls POST /v1/timeline/warm: the agent's next [Client.Timeline]
// is fast.
func (c *Client) WarmTimeline(ctx context.Context) error {
	return c.run(ctx, http.MethodPost, "/v1/timeline/warm")
}

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

// Seen calls POST /v1/impressions: the agent has seen these items. It is needed where the
// server has impressions.on set to seen, and harmless elsewhere and twice. Long lists take
// several calls.
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
