package api

import (
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// Outcome is the outcome of a candidate in a refresh.
type Outcome string

// The outcomes of candidates. The second group occurs only for an item requested by its id.
const (
	OutcomePaged   Outcome = "paged"      // on the page
	OutcomeKept    Outcome = "kept"       // in the session, for later pages
	OutcomeSeen    Outcome = "seen"       // in a daily filter: this agent has already been shown it
	OutcomePending Outcome = "pending"    // given out recently, or not yet confirmed in a filter
	OutcomeMuted   Outcome = "muted"      // excluded by the agent's mutes or languages
	OutcomeGone    Outcome = "gone"       // deleted, or changed since it was indexed
	OutcomeGroup   Outcome = "group"      // a better item of its group replaces it
	OutcomeStory   Outcome = "same_story" // an item of the page has nearly the same title, and the session is full without this one
	OutcomeOutside Outcome = "outside"    // ranked below everything recall was asked for; in home, below the last position of a session

	OutcomeUnknown Outcome = "unknown" // no such item exists
	OutcomeOwn     Outcome = "own"     // written by the agent
	OutcomeFuture  Outcome = "future"  // dated after the moment of the refresh
	OutcomeUnfound Outcome = "unfound" // in the catalog, but not in the recall index yet
)

// The parts of a ranking that an answer about a past moment leaves out.
const (
	LeftOutCoRead  = "co_readers"      // what those who have read the same read
	LeftOutLearned = "learned"         // what was learned about the reader
	LeftOutLive    = "live_popularity" // what readers click and like
)

// LeftOut names what a ranking lacks of another one that it was made of by [feed.Ranking.WithoutLive]
// and [feed.Ranking.WithoutLearned]:
// nil if nothing.
func LeftOut(from, of feed.Ranking) (names []string) {
	if from.CoRead.On() != of.CoRead.On() {
		names = append(names, LeftOutCoRead)
	}
	if from.Learned.On() != of.Learned.On() {
		names = append(names, LeftOutLearned)
	}
	if from.LivePopularity() != of.LivePopularity() {
		names = append(names, LeftOutLive)
	}
	return names
}

// Explanation describes the result of a refresh and the reasons for it. Candidates are in recall
// order: by score, then newer first, then by id. Those of home are grouped by source, because
// scores of different sources are not comparable.
type Explanation struct {
	Agent   string       `json:"agent_id"`
	Feed    feed.Name    `json:"feed"`
	Limit   int          `json:"limit"`
	Variant string       `json:"variant"` // the agent's; its parameters are used unless the request proposed others
	Ranking feed.Ranking `json:"ranking"` // the parameters used
	// Proposed reports whether the parameters came with the request.
	Proposed   bool        `json:"proposed"`
	Origin     time.Time   `json:"origin"`     // the time at which the decay is evaluated
	Candidates []Explained `json:"candidates"` // best first
	// Unlisted is the number of candidates that are counted but not listed: those after the first
	// 2,000 that a filter, or a better item of their group, excludes.
	Unlisted int `json:"unlisted,omitempty"`
	// OutOfTime reports that the page is not full although recall has more candidates, because
	// there was no time for further rounds.
	OutOfTime bool `json:"out_of_time,omitempty"`
	// LeftOut names the parts of the ranking that do not count because they are not known for the
	// origin: [LeftOutLive] if it is long past. Nil if nothing is left out.
	LeftOut  []string       `json:"left_out,omitempty"`
	Item     *ExplainedItem `json:"item,omitempty"`
	Counts   ExplainCounts  `json:"counts"`
	Times    ExplainTimes   `json:"times_ms"`
	Degraded []string       `json:"degraded,omitempty"` // the parts that the refresh would lack
}

// Page returns the candidates on the page, in page order.
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

// Explained is one candidate, with the parts of its score and its outcome.
type Explained struct {
	Rank       int     `json:"rank"` // 1 is the best; over all rounds, before filtering. In home, within its source
	ID         string  `json:"id"`
	Group      string  `json:"group"`
	Source     string  `json:"source"`
	Title      string  `json:"title,omitempty"`
	UpdateTime int64   `json:"update_time"` // Unix seconds
	Age        int64   `json:"age"`         // seconds before the origin
	Score      float32 `json:"score"`
	Decay      float64 `json:"decay"`
	// Base and Affinity are set for candidates of following, trending and promoted in home, which
	// score Base × Decay × Popularity.Factor × Affinity.Factor. Other candidates score
	// Relevance.Total × Decay × Popularity.Factor × CoReaders.Factor.
	Base     float64   `json:"base,omitempty"`
	Affinity *Affinity `json:"affinity,omitempty"`
	// Relevance and Popularity are nil if the recall source no longer holds the item.
	Relevance  *Relevance  `json:"relevance,omitempty"`
	Popularity *Popularity `json:"popularity,omitempty"`
	// CoReaders is nil if those who have read the same change no score of the refresh, or not that of
	// this candidate.
	CoReaders *CoReaders `json:"co_readers,omitempty"`
	Outcome   Outcome    `json:"outcome"`
	Day       string     `json:"day,omitempty"` // for seen and ShownBefore: the day of the filter, YYYYMMDD
	// ShownBefore reports that the item is shown although a filter contains it, because nothing
	// unseen is left (dedup.when_exhausted: oldest).
	ShownBefore bool `json:"shown_before,omitempty"`
	// Better is, for group and same_story, the item that replaces this one. For a placed item it
	// is the item of its page with nearly the same title because of which it was set aside at
	// first.
	Better string `json:"better,omitempty"`
	// Variety describes the candidate's placement; nil if it was not placed.
	Variety *Variety `json:"variety,omitempty"`
}

// Variety describes how a candidate was placed: when its position was filled, it had the highest
// score × factor of all candidates left.
type Variety struct {
	Place  int     `json:"place"`            // position in the list that pages are cut from, from 1
	Page   int     `json:"page"`             // from 1, among the pages built in advance
	Source string  `json:"source,omitempty"` // the source that fills the position: "explore" if it was drawn at random; in home one of home's sources
	Right  string  `json:"right,omitempty"`  // in home: the source that the pattern assigns the position to
	Factor float64 `json:"factor"`           // the product of the factors below
	Author *Nth    `json:"author,omitempty"`
	Site   *Nth    `json:"site,omitempty"`
	Tag    *Nth    `json:"tag,omitempty"` // the item's first tag
}

// Nth holds how many items of the page shared an author, site or tag so far, including this one,
// and the resulting factor.
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

// Popularity breaks an item's popularity factor down: 1 + the sum of the contributions of its
// counts.
type Popularity struct {
	Value  float64 `json:"value"` // likes + 2·comments
	Factor float64 `json:"factor"`
	// Readers who clicked or liked it; nil if there are none.
	Readers2h *Readers `json:"readers_2h,omitempty"`
	Readers2d *Readers `json:"readers_2d,omitempty"`
	// Of half-lives that a setting names: those that the ranking weights.
	Readers1h *Readers `json:"readers_1h,omitempty"`
	Readers6h *Readers `json:"readers_6h,omitempty"`
	Readers1d *Readers `json:"readers_1d,omitempty"`
	Readers7d *Readers `json:"readers_7d,omitempty"`
}

// CoReaders is the factor of those who have read what the agent has read and this item:
//
//	(readers × Own + Mean) / (readers + 1)
//
// with the number of the item's readers.
type CoReaders struct {
	Factor float64 `json:"factor"`
	// Own is the item's own factor, by [feed.CoRead.Factor], and Mean the mean of the candidates of the
	// refresh. Both are nil if fewer than three people stand behind Own.
	Own  *float64 `json:"own,omitempty"`
	Mean *float64 `json:"mean,omitempty"`
}

// Readers is one count of an item's live popularity.
type Readers struct {
	Count float64 `json:"count"` // each reader counts half after each half-life
	Adds  float64 `json:"adds"`  // contribution to the popularity factor
}

// ExplainedItem is the item that the request asked about. Its rank is 0 if it is not a candidate.
type ExplainedItem struct {
	Explained
	Reason string `json:"reason"` // one or two sentences in plain language
	// Curves lists the contribution of each curve of the ranking to the decay, in the ranking's
	// order. It is nil with one Gaussian, and for an item that does not exist.
	Curves []float64 `json:"curves,omitempty"`
}

// ExplainCounts holds the number of rounds, of recalled candidates and of candidates by outcome.
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

// ExplainTimes is the time of each stage, in milliseconds. Only explanations run the Factors
// stage.
type ExplainTimes struct {
	Profile float64 `json:"profile"`
	Recall  float64 `json:"recall"`
	Dedup   float64 `json:"dedup"`
	Hydrate float64 `json:"hydrate"`
	Factors float64 `json:"factors"`
	Total   float64 `json:"total"`
}

// Affinity is the part of a score in home that comes from the reader's likes, replies and clicks.
type Affinity struct {
	N      float64 `json:"n"`      // see [feed.Affinity]
	Factor float64 `json:"factor"` // see [feed.Home]
}

// ReasonType is the kind of a [Reason].
type ReasonType string

// The types of reasons. Reasons of equal effect are listed in this order.
const (
	ReasonInterest ReasonType = "interest" // a tag of the item is an interest of the agent; the value is the tag
	ReasonKeyword  ReasonType = "keyword"  // the title or summary contains a keyword of the agent; the value is its term
	ReasonLearned  ReasonType = "learned"  // the agent has clicked or liked items that share the value: a tag, an author, a language or a word
	ReasonFresh    ReasonType = "fresh"    // the item's age makes its score much higher than that of an item a day old
	ReasonPopular  ReasonType = "popular"  // popularity makes its score much higher
	ReasonCoRead   ReasonType = "co_read"  // at least three people who have read what the agent has read also read it
	ReasonSameTag  ReasonType = "same_tag" // of a related item: both have the value, a tag
	ReasonExplore  ReasonType = "explore"  // it was drawn at random for its position; always the first reason
)

// Reason is one cause of an item's score, which an app can put into words.
type Reason struct {
	Type  ReasonType `json:"type"`
	Value string     `json:"value,omitempty"`
	// Kind is the kind of the value of a learned reason.
	Kind feed.FeatureKind `json:"kind,omitempty"`
}
