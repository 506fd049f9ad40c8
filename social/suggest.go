package social

import (
	"context"
	"time"
)

const (
	// SuggestionsLive is how long an agent's suggestions stay the same, whoever the agent follows
	// meanwhile, so that nobody learns at once what one more follow changes.
	SuggestionsLive = 24 * time.Hour
	// SuggestionsKept is the age at which nobody looks at it any more.
	SuggestionsKept = 2 * SuggestionsLive
	// MaxSuggestions is how many authors are suggested to an agent at most.
	MaxSuggestions = 100
	// SuggestionEvidence is how many of an agent's followees must follow an author who is
	// suggested for that, and SuggestionFollowers how many followers the author must have.
	SuggestionEvidence  = 3
	SuggestionFollowers = 10
)

// Suggestion is an author whom an agent may want to follow.
type Suggestion struct {
	Author string `json:"author"`
	Count  int    `json:"count"` // how many of the agent's followees follow the author, rounded down
}

// Suggestions keeps whom agents may want to follow. A kept list may be out of date:
// [Suggestions.Unsuggestable] says who of it is to be left out now.
type Suggestions interface {
	// Suggested returns what is kept for an agent, and as of when: the zero time where
	// nothing is, or only what was kept before the agent was erased.
	Suggested(ctx context.Context, agent string) ([]Suggestion, time.Time, error)
	// KeepSuggested keeps a list that was made of what was there at a time. It changes
	// nothing where what is kept is younger than [SuggestionsLive].
	KeepSuggested(ctx context.Context, agent string, list []Suggestion, at time.Time) error
	// Unsuggestable returns which of the authors are not to be suggested to an agent: whom
	// they follow, who blocks them or whom they block, who has fewer followers than that,
	// and who was erased since a time.
	Unsuggestable(ctx context.Context, agent string, authors []string, followers int, since time.Time) ([]string, error)
}
