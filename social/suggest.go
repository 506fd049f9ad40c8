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
	// SuggestionEvidence is how many of an agent's friends must follow an author to count as a
	// reason for the suggestion.
	SuggestionEvidence = 3
	// FriendsAfter is how long two agents must have followed each other to be friends. So nobody
	// learns at once from new accounts, or by following somebody.
	FriendsAfter = 7 * 24 * time.Hour
)

// Suggestion is an author whom an agent may want to follow.
type Suggestion struct {
	Author string `json:"author"`
	Count  int    `json:"count"` // how many of the agent's friends follow the author, rounded down
}

// NewAuthor is an author of public posts.
type NewAuthor struct {
	Author string
	Newest Post // the newest public post as stored; the zero Post if it was removed meanwhile
}

// Suggestions stores suggestions of authors to follow. A stored list may be stale:
// [Suggestions.Unsuggestable] returns the authors to leave out.
type Suggestions interface {
	// Suggested returns the suggestions stored for an agent, and their time: zero if there are
	// none, or only some from before the agent was erased.
	Suggested(ctx context.Context, agent string) ([]Suggestion, time.Time, error)
	// KeepSuggested stores a list that was computed as of a time. It changes nothing if the stored
	// one is younger than [SuggestionsLive]. For an agent who was erased less than [FriendsAfter]
	// before, who has no friends, the list is stored empty: the time is that of another clock than
	// the erasure's.
	KeepSuggested(ctx context.Context, agent string, list []Suggestion, at time.Time) error
	// Unsuggestable returns those authors who must not be suggested to an agent: whom they follow,
	// who block them or whom they block, who are suspended or do not want to be recommended, and who are
	// being erased or were erased since a time.
	Unsuggestable(ctx context.Context, agent string, authors []string, since time.Time) ([]string, error)
	// Friends returns at most n agents, by id after another, who have followed the agent and been
	// followed back for [FriendsAfter], and whose follows may be a reason for suggestions: see
	// [Author]. The stamps of the follows decide; only events can set these to an earlier time.
	Friends(ctx context.Context, agent, after string, n int) ([]string, error)
	// NewestAuthors returns at most n authors who have public posts and may be suggested to an
	// agent, except those listed; whose first public post is newest come first.
	NewestAuthors(ctx context.Context, agent string, except []string, n int) ([]NewAuthor, error)
}
