package client

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// Item calls GET /v1/items/{id}. It needs the admin token.
func (c *Client) Item(ctx context.Context, id string) (feed.Item, error) {
	return call[feed.Item](ctx, c, Request{Method: http.MethodGet, Path: v1("items", id), Repeatable: true})
}

// PatchItem calls PATCH /v1/items/{id}, with the admin token: fields replace those of the stored
// item, nil removes a field, and the others remain. It returns the stored item.
func (c *Client) PatchItem(ctx context.Context, id string, fields map[string]any) (feed.Item, error) {
	return send[feed.Item](ctx, c, Request{Method: http.MethodPatch, Path: v1("items", id), Repeatable: true}, fields)
}

// DeleteItem calls DELETE /v1/items/{id}, with the admin token: no reader is shown the item any
// more.
func (c *Client) DeleteItem(ctx context.Context, id string) error {
	return c.run(ctx, http.MethodDelete, v1("items", id))
}

// PutItem stores one item through POST /v1/items, replacing any item with its id. For many,
// [Client.Ingest] is faster. It needs the admin token.
func (c *Client) PutItem(ctx context.Context, item feed.Item) error {
	report, err := send[api.Upload](ctx, c, Request{
		Method: http.MethodPost, Path: "/v1/items", Type: "application/x-ndjson", Repeatable: true,
	}, item)
	if err != nil {
		return err
	}
	if len(report.Errors) > 0 {
		return errors.New("the item was not stored: " + report.Errors[0].Reason)
	}
	if report.Accepted != 1 {
		return errors.New("the item was not stored, and the response has no reason")
	}
	return nil
}

// ItemFilter selects items. Zero fields match all.
type ItemFilter struct {
	Author string
	Tag    string
	Words  string // the title has all of them, in any case; at most ten
	Since  int64  // Unix seconds; minimum update_time
	Cursor string // ItemPage.NextCursor of the previous page
	Limit  int    // 1 to 200; 0 is the server's default of 100
}

// ItemPage is a page of the stored items.
type ItemPage struct {
	Items      []feed.Item `json:"items"`       // youngest first
	NextCursor *string     `json:"next_cursor"` // nil on the last page
}

// Items calls GET /v1/items: the stored items, except posts. It needs the admin token.
func (c *Client) Items(ctx context.Context, f ItemFilter) (ItemPage, error) {
	path := withQuery("/v1/items",
		map[string]string{"author": f.Author, "tag": f.Tag, "words": f.Words, "cursor": f.Cursor},
		map[string]int64{"since": f.Since, "limit": int64(f.Limit)})
	return call[ItemPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// Job is a job in the queue that processes posts, follows and timelines.
type Job struct {
	ID         int64     `json:"id"`
	Kind       string    `json:"kind"`
	Key        string    `json:"key"`        // its subject, such as the id of a post
	Generation int64     `json:"generation"` // how often it became dirty
	Priority   int       `json:"priority"`   // jobs with lower values run first
	State      string    `json:"state"`      // pending, running, completed, failed or dead
	Due        time.Time `json:"due"`        // when it became due
	RunAt      time.Time `json:"run_at"`     // when it may run next
	Attempts   int       `json:"attempts"`
	Error      string    `json:"error"` // of the last attempt
	LeasedTill time.Time `json:"leased_until"`
	FinishedAt time.Time `json:"finished_at"`
}

// JobFilter selects jobs. Zero fields match all.
type JobFilter struct {
	Kind, State, Key string
	After            int64 // ids greater than this one
	Limit            int   // 1 to 1,000; 0 is the server's default of 100
}

// JobPage is a page of the queue.
type JobPage = api.JobPage[Job]

// Jobs calls GET /v1/jobs. It needs the admin token, as do all calls for jobs.
func (c *Client) Jobs(ctx context.Context, f JobFilter) (JobPage, error) {
	path := withQuery("/v1/jobs",
		map[string]string{"kind": f.Kind, "state": f.State, "key": f.Key},
		map[string]int64{"after": f.After, "limit": int64(f.Limit)})
	return call[JobPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// Overview calls GET /v1/overview: what the servers did in the last hour and the last seven days. It needs
// the admin token.
func (c *Client) Overview(ctx context.Context) (Overview, error) {
	return call[Overview](ctx, c, Request{Method: http.MethodGet, Path: "/v1/overview", Repeatable: true})
}

// ItemReaders calls GET /v1/readers: how many distinct readers have acted on an item. It needs the admin token.
func (c *Client) ItemReaders(ctx context.Context, item string) (ItemReaders, error) {
	path := withQuery("/v1/readers", map[string]string{"item": item}, nil)
	return call[ItemReaders](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// System calls GET /v1/system: the server's version, stores, and settings in force. It needs the admin token.
func (c *Client) System(ctx context.Context) (System, error) {
	return call[System](ctx, c, Request{Method: http.MethodGet, Path: "/v1/system", Repeatable: true})
}

// Diagnose calls POST /v1/doctor: the server checks each of its dependencies, which may take some seconds. It
// needs the admin token.
func (c *Client) Diagnose(ctx context.Context) ([]Finding, error) {
	found, err := call[api.Diagnosis](ctx, c, Request{Method: http.MethodPost, Path: "/v1/doctor", Repeatable: true})
	return found.Findings, err
}

// DeriveAgain calls POST /v1/jobs: the timelines and catalog entries derived from a post are
// rebuilt. It returns [ErrNotFound] if there is no such post.
func (c *Client) DeriveAgain(ctx context.Context, post string) error {
	_, err := send[struct{}](ctx, c, Request{Method: http.MethodPost, Path: "/v1/jobs", Repeatable: true}, map[string]string{"post": post})
	return err
}

// Rederived is the result of a step of [Client.Rederive].
type Rederived = api.Rederived

// Rederive calls POST /v1/jobs/rederive: a step of what makes lists and items agree with the posts, as after one
// of them was restored. cursor is the NextCursor of the step before, "" for the first; limit is about how many
// posts or items the step reads, 1 to 1,000, 0 for the server's default of 500.
func (c *Client) Rederive(ctx context.Context, cursor string, limit int) (Rederived, error) {
	body := map[string]any{}
	if cursor != "" {
		body["cursor"] = cursor
	}
	if limit != 0 {
		body["limit"] = limit
	}
	return send[Rederived](ctx, c, Request{Method: http.MethodPost, Path: "/v1/jobs/rederive", Repeatable: true}, body)
}

// RetryJob calls POST /v1/jobs/{id}/retry: the job becomes due now, with its full number of
// attempts.
func (c *Client) RetryJob(ctx context.Context, id int64) error {
	return c.run(ctx, http.MethodPost, v1("jobs", strconv.FormatInt(id, 10), "retry"))
}

// DropJob calls DELETE /v1/jobs/{id}.
func (c *Client) DropJob(ctx context.Context, id int64) error {
	return c.run(ctx, http.MethodDelete, v1("jobs", strconv.FormatInt(id, 10)))
}

// PutPromotion calls PUT /v1/promoted/{id}, with the admin token, as do all calls for promotions.
// It returns [ErrUnprocessable] if the maximum number of promotions is running.
func (c *Client) PutPromotion(ctx context.Context, id string, change PromotionChange) (Promotion, error) {
	return send[Promotion](ctx, c, Request{Method: http.MethodPut, Path: v1("promoted", id), Repeatable: true}, change)
}

// Promotion calls GET /v1/promoted/{id}.
func (c *Client) Promotion(ctx context.Context, id string) (Promotion, error) {
	return call[Promotion](ctx, c, Request{Method: http.MethodGet, Path: v1("promoted", id), Repeatable: true})
}

// DeletePromotion calls DELETE /v1/promoted/{id}.
func (c *Client) DeletePromotion(ctx context.Context, id string) error {
	return c.run(ctx, http.MethodDelete, v1("promoted", id))
}

// Promotions calls GET /v1/promoted. after is the NextAfter of the previous page, "" for the first;
// limit is 1 to 1,000, 0 for the server's default of 100.
func (c *Client) Promotions(ctx context.Context, after string, limit int) (PromotionPage, error) {
	return call[PromotionPage](ctx, c, Request{Method: http.MethodGet, Path: withPage("/v1/promoted", "after", after, limit), Repeatable: true})
}
