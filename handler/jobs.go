package handler

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

const (
	// MaxJobs is the largest limit of a list of jobs.
	MaxJobs = 1000
	// MaxJobBody is the largest accepted body of POST /v1/jobs, in bytes.
	MaxJobBody  = 4 << 10
	defaultJobs = 100
)

func (s *server) jobRoutes(route router) {
	const one, name = "/v1/jobs/:id", "/v1/jobs/{id}"
	queue := s.deps.Social.Queue
	route(http.MethodGet, "/v1/jobs", "/v1/jobs", s.getJobs)
	route(http.MethodPost, "/v1/jobs", "/v1/jobs", s.postJobs)
	route(http.MethodPost, one+"/retry", name+"/retry", s.changeJob(queue.Retry))
	route(http.MethodDelete, one, name, s.changeJob(queue.Drop))
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
	return f, feed.CheckLimit(f.Limit, MaxJobs)
}

// jobList is the data of GET /v1/jobs.
type jobList struct {
	Jobs  []jobs.Job `json:"jobs"`
	Next  *int64     `json:"next_after"` // null: no more
	Queue queueView  `json:"queue"`
}

// queueView is the queue as a whole, whatever was asked for.
type queueView struct {
	Rows   []rowsView `json:"rows"`
	Oldest float64    `json:"oldest_seconds"`
}

type rowsView struct {
	Kind  jobs.Kind  `json:"kind"`
	State jobs.State `json:"state"`
	Count int64      `json:"count"`
}

// getJobs answers GET /v1/jobs with a page of the queue, by id, and what the whole
// of it looks like.
func (s *server) getJobs(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	ask := jobsQuery{Limit: defaultJobs}
	if err := c.decodeQuery(&ask); err != nil {
		return err
	}
	f, err := ask.filter()
	if err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	f.Limit++
	list, err := s.deps.Social.Queue.List(ctx, f)
	if err != nil {
		return err
	}
	stats, err := s.deps.Social.Queue.Stats(ctx)
	if err != nil {
		return err
	}
	data := jobList{Queue: queueView{Rows: []rowsView{}, Oldest: stats.Oldest.Seconds()}}
	if len(list) > ask.Limit {
		list = list[:ask.Limit]
		data.Next = &list[ask.Limit-1].ID
	}
	data.Jobs = append([]jobs.Job{}, list...)
	for _, r := range stats.Rows {
		data.Queue.Rows = append(data.Queue.Rows, rowsView{r.Kind, r.State, r.N})
	}
	return c.succeed(data)
}

// marked is the data of POST /v1/jobs.
type marked struct {
	Kinds []jobs.Kind `json:"kinds"`
	Key   string      `json:"key"`
}

// postJobs answers POST /v1/jobs: what is derived of a post is derived again.
func (s *server) postJobs(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	var in struct {
		Post string `json:"post"`
	}
	if err := c.readJSON(MaxJobBody, &in); err != nil {
		return err
	}
	if err := social.CheckPostID(in.Post); err != nil {
		return fmt.Errorf("post: %w", err)
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	if err := s.markPost(ctx, in.Post); err != nil {
		return err
	}
	return c.succeed(marked{[]jobs.Kind{jobs.Deliver, jobs.Index}, in.Post})
}

func (s *server) markPost(ctx context.Context, id string) error {
	posts, err := s.deps.Social.Store.PostsByID(ctx, []string{id})
	if err != nil {
		return err
	}
	if posts[0].ID == "" {
		return fmt.Errorf("%s: %w", id, feed.ErrNotFound)
	}
	return s.deps.Social.Queue.Mark(ctx,
		jobs.Dirty{Kind: jobs.Deliver, Key: id, Priority: jobs.PrioritySoon},
		jobs.Dirty{Kind: jobs.Index, Key: id, Priority: jobs.PrioritySoon})
}

// changeJob answers POST /v1/jobs/{id}/retry and DELETE /v1/jobs/{id}.
func (s *server) changeJob(do func(ctx context.Context, id int64) error) func(*call) error {
	return func(c *call) error {
		if err := s.auth.admin(c.gin.Request); err != nil {
			return err
		}
		id, err := strconv.ParseInt(c.gin.Param("id"), 10, 64)
		if err != nil {
			return fmt.Errorf("%w: the id of a job is a whole number, not %.40q", feed.ErrInvalid, c.gin.Param("id"))
		}
		ctx, cancel := s.deadline(c)
		defer cancel()
		if err := do(ctx, id); err != nil {
			return err
		}
		return c.succeed(empty{})
	}
}
