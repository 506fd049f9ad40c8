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
	Silent    bool   // only with refresh: look, change nothing
	RequestID string // optional: the same id within a minute answers the same page
	Why       bool   // say why each item is there; a retry may ask otherwise than the call before
}

// Validate says what is wrong with the request. [Engine.Feed] begins with it; who can
// refuse the request at less cost calls it before.
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
		return fmt.Errorf("%w: silent goes with refresh only", feed.ErrBadAction)
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
	Docs      []feed.Doc // best first, never with a missing one
	HasMore   bool       // the session still holds something
	RequestID string     // as asked
	// NewCount is, of a silent refresh, how many unseen items are newer than the
	// last refresh; of an agent without one in eight days, how many are younger
	// than a day, 99 at most.
	NewCount int
	// NewReader says that no refresh of the agent, of any feed, had ended before this call:
	// none is known of the last eight days, and nothing was learned of them. It is false
	// where the answer is degraded.
	NewReader bool
	// Refs tells of each of Docs what gave it its position, and whether the agent was
	// given it before, within the dedup window; nil of a silent refresh.
	Refs []feed.Ref
	// Trends has, of home, the trend of each of Docs, 0 without a mark; nil: none is known.
	Trends []feed.Trend
	// Why has, where it was asked for and could be told, the reasons of each of
	// Docs, what adds most to its score first; none for an item about which there is
	// nothing to say.
	Why      [][]api.Reason
	Degraded []string // what was missing, e.g. "dedup"; nil when nothing was
}

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
