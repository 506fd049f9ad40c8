package social

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// Author is an author's card.
type Author struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Bio      string `json:"bio,omitempty"`
}

// AuthorInfo is an author as a reader gets them.
type AuthorInfo struct {
	Author
	Posts       int64 `json:"posts"` // of those the reader may see; see [MaxAddressed]
	Followers   int64 `json:"followers"`
	Following   int64 `json:"following"`
	IsFollowing bool  `json:"is_following"`
	// IsBlocked says that the reader blocks the author: then nothing but the id is told.
	IsBlocked bool `json:"is_blocked,omitempty"`
}

// MaxAddressed limits how many posts [Authors.Author] looks at to count those that an author
// addresses to a reader: so many by the author's circles, by groups, and by mentions. Posts that
// do not count, such as deleted ones, use up the limit, too. Posts for everyone or for all
// followers are counted without a limit.
const MaxAddressed = 1000

// Delivery is how an author's posts get to followers.
type Delivery string

// The deliveries. On its way from one to the other an author is Both.
const (
	Push Delivery = "push" // into their lists, on write
	Pull Delivery = "pull" // out of the author's outbox, on read
	Both Delivery = "both"
)

// Celebrity is the stored state of an author's delivery.
type Celebrity struct {
	Author    string
	Delivery  Delivery
	Since     time.Time // the delivery was changed; zero: never
	Followers int64
}

// Wants is the delivery that the number of followers asks for; between the two thresholds the
// one that there is, and Pull for Both.
func (c Celebrity) Wants(o Options) Delivery {
	switch {
	case c.Followers >= int64(o.CelebrityAt):
		return Pull
	case c.Followers < int64(o.CelebrityUntil) || c.Delivery == Push:
		return Push
	}
	return Pull
}

// Leave is told followers of an author who is being erased; after an error, again.
type Leave func(ctx context.Context, followers []string) error

// Authors keeps cards, deliveries, and ends them.
type Authors interface {
	// PutAuthor stores a card. An older event changes nothing.
	PutAuthor(ctx context.Context, a Author, at time.Time) error

	// Author reads an author for a reader, "" for a call without an agent. One of whom nothing
	// is known, or who blocks the reader, is feed.ErrNotFound. Whom the reader blocks has an
	// id and IsBlocked, whether they are known or not.
	Author(ctx context.Context, reader, author string) (AuthorInfo, error)

	// EraseAuthor ends an author: their card is deleted and their posts are hidden when it
	// returns. It leaves a job, which removes posts and followers by [Authors.EraseSome]. What
	// they publish later is theirs again. An unknown author is no error.
	EraseAuthor(ctx context.Context, author string) error

	// EraseAgent is EraseAuthor, and removes what else the agent has made: follows, blocks,
	// circles, memberships, likes and idempotency keys. Blocks of others against them stay.
	EraseAgent(ctx context.Context, agent string) error

	// EraseSome removes at most about n things of an agent who is being erased and says
	// whether nothing is left. Call it until done, and then drop the agent's own list.
	// Followers end after all posts are removed. leave is told each of them before, but none
	// of an agent who is pulled, and takes the posts out of their lists; nil: each list has a
	// job, as has that of who follows an agent that has posted again.
	EraseSome(ctx context.Context, agent string, n int, leave Leave) (done bool, err error)

	// Celebrity reads an author's delivery; an unknown author is pushed.
	Celebrity(ctx context.Context, author string) (Celebrity, error)

	// SetDelivery changes an author's delivery and reports whether it did: another server may
	// have been faster. Where the followers have crossed a threshold meanwhile, it leaves
	// another author job.
	SetDelivery(ctx context.Context, author string, from, to Delivery) (bool, error)

	// Celebrities lists whom reader follows and who is not pushed.
	Celebrities(ctx context.Context, reader string) (Pulled, error)

	// CelebritiesOf answers [Authors.Celebrities] for many readers, in their order,
	// with one statement. Doubles are allowed.
	CelebritiesOf(ctx context.Context, readers []string) ([]Pulled, error)
}

// Pulled is whom a reader follows and whose posts are in no list, and what else of their
// timeline is not in it.
type Pulled struct {
	Authors []string // who are not pushed, sorted
	Server  bool     // the reader follows [Server]
	// Rebuilt says that the reader's list is to be built again, because it lacks something: a
	// job of theirs waits or runs, see [github.com/freshet/freshet/social/jobs.Everybody].
	Rebuilt bool
}

// With is p with another author that the reader follows, in the order of their ids.
func (p Pulled) With(author string) Pulled {
	if author == Server {
		p.Server = true
	} else if !slices.Contains(p.Authors, author) { // a double among the readers
		p.Authors = append(p.Authors, author)
	}
	return p
}

// PulledOf puts what was found of readers in their order.
func PulledOf(readers []string, found map[string]Pulled) []Pulled {
	list := make([]Pulled, len(readers))
	for i, reader := range readers {
		list[i] = found[reader]
	}
	return list
}

// Upkeep keeps a store small and its operators informed.
type Upkeep interface {
	// Purge removes tombstones, idempotency keys and promotions that are over, at most about
	// n of each, and returns how many.
	Purge(ctx context.Context, n int) (int, error)
	// Ping reports whether the store can be asked, and as far as is known written.
	Ping(ctx context.Context) error
}

// purgeRows is how many tombstones are removed at once.
const purgeRows = 10_000

// PurgeAll removes all that a store keeps of what is over. What goes wrong is logged: the
// next time it is tried again. purge is [Upkeep]'s.
func PurgeAll(ctx context.Context, purge func(ctx context.Context, n int) (int, error), log *slog.Logger) {
	for {
		n, err := purge(ctx, purgeRows)
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "tombstones cannot be removed", "error", err)
		}
		if err != nil || n < purgeRows {
			return
		}
	}
}
