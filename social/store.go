package social

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// Store is a whole backend. It is safe for concurrent use.
//
// What holds for every method: errors wrap [ErrUnavailable] where the database could not be
// asked, or are the context's; then a write was made as a whole or not at all. Where a row
// cannot be read they wrap [ErrDamaged]. Malformed ids are [feed.ErrBadID]. Every write may be
// repeated: the second time it changes nothing. What a write has answered, every read that
// starts later sees, on every server.
type Store interface {
	Posts
	Follows
	Suggestions
	Circles
	Likes
	Authors
	Cards
	CardsOfMany
	Tiles
	Lists
	Promotions
	Images
	Upkeep
}

// Options of a backend. Zero fields stand for their defaults.
type Options struct {
	Clock feed.Clock // what is "now"; default time.Now
	// QueueClock is what the queue goes by. Nil, as it is outside of tests: PostgreSQL's own
	// clock; in SQLite, Clock.
	QueueClock     feed.Clock
	CelebrityAt    int // followers from which on an author is pulled; default 1,000
	CelebrityUntil int // an author with fewer is pushed again; default 900
	// KeepJobs keeps completed jobs of timelines for [jobs.CompletedLives], so that
	// [jobs.Queue.Again] can repeat them: timelines are stored where they may be lost.
	KeepJobs bool
}

// WithDefaults fills in the zero fields.
func (o Options) WithDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.CelebrityAt = cmp.Or(o.CelebrityAt, 1000)
	o.CelebrityUntil = cmp.Or(o.CelebrityUntil, min(900, o.CelebrityAt))
	return o
}

// Creation is how a post is created.
type Creation struct {
	// Key is the idempotency key, "" for none. For [KeyLives] the author who
	// creates with the same key again gets the same post.
	Key string
	At  time.Time // of the event; zero: created here and now
	// Files is how many files were reserved for the post with [Images.ReserveFiles]. Where
	// some are not reserved any more the error is [ErrUnavailable].
	Files int
}

// How long what is over is kept.
const (
	KeyLives       = 24 * time.Hour      // idempotency keys
	TombstoneLives = 30 * 24 * time.Hour // what was removed, since the store was told
	PromotionLives = 90 * 24 * time.Hour // promotions, since they have ended
)

// Fingerprint tells apart the posts that come with one idempotency key. It
// leaves out what the store gives a post itself. The post is normalized.
func Fingerprint(p Post) string {
	p.ID, p.CreatedAt = "", 0
	p.Images = slices.Clone(p.Images)
	for i := range p.Images {
		if image := &p.Images[i]; image.Digest != "" {
			image.URL, image.Thumbnail = image.Digest, "" // their names are random
		}
	}
	raw, err := json.Marshal(struct {
		Author   string
		Post     Post
		Circles  []string
		Grants   []string
		IsPublic bool
	}{p.Author, p, p.Audience.Circles, p.Grants, p.Audience.Public})
	if err != nil { // strings and numbers only
		panic(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Counts are the likes and comments of a post in another system. They are absolute. Likes
// given here are counted by the store itself and come on top.
type Counts struct{ Likes, Comments int64 }

// Validate checks the counts; the error wraps [feed.ErrInvalid].
func (c Counts) Validate() error {
	if c.Likes < 0 || c.Comments < 0 || c.Likes > 1<<53 || c.Comments > 1<<52 {
		return fmt.Errorf("%w: likes must be 0 to 2^53 and comments 0 to 2^52, not %d and %d", feed.ErrInvalid, c.Likes, c.Comments)
	}
	return nil
}

// Posts writes posts.
type Posts interface {
	// CreatePost stores a post and returns it as it is stored, normalized. An empty ID and a
	// zero CreatedAt are filled in; with an event's time both must be given. created is false
	// where the key, or the event, came before: then the post is returned as it is now.
	//
	// Errors: feed.ErrRule, also for a circle that is not there or not the author's;
	// feed.ErrInvalid for the key or the time; feed.ErrConflict; feed.ErrForbidden where the
	// id is another author's; feed.ErrNotFound where a newer deletion is known.
	CreatePost(ctx context.Context, p Post, c Creation) (post Post, created bool, err error)

	// EditPost changes the content of a post and returns it. by is who asks: "" is an admin or
	// another system. A post that by may not see is feed.ErrNotFound, one that is not theirs
	// feed.ErrForbidden; a remote post has no owner here. An edit that leaves neither caption nor
	// image, or has another number of alt texts than the post has images, is feed.ErrRule. An event
	// for a post that is not known is kept until it is created; it returns the zero Post.
	EditPost(ctx context.Context, id, by string, e Edit, at time.Time) (Post, error)

	// DeletePost makes a post a tombstone, without its content. by is as for EditPost.
	// Deleting what is not there is feed.ErrNotFound; as an event it is kept and no error.
	DeletePost(ctx context.Context, id, by string, at time.Time) error

	// SetCounts stores counts another system reported. Those of a post that is not
	// known are kept. With the zero time an unknown post is feed.ErrNotFound.
	SetCounts(ctx context.Context, id string, c Counts, at time.Time) error

	// PostsByID reads posts as they are stored, in the order of the ids, whoever may see
	// them: for jobs, never for an answer. Tombstones have Deleted set, author, audience and
	// mentions. One that is not there, or not yet, is the zero Post.
	PostsByID(ctx context.Context, ids []string) ([]Post, error)
}

// Edge is a follow: agent follows author.
type Edge struct{ Agent, Author string }

// Rejected is an edge of [Follows.FollowAll] that was refused.
type Rejected struct {
	Index int
	Err   error // what Follow answers: feed.ErrInvalid, feed.ErrBadID, feed.ErrForbidden or feed.ErrLimit
}

// Follows writes and reads who follows whom, and who blocks whom.
type Follows interface {
	// Follow makes agent follow author, who need not be known, or [Server]; its followers
	// are not counted. changed says whether anything changed. Errors: feed.ErrInvalid
	// (oneself), feed.ErrForbidden, feed.ErrLimit with MaxFollowees followees.
	Follow(ctx context.Context, agent, author string, at time.Time) (changed bool, err error)

	// FollowAll makes many follows as of one time in one transaction, at most [MaxEdges]: the
	// import of a network. It does for each edge, in order, what Follow does, but leaves one
	// job for each agent, with [github.com/freshet/freshet/social/jobs.Everybody]. changed
	// says how many were new. Edges that Follow refuses are rejected, by their index, and the
	// others made. Errors: feed.ErrInvalid for the time, or for too many edges.
	FollowAll(ctx context.Context, edges []Edge, at time.Time) (changed int, rejected []Rejected, err error)

	// Unfollow ends a follow; where there is none that is no error.
	Unfollow(ctx context.Context, agent, author string, at time.Time) (changed bool, err error)

	// Block makes agent block another: the follows of both end, and their places in each
	// other's circles; new follows are feed.ErrForbidden until it ends, and neither sees the
	// other's posts. Blocks are made here only.
	Block(ctx context.Context, agent, other string) (changed bool, err error)

	// Unblock ends agent's block of the other. What the block has ended does not come back,
	// and a block by the other stays.
	Unblock(ctx context.Context, agent, other string) (changed bool, err error)

	// Following lists whom agent follows, Followers who follows author: by id as bytes, those
	// after the id given, at most n. "" is the beginning; fewer than n are the last.
	Following(ctx context.Context, agent, after string, n int) ([]string, error)
	Followers(ctx context.Context, author, after string, n int) ([]string, error)

	// Blocked lists whom agent blocks, in the same way.
	Blocked(ctx context.Context, agent, after string, n int) ([]string, error)
}

// Likes keeps who likes what.
type Likes interface {
	// Like and Unlike return the likes of the post after the call, and whether they changed
	// anything. To like a post that the agent may not see is feed.ErrNotFound; a like that
	// its author does not allow is feed.ErrForbidden. A like can always be removed; of a post
	// that the agent may not see, or that does not exist, Unlike returns 0 likes.
	Like(ctx context.Context, agent, post string) (likes int64, changed bool, err error)
	Unlike(ctx context.Context, agent, post string) (likes int64, changed bool, err error)

	// Affinities counts, by author, the posts that the agent has liked since then and likes
	// still, whatever became of the posts, and those under which the agent's replies since
	// then still stand. It lists at most [MaxAffinities] authors, those with the most.
	Affinities(ctx context.Context, agent string, since time.Time) (map[string]int, error)
}

// MaxAffinities is how many authors [Likes.Affinities] lists at most.
const MaxAffinities = 1000
