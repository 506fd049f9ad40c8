package api

import (
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// Outcome is the outcome of a candidate in a refresh.
type Outcome string

// The outcomes of candidates, and those that only an item asked for by its id can
// have.
const (
	OutcomePaged   Outcome = "paged"      // on the page
	OutcomeKept    Outcome = "kept"       // in the session, for the pages after it
	OutcomeSeen    Outcome = "seen"       // in a daily filter: this agent has been given it
	OutcomePending Outcome = "pending"    // given out lately, or not yet confirmed in a filter
	OutcomeMuted   Outcome = "muted"      // refused by the agent's mutes or languages
	OutcomeGone    Outcome = "gone"       // deleted, or changed since it was indexed
	OutcomeGroup   Outcome = "group"      // a better item of its group stands in
	OutcomeStory   Outcome = "same_story" // an item of the page has nearly the same title, and the session is full without it
	OutcomeOutside Outcome = "outside"    // ranked behind all that recall was asked for; of home, behind the last position of a session

	OutcomeUnknown Outcome = "unknown" // there is no such item
	OutcomeOwn     Outcome = "own"     // the agent's own
	OutcomeFuture  Outcome = "future"  // dated after the moment of the refresh
	OutcomeUnfound Outcome = "unfound" // in the catalog, but not in the recall index yet
)

// Explanation describes the result of a refresh and the reasons for it, in the order of recall:
// by score, newer first, then by id; of home source by source, because scores of different
// sources are not compared.
type Explanation struct {
	Agent   string       `json:"agent_id"`
	Feed    feed.Name    `json:"feed"`
	Limit   int          `json:"limit"`
	Variant string       `json:"variant"` // of the agent; its parameters count unless others were proposed
	Ranking feed.Ranking `json:"ranking"` // the parameters used
	// Proposed says that the parameters came with the request.
	Proposed   bool        `json:"proposed"`
	Origin     time.Time   `json:"origin"`     // the now of the decay
	Candidates []Explained `json:"candidates"` // best first
	// Unlisted is how many candidates are counted, but not listed: those behind
	// the first 2,000 that a filter, or a better item of their group, holds back.
	Unlisted int `json:"unlisted,omitempty"`
	// OutOfTime says that the page is not full although recall has more: the
	// time for further rounds was up.
	OutOfTime bool           `json:"out_of_time,omitempty"`
	Item      *ExplainedItem `json:"item,omitempty"`
	Counts    ExplainCounts  `json:"counts"`
	Times     ExplainTimes   `json:"times_ms"`
	Degraded  []string       `json:"degraded,omitempty"` // what the refresh would have to do without
}

// Page lists the candidates of the page, in their places.
func (x *Explanation) Page() []Explained {
	page := make([]Explained, 0, x.Counts.Paged)
	for _, c := range x.Candidates {
		if c.Outcome == OutcomePaged {
			page = append(page, c)
		}
	}
	slices.SortFunc(page, func(a, b Explained) int { return a.Variety.Place - b.Variety.Place })
	return page
}

// Explained is one candidate: what its score is made of and what becomes of it.
type Explained struct {
	Rank       int     `json:"rank"` // 1 is the best; over all rounds, before anything is filtered. Of home, in its source
	ID         string  `json:"id"`
	Group      string  `json:"group"`
	Source     string  `json:"source"`
	Title      string  `json:"title,omitempty"`
	UpdateTime int64   `json:"update_time"` // Unix seconds
	Age        int64   `json:"age"`         // seconds before the origin
	Score      float32 `json:"score"`
	Decay      float64 `json:"decay"`
	// Base and Affinity are of what following, trending and promoted propose for home:
	// their scores are Base × Decay × Popularity.Factor × Affinity.Factor. Other scores
	// are Relevance.Total × Decay × Popularity.Factor.
	Base     float64   `json:"base,omitempty"`
	Affinity *Affinity `json:"affinity,omitempty"`
	// Relevance and Popularity are nil where the recall source does not hold the item
	// any more.
	Relevance  *Relevance  `json:"relevance,omitempty"`
	Popularity *Popularity `json:"popularity,omitempty"`
	Outcome    Outcome     `json:"outcome"`
	Day        string      `json:"day,omitempty"` // with seen and ShownBefore: the day of the filter, YYYYMMDD
	// ShownBefore says that it is shown although a filter has it, because nothing
	// unseen is left (dedup.when_exhausted: oldest).
	ShownBefore bool `json:"shown_before,omitempty"`
	// Better is, with group and same_story, the item that stands in; of one that is placed,
	// the item of its page with nearly the same title, for which it was set aside.
	Better string `json:"better,omitempty"`
	// Variety is where the candidate is placed, and why there; nil for one that
	// is not.
	Variety *Variety `json:"variety,omitempty"`
}

// Variety is how a candidate was placed: at the time it had the highest
// score × factor of all that were left.
type Variety struct {
	Place  int     `json:"place"`            // in the list that pages are taken from; 1 is the first
	Page   int     `json:"page"`             // from 1, of those built in advance
	Source string  `json:"source,omitempty"` // what fills the position: "explore", where it was drawn for it; of home one of its sources
	Right  string  `json:"right,omitempty"`  // of home: the source whose position it is by the pattern
	Factor float64 `json:"factor"`           // the product of those below
	Author *Nth    `json:"author,omitempty"`
	Site   *Nth    `json:"site,omitempty"`
	Tag    *Nth    `json:"tag,omitempty"` // the first one of the item
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
	Total    float64            `json:"total"`
	Base     float64            `json:"base"`
	Tags     []feed.Gain        `json:"tags,omitempty"`
	Keywords []feed.Gain        `json:"keywords,omitempty"`
	Learned  []feed.LearnedGain `json:"learned,omitempty"`
}

// Popularity breaks an item's popularity factor down: 1 + the contribution of
// each count.
type Popularity struct {
	Value  float64 `json:"value"` // likes + 2·comments
	Factor float64 `json:"factor"`
	// Readers who clicked or liked it: nil where there are none.
	Readers2h *Readers `json:"readers_2h,omitempty"`
	Readers2d *Readers `json:"readers_2d,omitempty"`
}

// Readers is one count of an item's live popularity.
type Readers struct {
	Count float64 `json:"count"` // each reader counts half after the half-life
	Adds  float64 `json:"adds"`  // to the popularity factor
}

// ExplainedItem is the item that was asked for. Its rank is 0 where it is no
// candidate.
type ExplainedItem struct {
	Explained
	Reason string `json:"reason"` // one or two sentences, for people
	// Curves lists the contribution of each curve of the ranking to the decay, in their
	// order. It is nil with one Gaussian, and for an item that does not exist.
	Curves []float64 `json:"curves,omitempty"`
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

// ExplainTimes is the time of each stage, in milliseconds. Only an explanation asks for
// Factors.
type ExplainTimes struct {
	Profile float64 `json:"profile"`
	Recall  float64 `json:"recall"`
	Dedup   float64 `json:"dedup"`
	Hydrate float64 `json:"hydrate"`
	Factors float64 `json:"factors"`
	Total   float64 `json:"total"`
}

// Affinity is the part of a score of home that the reader's likes, replies and clicks make.
type Affinity struct {
	N      float64 `json:"n"`      // see [feed.Affinity]
	Factor float64 `json:"factor"` // see [feed.Home]
}

// ReasonType is the kind of a [Reason].
type ReasonType string

// The types of reasons. Among equals the earlier one comes first.
const (
	ReasonInterest ReasonType = "interest" // a tag of the item is an interest of the agent; the value is the tag
	ReasonKeyword  ReasonType = "keyword"  // a keyword of the agent stands in the item; the value is its term
	ReasonLearned  ReasonType = "learned"  // the agent has clicked or liked items that have it in common; the value is a tag, an author, a language or a word
	ReasonFresh    ReasonType = "fresh"    // the item's age makes its score much higher than that of an item a day old
	ReasonPopular  ReasonType = "popular"  // popularity makes its score much higher
	ReasonExplore  ReasonType = "explore"  // it was drawn for its position; always the first reason
)

// Reason is one cause of an item's score, for an app to put into words.
type Reason struct {
	Type  ReasonType `json:"type"`
	Value string     `json:"value,omitempty"`
	// Kind says, with learned, what the value is.
	Kind feed.FeatureKind `json:"kind,omitempty"`
}
