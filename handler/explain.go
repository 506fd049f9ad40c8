package handler

import (
	"cmp"
	"context"
	"fmt"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// explainAtOnce is how many explanations are processed at once. One costs as much
// as several refreshes.
const explainAtOnce = 16

// Explainer explains refreshes. Its methods are those of [engine.Engine].
type Explainer interface {
	Explain(ctx context.Context, r engine.ExplainRequest) (api.Explanation, error)
	Ranking(agent string) (variant string, r feed.Ranking)
}

// postExplain answers POST /v1/explain.
func (s *server) postExplain(c *call) error {
	req, change, err := c.readExplain()
	if err != nil {
		return err
	}
	if change != nil { // other parameters stay those of the agent
		_, ranking := s.deps.Explain.Ranking(req.Agent)
		if err := ranking.Propose(change); err != nil {
			return err
		}
		req.Ranking = &ranking
	}
	return c.answer(s.look, func(ctx context.Context) (any, error) { return s.deps.Explain.Explain(ctx, req) })
}

// look runs an explanation.
func (s *server) look(c *call, do func(ctx context.Context) error) error {
	if err := s.looks.enter(); err != nil {
		return err
	}
	defer s.looks.leave()
	return s.gated(c, do)
}

// explainBody is the body of POST /v1/explain.
type explainBody struct {
	Agent   string      `json:"agent_id"`
	Feed    feed.Name   `json:"feed"`
	Limit   int         `json:"limit"`
	Item    *string     `json:"item"`
	Ranking proposal    `json:"ranking"`
	At      feed.Moment `json:"at"`
}

func (c *call) readExplain() (req engine.ExplainRequest, change proposal, err error) {
	in := explainBody{Limit: engine.DefaultLimit}
	if err := c.readJSON(MaxFeedBody, &in); err != nil {
		return req, nil, err
	}
	if in.Agent == "" {
		return req, nil, fmt.Errorf("%w: agent_id is missing; say whose feed to explain", feed.ErrBadID)
	}
	req = engine.ExplainRequest{Agent: in.Agent, Feed: in.Feed, Limit: in.Limit, At: in.At.Time}
	if in.Item == nil {
		return req, in.Ranking, req.Validate()
	}
	req.Item = *in.Item
	return req, in.Ranking, cmp.Or(req.Validate(), feed.CheckItemID(req.Item)) // "" is none to the engine
}
