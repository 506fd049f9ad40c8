package handler

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// explainAtOnce bounds how many explanations are worked on at once. One costs
// as much as several refreshes, and shares nothing with readers but the stores.
const explainAtOnce = 16

// Explainer says what a refresh would do, and by which parameters an agent is
// ranked. [engine.Engine] is one.
type Explainer interface {
	Explain(ctx context.Context, r engine.ExplainRequest) (engine.Explanation, error)
	Ranking(agent string) (variant string, r feed.Ranking)
}

// postExplain answers POST /v1/explain.
func (s *server) postExplain(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	body, err := c.readBody(MaxFeedBody)
	if err != nil {
		return err
	}
	req, change, err := decodeExplain(body)
	if err != nil {
		return err
	}
	if change != nil { // what it does not name stays as it is for this agent
		_, ranking := s.deps.Explain.Ranking(req.Agent)
		if err := ranking.UnmarshalJSON(change); err != nil {
			return err
		}
		req.Ranking = &ranking
	}
	x, err := s.explain(c, req)
	if err != nil {
		return err
	}
	return c.succeed(x)
}

// explain does the work. The answer is sent after it: a client that is slow to
// take it must not hold a place.
func (s *server) explain(c *call, req engine.ExplainRequest) (engine.Explanation, error) {
	if err := s.looks.enter(); err != nil {
		return engine.Explanation{}, err
	}
	defer s.looks.leave()
	ctx, cancel := s.deadline(c)
	defer cancel()
	return s.deps.Explain.Explain(ctx, req)
}

// decodeExplain reads the body strictly; change is the proposed ranking as it
// was written, nil where there is none.
func decodeExplain(body []byte) (req engine.ExplainRequest, change []byte, err error) {
	req.Limit = engine.DefaultLimit
	object, err := openObject(body)
	if err != nil {
		return req, nil, err
	}
	got := map[string]bool{}
	for {
		name, value, ok := object.next()
		if !ok {
			break
		}
		if got[string(name)] {
			return req, nil, repeatedField(string(name))
		}
		got[string(name)] = true
		switch string(name) {
		case "agent_id":
			req.Agent, err = decodeID(value, "agent_id", feed.CheckAgentID)
		case "limit":
			var page engine.Request
			err = decodeLimit(value, &page)
			req.Limit = page.Limit
		case "item":
			req.Item, err = decodeID(value, "item", feed.CheckItemID)
		case "ranking":
			if value[0] != '{' {
				err = fmt.Errorf(`%w: ranking must be an object such as {"decay":{"scale":"72h"}}`, errBadRequest)
			}
			change = value
		case "at":
			req.At, err = decodeTime(value)
		default:
			err = unknownField(name, "agent_id, limit, item, ranking and at")
		}
		if err != nil {
			return req, nil, err
		}
	}
	if !got["agent_id"] {
		return req, nil, fmt.Errorf("%w: agent_id is missing; say whose feed to explain", feed.ErrBadID)
	}
	return req, change, nil
}

func decodeID(value []byte, name string, check func(string) error) (string, error) {
	if !isString(value) {
		return "", fmt.Errorf("%w: %s must be a string", errBadRequest, name)
	}
	id := string(unquote(value))
	return id, check(id)
}

// decodeTime reads a moment: a string in RFC 3339, or a number of Unix seconds.
func decodeTime(value []byte) (time.Time, error) {
	if isString(value) {
		// The zero time would be taken for one that is not given.
		if at, err := time.Parse(time.RFC3339, string(unquote(value))); err == nil && !at.IsZero() {
			return at, nil
		}
	} else if seconds, err := strconv.ParseFloat(string(value), 64); err == nil && math.Abs(seconds) <= feed.MaxItemTime {
		whole, rest := math.Modf(seconds)
		if at := time.Unix(int64(whole), int64(rest*1e9)); !at.IsZero() {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf(`%w: at must be a time such as "2026-03-06T12:00:00Z", or Unix seconds`, errBadRequest)
}
