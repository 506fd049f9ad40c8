package client

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/freshet/freshet/feed/api"
)

// Job is a job of the queue behind posts, follows and timelines.
type Job struct {
	ID         int64     `json:"id"`
	Kind       string    `json:"kind"`
	Key        string    `json:"key"`        // what it is about, such as the id of a post
	Generation int64     `json:"generation"` // how often it became dirty
	Priority   int       `json:"priority"`   // the least goes first
	State      string    `json:"state"`      // pending, running, completed, failed or dead
	Due        time.Time `json:"due"`        // it should run since
	RunAt      time.Time `json:"run_at"`     // it runs not before
	Attempts   int       `json:"attempts"`
	Error      string    `json:"error"` // of the last attempt
	LeasedTill time.Time `json:"leased_until"`
	FinishedAt time.Time `json:"finished_at"`
}

// JobFilter chooses jobs. Zero fields choose all.
type JobFilter struct {
	Kind, State, Key string
	After            int64 // ids greater than this one
	Limit            int   // 1 to 1,000; 0: the server's 100
}

// JobPage is a page of the queue.
type JobPage = api.JobPage[Job]

// Jobs calls GET /v1/jobs. It needs the admin token, as all calls of jobs do.
func (c *Client) Jobs(ctx context.Context, f JobFilter) (JobPage, error) {
	path := withQuery("/v1/jobs",
		map[string]string{"kind": f.Kind, "state": f.State, "key": f.Key},
		map[string]int64{"after": f.After, "limit": int64(f.Limit)})
	return call[JobPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// DeriveAgain calls POST /v1/jobs: lists and catalog are made to agree with a
// post again. [ErrNotFound] where there is no such post.
func (c *Client) DeriveAgain(ctx context.Context, post string) error {
	_, err := send[struct{}](ctx, c, Request{Method: http.MethodPost, Path: "/v1/jobs", Repeatable: true}, map[string]string{"post": post})
	return err
}

// RetryJob calls POST /v1/jobs/{id}/retry: the job is due now, with all its
// attempts. [ErrNotFound] where there is no such job.
func (c *Client) RetryJob(ctx context.Context, id int64) error {
	_, err := c.Do(ctx, Request{Method: http.MethodPost, Path: jobPath(id) + "/retry", Repeatable: true})
	return err
}

// DropJob calls DELETE /v1/jobs/{id}. [ErrNotFound] where there is no such job,
// as after a repetition.
func (c *Client) DropJob(ctx context.Context, id int64) error {
	_, err := c.Do(ctx, Request{Method: http.MethodDelete, Path: jobPath(id), Repeatable: true})
	return err
}

func jobPath(id int64) string { return "/v1/jobs/" + strconv.FormatInt(id, 10) }
