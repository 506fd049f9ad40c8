package handler

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// MaxJobBody is the largest accepted body of POST /v1/jobs, in bytes.
const MaxJobBody = 4 << 10

func (s *server) jobRoutes(route router) {
	route(http.MethodGet, changesPath, s.admin(s.getChanges))
	const one = "/v1/jobs/:id"
	route(http.MethodGet, "/v1/jobs", s.admin(serveInput(s.gated, nobody, query(jobsQuery{Limit: defaultList}), s.getJobs)))
	route(http.MethodPost, "/v1/jobs", s.admin(serveInput(s.gated, nobody, body(MaxJobBody, jobBody{}), s.postJobs)))
	route(http.MethodPost, "/v1/jobs/rederive", s.admin(serveInput(s.gated, nobody, body(MaxJobBody, rederiveBody{Limit: defaultRederived}), s.rederive)))
	route(http.MethodPost, one+"/retry", s.admin(s.of(jobID, s.retryJob)))
	route(http.MethodDelete, one, s.admin(s.of(jobID, s.dropJob)))
}

// jobsQuery are the parameters of GET /v1/jobs.
type jobsQuery struct {
	Kind  queryText `json:"kind"`
	State queryText `json:"state"`
	Key   queryText `json:"key"`
	After int64     `json:"after"`
	Limit int       `json:"limit"`
}

func (q jobsQuery) filter() (jobs.Filter, error) {
	f := jobs.Filter{Kind: jobs.Kind(q.Kind), State: jobs.State(q.State), Key: string(q.Key), After: q.After, Limit: q.Limit}
	switch {
	case f.Kind != "" && !slices.Contains(jobs.Kinds(), f.Kind):
		return f, fmt.Errorf("%w: kind must be one of %v, not %.40q", feed.ErrInvalid, jobs.Kinds(), f.Kind)
	case f.State != "" && !slices.Contains(jobs.States(), f.State):
		return f, fmt.Errorf("%w: state must be one of %v, not %.40q", feed.ErrInvalid, jobs.States(), f.State)
	case f.After < 0:
		return f, fmt.Errorf("%w: after must be the id of a job, or 0, not %d", feed.ErrInvalid, f.After)
	}
	return f, feed.CheckLimit(f.Limit, MaxList)
}

// getJobs answers GET /v1/jobs with a page of the queue, by id, and a summary of the whole queue.
func (s *server) getJobs(ctx context.Context, _ *call, _ string, ask *jobsQuery) (any, error) {
	f, err := ask.filter()
	if err != nil {
		return nil, err
	}
	f.Limit++
	list, err := s.deps.Social.Queue.List(ctx, f)
	if err != nil {
		return nil, err
	}
	stats, err := s.deps.Social.Queue.Stats(ctx)
	page, last := firstPage(list, ask.Limit)
	data := api.JobPage[jobs.Job]{Jobs: page, Queue: api.JobQueue{Rows: []api.JobRows{}, Oldest: stats.Oldest.Seconds()}}
	if last != nil {
		data.NextAfter = &last.ID
	}
	for _, r := range stats.Rows {
		data.Queue.Rows = append(data.Queue.Rows, api.JobRows{Kind: string(r.Kind), State: string(r.State), Count: r.N})
	}
	return data, err
}

// jobBody is the body of POST /v1/jobs.
type jobBody struct {
	Post string `json:"post"`
}

func (b *jobBody) check() error {
	if err := social.CheckPostID(b.Post); err != nil {
		return fmt.Errorf("post: %w", err)
	}
	return nil
}

// marked is the data of POST /v1/jobs.
type marked struct {
	Kinds []jobs.Kind `json:"kinds"`
	Key   string      `json:"key"`
}

// postJobs answers POST /v1/jobs: the data derived from a post is derived again.
func (s *server) postJobs(ctx context.Context, _ *call, _ string, in *jobBody) (any, error) {
	return marked{[]jobs.Kind{jobs.Deliver, jobs.Index}, in.Post}, s.markPost(ctx, in.Post)
}

func (s *server) markPost(ctx context.Context, id string) error {
	posts, err := s.deps.Social.Store.PostsByID(ctx, []string{id})
	if err != nil {
		return err
	}
	if posts[0].ID == "" {
		return fmt.Errorf("%s: %w", id, feed.ErrNotFound)
	}
	return s.deps.Social.Queue.Enqueue(ctx,
		jobs.Spec{Kind: jobs.Deliver, Key: id, Priority: jobs.PrioritySoon},
		jobs.Spec{Kind: jobs.Index, Key: id, Priority: jobs.PrioritySoon})
}

// defaultRederived is how many posts, or items, a call of POST /v1/jobs/rederive reads.
const defaultRederived = 500

// rederiveBody is the body of POST /v1/jobs/rederive.
type rederiveBody struct {
	Cursor string `json:"cursor"`
	Limit  int    `json:"limit"`
}

func (b *rederiveBody) check() error { return feed.CheckLimit(b.Limit, MaxList) }

// rederive answers POST /v1/jobs/rederive: a step of what makes all derived data agree with the posts.
func (s *server) rederive(ctx context.Context, _ *call, _ string, in *rederiveBody) (any, error) {
	return s.deps.Social.Rederive(ctx, in.Cursor, in.Limit)
}

// jobID returns the id in the path.
func jobID(c *call) (string, error) { return c.gin.Param("id"), nil }

// retryJob answers POST /v1/jobs/{id}/retry.
func (s *server) retryJob(ctx context.Context, text string) error {
	id, err := parseJobID(text)
	if err != nil {
		return err
	}
	return s.deps.Social.Queue.Retry(ctx, id)
}

// dropJob answers DELETE /v1/jobs/{id}.
func (s *server) dropJob(ctx context.Context, text string) error {
	id, err := parseJobID(text)
	if err != nil {
		return err
	}
	return s.deps.Social.Queue.Drop(ctx, id)
}

func parseJobID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: a job id must be a whole number, not %.40q", feed.ErrInvalid, text)
	}
	return id, nil
}
