// Package api holds the types of the data in a server's answers, shared by the server and its
// client. It does no work and no I/O.
package api

import (
	"time"

	"github.com/freshet/freshet/feed"
)

// AgentPage is a page of a list of agents, by id.
type AgentPage struct {
	Agents    []string    `json:"agents"`
	Cards     []AgentCard `json:"cards"`      // one for each of Agents, in their order
	NextAfter *string     `json:"next_after"` // for the next page; nil on the last page
}

// AgentCard is a person in a list, as the caller may see them. Of one who is unknown, or who blocks
// the caller, only the id is set.
type AgentCard struct {
	PostAuthor
	Followers   int64 `json:"followers"`
	Following   int64 `json:"following"`
	IsFollowing bool  `json:"is_following"`         // the caller follows them
	FollowsYou  bool  `json:"follows_you"`          // they follow the caller
	IsBlocked   bool  `json:"is_blocked,omitempty"` // the caller blocks them; then only name and image are set
}

// AgentCards is a list of people.
type AgentCards struct {
	Cards []AgentCard `json:"cards"` // one for each id that was asked for, in their order
}

// CircleIDPage is a page of a list of circles, by id.
type CircleIDPage struct {
	Circles []string `json:"circles"`
	// Until holds when mutes of the page end. Others have no end.
	Until     map[string]time.Time `json:"until,omitempty"`
	NextAfter *string              `json:"next_after"` // for the next page; nil on the last page
}

// Followed is the outcome of following several authors at once.
type Followed struct {
	Changed int             `json:"changed"` // how many of them were not followed before
	Refused []FollowRefused `json:"refused"`
}

// FollowRefused reports why an author was not followed, with the error that following this author
// alone would return.
type FollowRefused struct {
	Author string `json:"author"`
	Code   int    `json:"code"`
	Msg    string `json:"msg"`
}

// Reasons of a [Suggestion].
const (
	FollowedBy = "followed_by" // several friends of the agent follow the author
	Popular    = "popular"     // a post of the author trends
	New        = "new"         // the author has begun to post
)

// Suggestion is an author whom an agent may want to follow.
type Suggestion struct {
	Author string    `json:"author"`
	Card   AgentCard `json:"card"`
	Reason string    `json:"reason"`
	Count  int       `json:"count,omitempty"` // the friends who follow the author, rounded down; 0 without [FollowedBy]
}

// PostAuthor is an author as their posts have them.
type PostAuthor struct {
	ID       string `json:"id"`
	Name     string `json:"name"` // "" if the author has set none
	ImageURL string `json:"image_url"`
}

// Suggestions lists authors whom an agent may want to follow.
type Suggestions struct {
	Authors []Suggestion `json:"authors"`
}

// Event is something an agent did with an item.
type Event struct {
	Type string `json:"type"` // click, like, unlike, dislike or hide
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
	HasLiked bool  `json:"has_liked"` // the caller has liked it
}

// Dependency is the state of one thing a server depends on.
type Dependency struct {
	State       string `json:"state"`                  // up, degraded or down
	Optional    bool   `json:"optional,omitempty"`     // when it is down, answers are only degraded
	Error       string `json:"error,omitempty"`        // why it is down
	Warning     string `json:"warning,omitempty"`      // a problem while it is up
	SecondsLeft int64  `json:"seconds_left,omitempty"` // while degraded: how long the server's stored copy can still replace it
}

// Readiness is the state of a server.
type Readiness struct {
	Dependencies map[string]Dependency `json:"dependencies"` // by name
}

// RankingVersion is one version of the live ranking, with its author and reason.
type RankingVersion struct {
	Version     int          `json:"version"`     // 0 is the configured ranking
	At          time.Time    `json:"at,omitzero"` // version 0 has no date
	By          string       `json:"by"`
	Why         string       `json:"why"`
	Ranking     feed.Ranking `json:"ranking"` // for all agents in no experiment
	Experiments []Experiment `json:"experiments"`
	// Notes, in the answer to a change, report side effects that the request did not name: one
	// Gaussian has replaced curves.
	Notes []string `json:"notes,omitempty"`
}

// RankingHistory lists versions, newest first.
type RankingHistory struct {
	Versions []RankingVersion `json:"versions"`
}

// Experiment is a variant of the ranking for a share of the agents.
type Experiment struct {
	Name    string       `json:"name"`
	Share   float64      `json:"share"` // 0 to 1
	Ranking feed.Ranking `json:"ranking"`
	Limits  feed.Limits  `json:"limits,omitzero"` // its guardrails
}

// Upload is the outcome of uploading items, counts or events of other systems.
type Upload struct {
	Accepted int         `json:"accepted"`           // including those that changed nothing
	Replaced int         `json:"replaced,omitempty"` // of the accepted: items replaced by a later one with the same id
	Kept     int         `json:"kept,omitempty"`     // of the accepted: items skipped because of if_newer: the stored one is not older
	Rejected int         `json:"rejected"`
	Errors   []Rejection `json:"errors"` // by line; only the first ones
}

// Rejection is one entry that was not stored or applied, or only in part.
type Rejection struct {
	Line   int    `json:"line"`         // line of NDJSON or element of an array, from 1
	ID     string `json:"id,omitempty"` // if it could be read
	Reason string `json:"reason"`
}

// AuthorCard is an author's public profile.
type AuthorCard struct {
	Name     string `json:"name,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Bio      string `json:"bio,omitempty"`
	// SuggestFromFollows says whether the author's follows may be a reason to suggest authors to
	// the author's friends. Nil means yes, except for an author who has posts, of which none is
	// public.
	SuggestFromFollows *bool `json:"suggest_from_follows,omitempty"`
	// Recommend says whether the author may be recommended to people who do not follow them. Nil means
	// yes in a card that is read, and as it was in one that is put.
	Recommend *bool `json:"recommend,omitempty"`
}

// AgentProfile is a profile together with the interests learned from the agent's acts.
type AgentProfile struct {
	feed.Profile
	Learned []feed.LearnedGain `json:"learned,omitempty"` // largest effect first
	Tag     string             `json:"-"`                 // value of the ETag header; identifies the declared profile, for conditional changes of it
}

// Change is a line of GET /v1/changes: a change, or only the cursor after the last one, if Type is "".
type Change struct {
	Cursor string      `json:"cursor"`
	Type   string      `json:"type,omitempty"`
	Data   *ChangeData `json:"data,omitempty"`
}

// ChangeData says what a [Change] is about.
type ChangeData struct {
	At int64 `json:"at"` // Unix seconds
	// ID is the post, or the group or event, or the item that is reported.
	ID string `json:"id,omitempty"`
	// AgentID is who follows, likes, blocks, joins, leaves or reports, or whom the change concerns: who is
	// mentioned or invited, and the author of the post that a reply answers.
	AgentID  string `json:"agent_id,omitempty"`
	AuthorID string `json:"author_id,omitempty"` // the followed agent, or the post's author
	OtherID  string `json:"other_id,omitempty"`  // who is blocked or reported
	OwnerID  string `json:"owner_id,omitempty"`  // whose group it is
	ReplyTo  string `json:"reply_to,omitempty"`  // the post that a reply answers
}
