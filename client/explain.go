package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/freshet/freshet/feed"
)

// ExplainAsk asks what a refresh would do.
type ExplainAsk struct {
	Agent string    `json:"agent_id"`
	Feed  feed.Name `json:"feed,omitempty"`  // "": [feed.ForYou]
	Limit int       `json:"limit,omitempty"` // items of the page, 1 to 100; 0: the server's 20
	Item  string    `json:"item,omitempty"`  // say of this one why it is where it is
	// Ranking changes the parameters the agent is ranked by: an object that
	// names those that change. [feed.ChangesJSON] writes one.
	Ranking json.RawMessage `json:"ranking,omitempty"`
	At      time.Time       `json:"at,omitzero"` // the moment of the refresh; zero: now
}

// Explanation describes the result of a refresh and the reasons for it.
type Explanation struct {
	Agent      string         `json:"agent_id"`
	Feed       feed.Name      `json:"feed"`
	Limit      int            `json:"limit"`
	Variant    string         `json:"variant"`
	Ranking    feed.Ranking   `json:"ranking"`               // the parameters used
	Proposed   bool           `json:"proposed"`              // they came with the question
	Origin     time.Time      `json:"origin"`                // the now of the decay
	Candidates []Explained    `json:"candidates"`            // best first; of home source by source
	Unlisted   int            `json:"unlisted,omitempty"`    // counted, but not listed: held back, behind the first 2,000
	OutOfTime  bool           `json:"out_of_time,omitempty"` // the page is not full, though recall has more
	Item       *ExplainedItem `json:"item,omitempty"`
	Counts     ExplainCounts  `json:"counts"`
	Times      ExplainTimes   `json:"times_ms"`
	Degraded   []string       `json:"degraded,omitempty"`

	Raw json.RawMessage `json:"-"` // all of it as it came
}

// UnmarshalJSON keeps the explanation as it came beside what is decoded of it.
func (x *Explanation) UnmarshalJSON(data []byte) error {
	type plain Explanation
	if err := json.Unmarshal(data, (*plain)(x)); err != nil {
		return err
	}
	x.Raw = append(json.RawMessage(nil), data...)
	return nil
}

// Explained is one candidate: score = relevance × decay × popularity factor, or of what
// following, trending and promoted propose for home base × decay × popularity factor ×
// affinity factor; and what becomes of it.
type Explained struct {
	Rank       int         `json:"rank"` // 1 is the best, before anything is filtered; of home, in its source
	ID         string      `json:"id"`
	Group      string      `json:"group"`
	Source     string      `json:"source"`
	Title      string      `json:"title,omitempty"`
	UpdateTime int64       `json:"update_time"` // Unix seconds
	Age        int64       `json:"age"`         // seconds before the origin
	Score      float64     `json:"score"`
	Decay      float64     `json:"decay"`
	Base       float64     `json:"base,omitempty"`
	Affinity   *Affinity   `json:"affinity,omitempty"`
	Relevance  *Relevance  `json:"relevance,omitempty"`  // nil: the source cannot tell
	Popularity *Popularity `json:"popularity,omitempty"` // nil: the source cannot tell
	// Outcome is paged, kept (for the pages after), seen, pending, muted, gone, group,
	// same_story or, of home, outside; of an item asked for also unknown, future, outside or
	// unfound.
	Outcome string `json:"outcome"`
	Day     string `json:"day,omitempty"`    // with seen: the day of the filter, YYYYMMDD
	Better  string `json:"better,omitempty"` // with group and same_story: the item that stands in
	// Variety is where it is placed, and why there; nil for what is not.
	Variety *Variety `json:"variety,omitempty"`
	// ShownBefore says that it is shown although the filter of Day has it, because
	// nothing unseen is left (dedup.when_exhausted: oldest).
	ShownBefore bool `json:"shown_before,omitempty"`
}

// Variety is how a candidate was placed: its score counted Factor times.
type Variety struct {
	Place  int     `json:"place"`            // in the list that pages are taken from; 1 is the first
	Page   int     `json:"page"`             // from 1, of those built in advance
	Source string  `json:"source,omitempty"` // "explore": it was drawn for its position; of home the source that fills it
	Right  string  `json:"right,omitempty"`  // of home: the source whose position it is by the pattern
	Factor float64 `json:"factor"`
	Author *Nth    `json:"author,omitempty"`
	Site   *Nth    `json:"site,omitempty"`
	Tag    *Nth    `json:"tag,omitempty"` // the first one of the item
}

// Affinity is the effect of the agent's likes on a score of home.
type Affinity struct {
	Likes  int     `json:"likes"` // of the author's posts in 30 days
	Factor float64 `json:"factor"`
}

// Nth says how many items of the page had it in common by then, this one
// included, and the factor that makes.
type Nth struct {
	Name   string  `json:"name"`
	Nth    int     `json:"nth"`
	Factor float64 `json:"factor"`
}

// Relevance is (base + Σ tags + Σ keywords + Σ scores learned) × Π factors learned.
type Relevance struct {
	Total    float64   `json:"total"`
	Base     float64   `json:"base"`
	Tags     []Gain    `json:"tags,omitempty"`
	Keywords []Gain    `json:"keywords,omitempty"`
	Learned  []Learned `json:"learned,omitempty"`
}

// Gain is the contribution of one interest or keyword to the relevance.
type Gain struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
	In    string  `json:"in,omitempty"` // of a keyword: title or summary
}

// Popularity breaks an item's popularity factor down: 1 + the contribution of each count.
type Popularity struct {
	Value  float64 `json:"value"` // likes + 2·comments
	Factor float64 `json:"factor"`
	// Readers who clicked or liked it: nil where there are none.
	Readers2h *Readers `json:"readers_2h,omitempty"`
	Readers2d *Readers `json:"readers_2d,omitempty"`
}

// Readers is one count of an item's live popularity.
type Readers struct {
	Count float64 `json:"count"` // each counts half after 2 hours, or 2 days
	Adds  float64 `json:"adds"`  // to the popularity factor
}

// ExplainedItem is the item that was asked for. Its rank is 0 where it is no
// candidate.
type ExplainedItem struct {
	Explained
	Reason string    `json:"reason"`           // one or two sentences, for people
	Curves []float64 `json:"curves,omitempty"` // what each curve of the ranking adds to the decay; nil with one Gaussian
}

// ExplainCounts says how many candidates came to what.
type ExplainCounts struct {
	Rounds   int `json:"rounds"`
	Recalled int `json:"recalled"`
	Seen     int `json:"seen"`
	Pending  int `json:"pending"`
	Muted    int `json:"muted"`
	Gone     int `json:"gone"`
	Group    int `json:"group"`
	Story    int `json:"same_story"`
	Outside  int `json:"outside"`
	Paged    int `json:"paged"`
	Kept     int `json:"kept"`
}

// ExplainTimes is the time of each stage, in milliseconds.
type ExplainTimes struct {
	Profile float64 `json:"profile"`
	Recall  float64 `json:"recall"`
	Dedup   float64 `json:"dedup"`
	Hydrate float64 `json:"hydrate"`
	Factors float64 `json:"factors"` // what only an explanation asks
	Total   float64 `json:"total"`
}

// Explain calls POST /v1/explain, as an admin: what a refresh of an agent
// would do. It changes nothing.
func (c *Client) Explain(ctx context.Context, ask ExplainAsk) (Explanation, error) {
	return send[Explanation](ctx, c, Request{Method: http.MethodPost, Path: "/v1/explain", Repeatable: true}, ask)
}
