package social

import (
	"context"
	"time"
)

const (
	// SuggestionsLive is how long an agent's suggestions stay the same, whomever the agent follows
	// in the meantime, so that nobody can see at once the effect of one more follow.
	SuggestionsLive = 24 * time.Hour
	// SuggestionsKept is the age at which suggestions are removed.
	SuggestionsKept = 2 * SuggestionsLive
	// MaxSuggestions is the maximum number of authors suggested to an agent.
	MaxSuggestions = 100
	// SuggestionEvidence is how many of an agent's followees must follow an author to count as a
	// reason for the suggestion, and SuggestionFollowers how many followers the author must have.
	SuggestionEvidence  = 3
	SuggestionFollowers = 10
)

// Suggestion is an author whom an agent may want to follow.
type Suggestion struct {
	Author string `json:"author"`
	Count  int    `json:"count"` // how many of the agent's followees follow the author, rounded down
}

// Suggestions stores suggestions of authors to follow. A stored list may be stale:
// [Suggestions.Unsuggestable] returns the authors to leave out.
type Suggestions interface {
	// Suggested returns the suggestions stored for an agent, and their time: zero if there are
	// none, or only some from before the agent was erased.
	Suggested(ctx context.Context, agent string) ([]Suggestion, time.Time, error)
	// KeepSuggested stores a list that was computed as of a time. It changes nothing if the stored
	// one is younger than [SuggestionsLive].
	KeepSuggested(ctx context.Context, agent string, list []Suggestion, at time.Time) error
	// Unsuggestable returns those authors who must not be suggested to an agent: whom they follow,
	// who block them or whom they block, who have too few followers, and who are being erased or
	// were erased since a time.
	Unsuggestable(ctx context.Context, agent string, authors []string, followers int, since time.Time) ([]string, error)
}
