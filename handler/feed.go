package handler

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// postFeed answers POST /v1/feed.
func (s *server) postFeed(c *call) error {
	agent, err := s.caller(c)
	if err != nil {
		return err
	}
	body, err := c.readBody(MaxFeedBody)
	if err != nil {
		return err
	}
	req, err := decodeFeed(body)
	if err != nil {
		return err
	}
	req.Agent = agent
	if err := idempotencyKey(c.gin.Request, &req); err != nil {
		return err
	}
	var answer engine.Answer
	err = s.work(c, func(ctx context.Context) (err error) {
		answer, err = s.deps.Feed.Feed(ctx, req)
		return err
	})
	if err != nil {
		return err
	}
	if len(answer.Degraded) > 0 {
		c.lacks = strings.Join(answer.Degraded, ",")
	}
	c.out = appendPage(c.out[:0], &req, &answer)
	c.send(http.StatusOK, 0, c.out)
	return nil
}

// feedBody is the body of POST /v1/feed.
type feedBody struct {
	Action    engine.Action `json:"action"`
	Limit     int           `json:"limit"`
	Silent    bool          `json:"silent"`
	RequestID *string       `json:"request_id"`
	Why       bool          `json:"why"`
	Feed      feed.Name     `json:"feed"`
}

// decodeFeed reads the body and checks each field's bounds.
func decodeFeed(body []byte) (engine.Request, error) {
	in := feedBody{Limit: engine.DefaultLimit}
	if err := decode(body, &in); err != nil {
		return engine.Request{}, err
	}
	req := engine.Request{Action: in.Action, Limit: in.Limit, Silent: in.Silent, Why: in.Why, Feed: in.Feed}
	if err := in.Feed.Check(); err != nil {
		return req, err
	}
	if in.Action == "" {
		return req, fmt.Errorf(`%w: action is missing; send "refresh" or "load_more"`, feed.ErrBadAction)
	}
	if in.Action != engine.ActionRefresh && in.Action != engine.ActionLoadMore {
		return req, fmt.Errorf(`%w: action must be "refresh" or "load_more", not %.40q`, feed.ErrBadAction, in.Action)
	}
	if in.Silent && in.Action != engine.ActionRefresh {
		return req, fmt.Errorf("%w: silent goes with refresh only", feed.ErrBadAction)
	}
	if in.RequestID != nil {
		req.RequestID = *in.RequestID
		if err := feed.CheckRequestID(req.RequestID); err != nil {
			return req, err
		}
	}
	return req, checkLimit(in.Limit)
}

func checkLimit(limit int) error {
	if limit < 1 || limit > engine.MaxLimit {
		return fmt.Errorf("%w: limit must be a whole number from 1 to %d, not %d", feed.ErrBadLimit, engine.MaxLimit, limit)
	}
	return nil
}

// idempotencyKey reads the request id from the header where the body has none.
func idempotencyKey(r *http.Request, req *engine.Request) error {
	for _, key := range r.Header["Idempotency-Key"] {
		if err := feed.CheckRequestID(key); err != nil {
			return fmt.Errorf("header Idempotency-Key: %w", err)
		}
		if req.RequestID != "" && req.RequestID != key {
			return fmt.Errorf("%w: request_id and Idempotency-Key differ; send one of them", feed.ErrInvalid)
		}
		req.RequestID = key
	}
	return nil
}
