package engine

import (
	"cmp"
	"time"

	"github.com/freshet/freshet/feed"
)

// ExplainRequest asks what a refresh would do.
type ExplainRequest struct {
	Agent   string
	Feed    feed.Name     // "" is for_you
	Limit   int           // items of the page, 1 to MaxLimit
	Item    string        // optional: say of this one why it is where it is
	Ranking *feed.Ranking // optional: instead of the parameters the agent is ranked by
	At      time.Time     // optional: the moment the refresh is made at; zero: now
}

// Validate says what is wrong with the request. [Engine.Explain] begins with it.
func (r ExplainRequest) Validate() error {
	if err := cmp.Or(feed.CheckAgentID(r.Agent), r.Feed.Check(), feed.CheckLimit(r.Limit, MaxLimit)); err != nil {
		return err
	}
	if r.Item != "" {
		if err := feed.CheckItemID(r.Item); err != nil {
			return err
		}
	}
	if !r.At.IsZero() && (r.At.Unix() < 1 || r.At.Unix() > feed.MaxItemTime) {
		return feed.Errorf(feed.ErrInvalid, "bad time: it must lie between the years 1970 and 9999, not at %s", r.At.UTC().Format(time.RFC3339))
	}
	if r.Ranking != nil {
		return r.Ranking.Validate()
	}
	return nil
}
