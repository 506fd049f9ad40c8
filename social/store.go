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
// For every method: errors wrap [ErrUnavailable] if the database is unavailable, or are the
// context's; then a write was made completely or not at all. If a row cannot be read, they wrap
// [ErrDamaged]. Malformed ids are [feed.ErrBadID]. Every write is idempotent. Once a write has
// returned, every read that starts later sees it, on every server.
type Store interface {
	Posts
	Follows
	Suggestions
	Circles
	Likes
	Authors
	Cards
	CardsOfMany
	Lists
	Promotions
	Images
	ChangeReader
	Notifications
	Moderation
	Exports
	Personal
	Upkeep
}

// Options of a backend. Zero fields mean the defaults.
type Options struct {
	Clock feed.Clock // the current time; default time.Now
	// QueueClock is the clock of the queue. Nil, as outside of tests, means PostgreSQL's own clock;
	// in SQLite, Clock.
	QueueClock     feed.Clock
	CelebrityAt    int // number of followers from which an author is pulled; default 1,000
	CelebrityUntil int // an author with fewer is pushed again; default 900
	// KeepJobs retains completed jobs of timelines for [jobs.CompletedTTL], so that
	// [jobs.Queue.Reenqueue] can repeat them. Set it if timelines are stored where they may be lost.
	KeepJobs bool
	// KeepChanges is how long each [Change] is kept; 0 writes none.
	KeepChanges time.Duration
	// KeepNotifications is how long each [Notification] is kept; 0 writes none. Of one agent about the
	// newest MostNotifications are kept, by default [DefaultNotifications]: of each kind a sixth of that
	// whatever there is of others, and then of one actor a tenth at most.
	KeepNotifications time.Duration
	MostNotifications int
	// KeepReports is how long the reports about an object are kept after they were decided; 0 keeps them.
	// Open ones stay.
	KeepReports time.Duration
	// Notified is called after a write that may have changed the notifications of some agents, or what
	// they have seen of them. It must not block. Nil means that nobody is told.
	Notified func(agents []string)
	// Undone is called after a write by which some notifications of some agents may not stand any more. It must
	// not block. Nil means that nobody is told.
	Undone func(agents []string)
}

// DefaultNotifications is the default of [Options.MostNotifications].
const DefaultNotifications = 500

// WithDefaults fills in the zero fields.
func (o Options) WithDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.CelebrityAt = cmp.Or(o.CelebrityAt, 1000)
	o.MostNotifications = cmp.Or(o.MostNotifications, DefaultNotifications)
	if o.Notified == nil {
		o.Notified = func([]string) {}
	}
	if o.Undone == nil {
		o.Undone = func([]string) {}
	}
	o.CelebrityUntil = cmp.Or(o.CelebrityUntil, min(900, o.CelebrityAt))
	return o
}

// Creation holds the parameters of a post's creation.
type Creation struct {
	// Key is the idempotency key, "" for none. For [KeyLives] another creation by the same author
	// with the same key returns the same post.
	Key string
	At  time.Time // time of the event; zero means created here and now
	// Files is the number of files reserved for the post with [Images.ReserveFiles]. If some are no
	// longer reserved, the error is [ErrUnavailable].
	Files int
}

// Retention periods.
const (
	KeyLives       = 24 * time.Hour      // idempotency keys
	TombstoneLives = 30 * 24 * time.Hour // tombstones, since the store learned of the removal
	PromotionLives = 90 * 24 * time.Hour // promotions, since their end
)

// Fingerprint returns a hash that distinguishes posts sent with one idempotency key. It ignores the
// fields that the store assigns. The post is normalized.
func Fingerprint(p Post) string {
	p.ID, p.CreatedAt = "", 0
	p.Images = slices.Clone(p.Images)
	for i := range p.Images {
		image := &p.Images[i]
		if image.Digest != "" {
			image.URL, image.Thumbnail = image.Digest, "" // the stored names are random
		}
	}
	raw, err := json.Marshal(struct {
		Author   string
		Post     Post
		Circles  []string
		Grants   []string
		IsPublic bool
	}{p.Author, p, p.Audience.Circles, p.Grants, p.Audience.Public})
	if err != nil { // impossible: strings and numbers only
		panic(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Counts are the absolute numbers of likes and comments of a post in another system. Likes given
// here are counted by the store and added.
type Counts struct{ Likes, Comments int64 }

// Validate checks the counts; the error wraps [feed.ErrInvalid].
func (c Counts) Validate() error {
	if min(c.Likes, c.Comments) < 0 || c.Likes > 1<<53 || c.Comments > 1<<52 {
		return fmt.Errorf("%w: likes must be 0 to 2^53 and comments 0 to 2^52, not %d and %d", feed.ErrInvalid, c.Likes, c.Comments)
	}
	return nil
}

// Written is a post as a write has left it.
type Written struct {
	Post
	// Card is the post as who wrote it sees it then: see [Cards.Cards]. With an event's time it is
	// the zero Card.
	Card Card
}

// Posts writes posts.
type Posts interface {
	// CreatePost stores a post and returns it as stored, normalized, with its author's card. It fills
	// in an empty ID and a zero CreatedAt; with an event's time both must be given. If the key or the
	// event is a repetition, created is false, and the post is returned as it is now.
	//
	// Errors: feed.ErrRule, also for a circle that does not exist or does not take the author's
	// posts; feed.ErrInvalid for the key or the time; feed.ErrConflict for a key used for another
	// post; feed.ErrForbidden if the id is another author's; feed.ErrNotFound if a newer deletion
	// is known.
	CreatePost(ctx context.Context, p Post, c Creation) (post Written, created bool, err error)

	// EditPost changes the content of a post and returns it, with the caller's card. by is the calling
	// agent; "" is an admin or another system, with the card of a reader without an agent. A post that
	// by may not see is feed.ErrNotFound, one that is not theirs feed.ErrForbidden; a remote post has
	// no owner here. An edit that leaves neither caption nor image, or has another number of alt texts
	// than the post has images, is feed.ErrRule. One made here that leaves the post as its readers see
	// it changes nothing, not even the time of the last edit. An event for an unknown post is stored until the post
	// is created; it returns the zero Written.
	EditPost(ctx context.Context, id, by string, e Edit, at time.Time) (Written, error)

	// DeletePost makes a post a tombstone, without its content. by is as for EditPost. Deleting an
	// unknown post is feed.ErrNotFound; such an event is stored and is no error.
	DeletePost(ctx context.Context, id, by string, at time.Time) error

	// RemovePost removes a post from groups, or a reply from its thread, on behalf of another than its
	// author. The owner of a group removes a post from it, or from all groups of theirs if circle is
	// "": a post without any other audience stays visible to its author alone, whomever it mentions.
	// The owner also removes a reply to a post that only circles see, for those who see the post
	// through these groups alone. The author of a root post removes a reply from its thread, so that
	// only its author sees it. by "" is an admin, who names the circle, except for a reply.
	//
	// No edit and no report of another system undoes a removal. Repeating one changes nothing, not
	// even the reason. Errors: feed.ErrInvalid for the reason; feed.ErrNotFound for a post that by may
	// neither see nor remove, else feed.ErrForbidden.
	RemovePost(ctx context.Context, id, by, circle, reason string) error

	// SetCounts stores counts that another system reported, also for an unknown post. With the zero
	// time an unknown post is feed.ErrNotFound.
	SetCounts(ctx context.Context, id string, c Counts, at time.Time) error

	// PostsByID returns posts as stored, in the order of the ids, regardless of who may see them:
	// for jobs, never for an answer. Tombstones have Deleted set, author, audience and mentions. A
	// post that does not exist, or not yet, is the zero Post.
	PostsByID(ctx context.Context, ids []string) ([]Post, error)

	// PostStates returns [Post.State] of what PostsByID returns, for less.
	PostStates(ctx context.Context, ids []string) ([]PostState, error)
}

// Edge is a follow: agent follows author.
type Edge struct{ Agent, Author string }

// Rejected is an edge of [Follows.FollowAll] that was refused.
type Rejected struct {
	Index int
	Err   error // the error of Follow: feed.ErrInvalid, feed.ErrBadID, feed.ErrForbidden or feed.ErrLimit
}

// Follows writes and reads who follows whom, and who blocks whom.
type Follows interface {
	// Follow makes agent follow author, who need not be known, or [Server], whose followers are not
	// counted. changed reports whether anything changed. Errors: feed.ErrInvalid (oneself),
	// feed.ErrForbidden, feed.ErrLimit with MaxFollowees followees.
	Follow(ctx context.Context, agent, author string, at time.Time) (changed bool, err error)

	// FollowAll makes many follows as of one time in one transaction, at most [MaxEdges], to import
	// a network. It does for each edge, in order, the same as Follow, but enqueues one job for each
	// agent, with [github.com/freshet/freshet/social/jobs.Everybody]. changed is the number of new
	// follows. Edges that Follow refuses are rejected, by their index; the others are made. Errors:
	// feed.ErrInvalid for the time, or for too many edges.
	FollowAll(ctx context.Context, edges []Edge, at time.Time) (changed int, rejected []Rejected, err error)

	// Unfollow ends a follow. If there is none, that is no error.
	Unfollow(ctx context.Context, agent, author string, at time.Time) (changed bool, err error)

	// Block makes agent block another. It ends the follows of both and removes each from the
	// other's circles. Until it ends, new follows between them are feed.ErrForbidden, and neither
	// sees the other's posts. No event makes a block.
	Block(ctx context.Context, agent, other string) (changed bool, err error)

	// Unblock ends agent's block of the other. Follows and memberships that the block ended are not
	// restored, and a block by the other stays.
	Unblock(ctx context.Context, agent, other string) (changed bool, err error)

	// Following returns the authors whom agent follows, Followers the agents who follow author: at
	// most n, in the byte order of their ids, after the given id. "" starts at the beginning; fewer
	// than n are the last. Agents separated from the reader by a block, in either direction, are left
	// out. The reader "" is an admin or a job, for whom the list is complete.
	Following(ctx context.Context, agent, reader, after string, n int) ([]string, error)
	Followers(ctx context.Context, author, reader, after string, n int) ([]string, error)

	// Blocked returns the agents whom agent blocks, all of them, in the same way.
	Blocked(ctx context.Context, agent, after string, n int) ([]string, error)

	// DrawFollowers returns at most n random agents who follow somebody. It reads all follows.
	DrawFollowers(ctx context.Context, n int) ([]string, error)
}

// Likes stores likes.
type Likes interface {
	// Like and Unlike return the agent's card of the post after the call, and whether they changed
	// anything. Liking a post that the agent may not see is feed.ErrNotFound; a like that its
	// author does not allow is feed.ErrForbidden. A like can always be removed; the card of a post
	// that the agent may not see, or that does not exist, has only the id.
	Like(ctx context.Context, agent, post string) (card Card, changed bool, err error)
	Unlike(ctx context.Context, agent, post string) (card Card, changed bool, err error)

	// Liked returns the posts that the agent has liked and still likes, also those that the agent may not
	// see any more: at most n, the newest like first, below a position. The time of their positions is the stamp of the like.
	Liked(ctx context.Context, agent string, below Position, n int) ([]Entry, error)

	// Affinities counts, by other author, the posts that the agent has liked since a time and still
	// likes, even if they were deleted, and the agent's replies to others since then, as long as
	// reply and root post exist. It returns at most [MaxAffinities] authors, those with the most.
	Affinities(ctx context.Context, agent string, since time.Time) (map[string]int, error)
}

// MaxAffinities is the maximum number of authors that [Likes.Affinities] returns.
const MaxAffinities = 1000
