package handler

import (
	"cmp"
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
	req, err := decodeFeed(body, agent)
	if err != nil {
		return err
	}
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

// decodeFeed reads the body of an agent's call.
func decodeFeed(body []byte, agent string) (engine.Request, error) {
	in := feedBody{Limit: engine.DefaultLimit}
	if err := decode(body, &in); err != nil {
		return engine.Request{}, err
	}
	req := engine.Request{Agent: agent, Action: in.Action, Limit: in.Limit, Silent: in.Silent, Why: in.Why, Feed: in.Feed}
	if in.RequestID == nil {
		return req, req.Validate()
	}
	req.RequestID = *in.RequestID
	return req, cmp.Or(req.Validate(), feed.CheckRequestID(req.RequestID)) // "" is none to the engine
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
