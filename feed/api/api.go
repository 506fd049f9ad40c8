// Package api has the answers that a server gives and its client reads: what is in an
// answer's data, by the same types on either side. It does no work and no I/O.
package api

import (
	"time"

	"github.com/freshet/freshet/feed"
)

// AgentPage is a page of a list of agents, by id.
type AgentPage struct {
	Agents    []string `json:"agents"`
	NextAfter *string  `json:"next_after"` // for the next page; nil: this is the last
}

// Followed is the outcome of following several authors at once.
type Followed struct {
	Changed int             `json:"changed"` // how many of them were not followed before
	Refused []FollowRefused `json:"refused"`
}

// FollowRefused says why an author is not followed, as an error of the call for the one
// author would.
type FollowRefused struct {
	Author string `json:"author"`
	Code   int    `json:"code"`
	Msg    string `json:"msg"`
}

// Reasons of a [Suggestion].
const (
	FollowedBy = "followed_by" // several of those whom the agent follows follow the author
	Popular    = "popular"     // a post of the author trends
)

// Suggestion is an author whom an agent may want to follow.
type Suggestion struct {
	Author string `json:"author"`
	Reason string `json:"reason"`
	Count  int    `json:"count,omitempty"` // of those whom the agent follows, rounded down; 0: [Popular]
}

// Suggestions lists authors whom an agent may want to follow.
type Suggestions struct {
	Authors []Suggestion `json:"authors"`
}

// Event is something an agent did with an item.
type Event struct {
	Type string `json:"type"` // click, like, dislike or hide
	ID   string `json:"id"`
}

// EventsTaken is the outcome of reporting events.
type EventsTaken struct {
	Accepted int `json:"accepted"`  // of items the agent was shown; each counts once a day
	NotShown int `json:"not_shown"` // of items the agent was not shown; they do not count
}

// Likes are the likes of a post.
type Likes struct {
	Likes    int64 `json:"likes"`
	HasLiked bool  `json:"has_liked"` // the caller does
}

// Dependency is the state of one thing a server stands on.
type Dependency struct {
	State       string `json:"state"`                  // up, degraded or down
	Optional    bool   `json:"optional,omitempty"`     // down, it degrades answers only
	Error       string `json:"error,omitempty"`        // why it is down
	Warning     string `json:"warning,omitempty"`      // what is wrong with it though it is up
	SecondsLeft int64  `json:"seconds_left,omitempty"` // of degraded: how long what the server has kept stands in for it
}

// Readiness is the state of a server.
type Readiness struct {
	Dependencies map[string]Dependency `json:"dependencies"` // by name
}

// RankingVersion is one state of the live ranking, and who made it so.
type RankingVersion struct {
	Version     int          `json:"version"`     // 0 is the configuration's
	At          time.Time    `json:"at,omitzero"` // version 0 has no date
	By          string       `json:"by"`
	Why         string       `json:"why"`
	Ranking     feed.Ranking `json:"ranking"` // of all agents that are in no experiment
	Experiments []Experiment `json:"experiments"`
	// Notes, in the answer to a change, say what it did beside what it said: one
	// Gaussian is in the place of curves.
	Notes []string `json:"notes,omitempty"`
}

// RankingHistory are versions, the newest first.
type RankingHistory struct {
	Versions []RankingVersion `json:"versions"`
}

// Experiment is a variant of the ranking for a share of the agents.
type Experiment struct {
	Name    string       `json:"name"`
	Share   float64      `json:"share"` // 0 to 1
	Ranking feed.Ranking `json:"ranking"`
}

// Upload is the outcome of uploading items, counts or events of other systems.
type Upload struct {
	Accepted int         `json:"accepted"`           // those that changed nothing among them
	Replaced int         `json:"replaced,omitempty"` // of the accepted: items that a later one with their id has replaced
	Kept     int         `json:"kept,omitempty"`     // of the accepted: items left out, by if_newer, for one that is stored and not older
	Rejected int         `json:"rejected"`
	Errors   []Rejection `json:"errors"` // by line; the first ones of those rejected
}

// Rejection is one entry that was not stored or applied, or not whole.
type Rejection struct {
	Line   int    `json:"line"`         // line of NDJSON, element of an array; from 1
	ID     string `json:"id,omitempty"` // where it could be read
	Reason string `json:"reason"`
}

// AuthorCard is an author's public profile.
type AuthorCard struct {
	Name     string `json:"name,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Bio      string `json:"bio,omitempty"`
}

// AgentProfile is a profile with what was learned of the agent.
type AgentProfile struct {
	feed.Profile
	Learned []feed.LearnedGain `json:"learned,omitempty"` // what adds most first
	Tag     string             `json:"-"`                 // of the ETag header: names what was declared, for a change of just that
}
