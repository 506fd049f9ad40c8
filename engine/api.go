package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// Action is the operation that a client requests.
type Action string

// The two actions of POST /v1/feed.
const (
	ActionRefresh  Action = "refresh"
	ActionLoadMore Action = "load_more"
)

// Bounds of a page.
const (
	DefaultLimit = 20
	MaxLimit     = 100
)

// Request is one call of the feed.
type Request struct {
	Agent     string
	Feed      feed.Name // "" is for_you
	Action    Action
	Limit     int    // 1 to MaxLimit
	Silent    bool   // only with refresh: peek without changing anything
	RequestID string // optional: a repeated id returns the same page for a minute
	Why       bool   // return the reasons for each item; a retry may set it differently from the first call
}

// Validate returns an error that describes what is wrong with the request. [Engine.Feed] calls it
// first; a caller that can reject a request more cheaply calls it earlier.
func (r Request) Validate() error {
	if err := cmp.Or(feed.CheckAgentID(r.Agent), r.Feed.Check()); err != nil {
		return err
	}
	if r.Action == "" {
		return fmt.Errorf(`%w: action is missing; send "refresh" or "load_more"`, feed.ErrBadAction)
	}
	if r.Action != ActionRefresh && r.Action != ActionLoadMore {
		return fmt.Errorf(`%w: action must be "refresh" or "load_more", not %.40q`, feed.ErrBadAction, r.Action)
	}
	if r.Silent && r.Action != ActionRefresh {
		return fmt.Errorf("%w: silent is only allowed with action refresh", feed.ErrBadAction)
	}
	if r.RequestID != "" {
		if err := feed.CheckRequestID(r.RequestID); err != nil {
			return err
		}
	}
	return feed.CheckLimit(r.Limit, MaxLimit)
}

// name is the request's name in metrics and traces.
func (r Request) name() string {
	if r.Silent {
		return "silent"
	}
	return string(r.Action)
}

// Answer is the response to a feed request. Its lists are read in the background after the
// call: a caller must not write to them.
type Answer struct {
	Docs      []feed.Doc // best first; none of them is missing
	HasMore   bool       // the session has more items
	RequestID string     // as in the request
	// NewCount is set by a silent refresh: the number of unseen items newer than the last
	// refresh. If there was none in eight days, it is the number of unseen items younger than a
	// day, 99 at most.
	NewCount int
	// NewReader reports that no refresh of the agent, of any feed, ended before this call: the
	// last eight days have none, and nothing was learned about the agent. It is false if the answer
	// is degraded.
	NewReader bool
	// Refs holds for each of Docs the source of its position, and whether the agent was shown it
	// before, within the dedup window. It is nil for a silent refresh.
	Refs []feed.Ref
	// Trends holds, for home, the trend of each of Docs, 0 for an unmarked item. Nil means trends
	// are unknown.
	Trends []feed.Trend
	// Why holds the reasons of each of Docs, the largest share of the score first; an item may
	// have none. It is nil if reasons were not requested or not available.
	Why      [][]api.Reason
	Degraded []string // the missing parts, e.g. "dedup"; nil if none are
}

// ExplainRequest describes the refresh to explain.
type ExplainRequest struct {
	Agent   string
	Feed    feed.Name     // "" is for_you
	Limit   int           // items of the page, 1 to MaxLimit
	Item    string        // optional: also explain the position or absence of this item
	Ranking *feed.Ranking // optional: used instead of the agent's ranking parameters
	At      time.Time     // optional: the time of the refresh; zero means now
}

// Validate returns an error that describes what is wrong with the request. [Engine.Explain] calls
// it first.
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
		return feed.Errorf(feed.ErrInvalid, "bad time: must be between the years 1970 and 9999, not %s", r.At.UTC().Format(time.RFC3339))
	}
	if r.Ranking != nil {
		return r.Ranking.Validate()
	}
	return nil
}
