package handler

import (
	"cmp"
	"context"
	"fmt"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// explainAtOnce is the number of explanations processed concurrently. Each costs as much as
// several refreshes.
const explainAtOnce = 16

// explainGated admits an explanation.
func (s *server) explainGated(c *call) (context.Context, error) {
	return c.begin(s.explanations, s.cfg.RequestTimeout)
}

// explainBody is the body of POST /v1/explain.
type explainBody struct {
	Agent   string      `json:"agent_id"`
	Feed    feed.Name   `json:"feed"`
	Limit   int         `json:"limit"`
	Item    *string     `json:"item"`
	Ranking proposal    `json:"ranking"`
	At      feed.Moment `json:"at"`

	request engine.ExplainRequest
}

func (b *explainBody) check() error {
	if b.Agent == "" {
		return fmt.Errorf("%w: agent_id is missing; send the agent whose feed to explain", feed.ErrBadID)
	}
	b.request = engine.ExplainRequest{Agent: b.Agent, Feed: b.Feed, Limit: b.Limit, At: b.At.Time}
	if b.Item == nil {
		return b.request.Validate()
	}
	b.request.Item = *b.Item
	return cmp.Or(b.request.Validate(), feed.CheckItemID(*b.Item)) // the engine treats "" as no item
}

// postExplain answers POST /v1/explain.
func (s *server) postExplain(ctx context.Context, _ *call, _ string, in *explainBody) (any, error) {
	if in.Ranking != nil { // parameters not named are the agent's
		_, ranking := s.deps.Engine.Ranking(in.Agent)
		if err := ranking.Propose(in.Ranking); err != nil {
			return nil, err
		}
		in.request.Ranking = &ranking
	}
	return s.deps.Engine.Explain(ctx, in.request)
}
