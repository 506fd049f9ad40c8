package social

import (
	"context"
	"slices"
	"time"

	"github.com/freshet/freshet/feed/api"
)

// Author is an author's card.
type Author struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Bio      string `json:"bio,omitempty"`
	// SuggestFromFollows says whether the author's follows may be a reason to suggest authors to
	// the author's friends: see [Suggestions.Friends]. Nil means yes, except for an author who has
	// posts, of which none is public. Only the author reads it.
	SuggestFromFollows *bool `json:"suggest_from_follows,omitempty"`
	// Recommend says whether the author may be recommended to people who do not follow them: see
	// [Card]. What is stored is false, or nil, which means yes. Only the author reads it.
	Recommend *bool `json:"recommend,omitempty"`
}

// AuthorInfo is an author as shown to a reader.
type AuthorInfo struct {
	Author
	Posts       int64 `json:"posts"` // only those that the reader may see; see [MaxAddressed]
	Followers   int64 `json:"followers"`
	Following   int64 `json:"following"`
	IsFollowing bool  `json:"is_following"`
	FollowsYou  bool  `json:"follows_you"` // the author follows the reader
	// IsBlocked reports that the reader blocks the author; then only the id is set.
	IsBlocked bool `json:"is_blocked,omitempty"`
	// SuspendedUntil is the end of the author's suspension, in Unix seconds; 0 for none. Only the
	// author reads it.
	SuspendedUntil int64 `json:"suspended_until,omitempty"`
	// SuspendedFor is the reason that the moderators gave, with SuspendedUntil.
	SuspendedFor string `json:"suspended_for,omitempty"`
}

// MaxAddressed limits how many posts [Authors.Author] reads to count those that an author addresses
// to a reader. The limit applies separately to the author's circles, to groups and to mentions.
// Posts that do not count, such as deleted ones, use up the limit, too. Posts for everyone or for
// all followers are counted without a limit.
const MaxAddressed = 1000

// Delivery is the way in which an author's posts reach followers.
type Delivery string

// The deliveries. An author who changes from one to the other is Both in between.
const (
	Push Delivery = "push" // fan-out on write, into the followers' lists
	Pull Delivery = "pull" // read from the author's outbox when a page is read
	Both Delivery = "both"
)

// Celebrity is the stored state of an author's delivery.
type Celebrity struct {
	Author    string
	Delivery  Delivery
	Since     time.Time // when the delivery last changed; zero if never
	Followers int64
}

// Wants returns the delivery that fits the number of followers. Between the two thresholds it is
// the current one, or Pull instead of Both.
func (c Celebrity) Wants(o Options) Delivery {
	switch {
	case c.Followers >= int64(o.CelebrityAt):
		return Pull
	case c.Followers < int64(o.CelebrityUntil) || c.Delivery == Push:
		return Push
	}
	return Pull
}

// Leave is called with followers of an author who is being erased. After an error the call is
// repeated.
type Leave func(ctx context.Context, followers []string) error

// ErasedAgent is an agent who was erased, up to a stamp.
type ErasedAgent struct {
	ID string
	At int64 // Unix microseconds
}

// Authors stores authors' cards and deliveries, and erases authors.
type Authors interface {
	// PutAuthor stores a card. An older event changes nothing. An event, a card with a time, leaves
	// SuggestFromFollows as it is; without a time, nil resets it. A nil Recommend leaves the stored
	// choice as it is.
	PutAuthor(ctx context.Context, a Author, at time.Time) error

	// PatchAuthor changes a card to what patch returns for the stored one, as of now, and returns
	// it as stored. An unknown author has an empty card. A nil Recommend resets the choice. patch may
	// be called more than once; its errors are returned.
	PatchAuthor(ctx context.Context, id string, patch func(stored Author) (Author, error)) (Author, error)

	// PutAvatar makes the file that was reserved for [AvatarOwner] the image of the author's card, and
	// returns the card. Without the reservation it is ErrUnavailable. Every write that leaves the card
	// without the image gives up the file.
	PutAvatar(ctx context.Context, author, key string) (Author, error)

	// Author returns an author for a reader; "" is a call without an agent. If the reader blocks
	// the author, known or not, only the id and IsBlocked are set. The reader always finds itself.
	// Otherwise an author who is unknown or blocks the reader is feed.ErrNotFound.
	Author(ctx context.Context, reader, author string) (AuthorInfo, error)

	// AgentCards returns people as a reader may see them, in order; "" is a call without an agent.
	AgentCards(ctx context.Context, reader string, ids []string) ([]api.AgentCard, error)

	// EraseAuthor erases an author. When it returns, their card is deleted and their posts are
	// hidden. It enqueues a job that removes posts and followers with [Authors.EraseSome]. Posts
	// that the author publishes later are not affected. An unknown author is no error.
	EraseAuthor(ctx context.Context, author string) error

	// EraseAgent does the same as EraseAuthor, and also removes the agent's follows, blocks,
	// circles, memberships, invitations, likes, suggestions and idempotency keys, and mentions of
	// the agent. Blocks by others against them stay.
	EraseAgent(ctx context.Context, agent string) error

	// ErasedAgents returns the agents who were erased at a stamp after the given one, or at that stamp and with a
	// greater id: at most n, in this order.
	ErasedAgents(ctx context.Context, since int64, after string, n int) ([]ErasedAgent, error)

	// LastErasure returns the stamp up to which an agent was erased, 0 if never, and whether somebody has made
	// anything as that agent since.
	LastErasure(ctx context.Context, agent string) (stamp int64, used bool, err error)

	// EraseSome removes at most about n things of an agent who is being erased, and reports whether
	// nothing is left. Call it until done, then drop the agent's own list. Followers are removed
	// after all posts. Before that, leave is called with them, to take the posts out of their
	// lists; if leave is nil, each list gets a job. A pulled agent needs neither. If the agent has
	// posted again, each list gets a job in any case.
	EraseSome(ctx context.Context, agent string, n int, leave Leave) (done bool, err error)

	// Celebrity returns an author's delivery, which is Push for an unknown author.
	Celebrity(ctx context.Context, author string) (Celebrity, error)

	// SetDelivery changes an author's delivery. It returns false if the delivery is no longer from:
	// another server was faster. If the followers have crossed a threshold in the meantime, it
	// enqueues another author job.
	SetDelivery(ctx context.Context, author string, from, to Delivery) (bool, error)

	// Celebrities returns the authors whom reader follows and whose delivery is not Push.
	Celebrities(ctx context.Context, reader string) (Pulled, error)

	// CelebritiesOf returns the result of [Authors.Celebrities] for each reader, in order, with one
	// statement. A reader may occur more than once.
	CelebritiesOf(ctx context.Context, readers []string) ([]Pulled, error)
}

// Pulled describes the parts of a reader's timeline that their list may lack.
type Pulled struct {
	Authors []string // those followed whose delivery is not Push, sorted
	Server  bool     // the reader follows [Server]
	// Rebuilt reports that the reader's list is incomplete and will be rebuilt: a job for it is
	// waiting or running, see [github.com/freshet/freshet/social/jobs.Everybody].
	Rebuilt bool
}

// With returns p with another author whom the reader follows. Add authors in the order of their
// ids.
func (p Pulled) With(author string) Pulled {
	if author == Server {
		p.Server = true
	} else if !slices.Contains(p.Authors, author) { // already added if a reader occurs twice
		p.Authors = append(p.Authors, author)
	}
	return p
}

// PulledOf returns the values found for readers, in the order of readers.
func PulledOf(readers []string, found map[string]Pulled) []Pulled {
	list := make([]Pulled, len(readers))
	for i, reader := range readers {
		list[i] = found[reader]
	}
	return list
}

// Upkeep removes expired data from a store and checks that the store works.
type Upkeep interface {
	// Purge removes what has expired, at most about n rows of each kind, and returns how many rows of
	// which kinds it has removed. What is expired is decided by the clock of the store.
	Purge(ctx context.Context, n int) (Purged, error)
	// PublicPosts reads the n posts whose ids follow an id, and returns the ids of those that are public, and
	// the last id that it has read: "" if there are no more posts.
	PublicPosts(ctx context.Context, after string, n int) (ids []string, last string, err error)
	// Ping returns an error if the store cannot be read or, as far as is known, cannot be written.
	Ping(ctx context.Context) error
}

// ReportsPurgedAtOnce is the number of objects whose reports one call of Purge removes at most.
const ReportsPurgedAtOnce = 500

// Purged is the number of rows that were removed of each kind; those without any are left out.
type Purged map[string]int

// Add counts n more rows of a kind.
func (p Purged) Add(kind string, n int) {
	if n > 0 {
		p[kind] += n
	}
}

// Total returns the number of rows of all kinds.
func (p Purged) Total() (n int) {
	for _, of := range p {
		n += of
	}
	return n
}
