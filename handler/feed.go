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

// What has been seen of a feed body.
const (
	gotAction = 1 << iota
	gotLimit
	gotSilent
	gotRequestID
)

// decodeFeed reads the body strictly: every field at most once, of its type and
// within its bounds, and no other field.
func decodeFeed(body []byte) (engine.Request, error) {
	req := engine.Request{Limit: engine.DefaultLimit}
	object, err := openObject(body)
	if err != nil {
		return req, err
	}
	got := 0
	for {
		name, value, ok := object.next()
		if !ok {
			break
		}
		bit := 0
		switch string(name) {
		case "action":
			bit, err = gotAction, decodeAction(value, &req)
		case "limit":
			bit, err = gotLimit, decodeLimit(value, &req)
		case "silent":
			bit, err = gotSilent, decodeSilent(value, &req)
		case "request_id":
			bit, err = gotRequestID, decodeRequestID(value, &req)
		default:
			return req, unknownField(name, "action, limit, silent and request_id")
		}
		if got&bit != 0 {
			return req, repeatedField(string(name))
		}
		if err != nil {
			return req, err
		}
		got |= bit
	}
	if got&gotAction == 0 {
		return req, fmt.Errorf(`%w: action is missing; send "refresh" or "load_more"`, engine.ErrBadAction)
	}
	if req.Silent && req.Action != engine.ActionRefresh {
		return req, fmt.Errorf("%w: silent goes with refresh only", errBadRequest)
	}
	return req, nil
}

func decodeAction(value []byte, req *engine.Request) error {
	if isString(value) {
		switch string(unquote(value)) {
		case string(engine.ActionRefresh):
			req.Action = engine.ActionRefresh
			return nil
		case string(engine.ActionLoadMore):
			req.Action = engine.ActionLoadMore
			return nil
		}
	}
	return fmt.Errorf(`%w: action must be "refresh" or "load_more"`, engine.ErrBadAction)
}

func decodeLimit(value []byte, req *engine.Request) error {
	n := 0
	for i, digit := range value {
		if digit < '0' || digit > '9' || i > 3 {
			n = 0
			break
		}
		n = 10*n + int(digit-'0')
	}
	if n < 1 || n > engine.MaxLimit {
		return fmt.Errorf("%w: limit must be a whole number from 1 to %d", engine.ErrBadLimit, engine.MaxLimit)
	}
	req.Limit = n
	return nil
}

func decodeSilent(value []byte, req *engine.Request) error {
	switch string(value) {
	case "true":
		req.Silent = true
		return nil
	case "false":
		return nil
	}
	return fmt.Errorf("%w: silent must be true or false", errBadRequest)
}

func decodeRequestID(value []byte, req *engine.Request) error {
	if !isString(value) {
		return fmt.Errorf("%w: request_id must be a string", errBadRequest)
	}
	req.RequestID = string(unquote(value))
	return feed.CheckRequestID(req.RequestID)
}

// idempotencyKey takes the request id from the header where the body has none.
func idempotencyKey(r *http.Request, req *engine.Request) error {
	for _, key := range r.Header["Idempotency-Key"] {
		if err := feed.CheckRequestID(key); err != nil {
			return fmt.Errorf("header Idempotency-Key: %w", err)
		}
		if req.RequestID != "" && req.RequestID != key {
			return fmt.Errorf("%w: request_id and Idempotency-Key differ; send one of them", errBadRequest)
		}
		req.RequestID = key
	}
	return nil
}
