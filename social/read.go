package social

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
)

// PostVersion is a post and the version of its content that the caller already has.
type PostVersion struct {
	ID      string
	Version int64 // 0 if the caller has none
}

// Card is one post for one reader, as returned by [Cards].
type Card struct {
	ID        string
	Visible   bool // false if the post does not exist or is hidden from this reader; then only the id is set
	Version   int64
	CreatedAt int64
	// Content is [Post.Content]; nil if the caller has this version. It is the same for every
	// reader, can be cached by version and must not be modified.
	Content json.RawMessage

	Author             Author // without Bio
	Likes, Comments    int64
	Likers, Commenters int64  // see [Post.Likers]
	Root               string // of a reply: the root post of the thread
	Arrived            int64  // stamp of its arrival, by the store's clock; 0 if that is not known

	// Public reports that all fields except those about this reader are the same for everybody: the
	// post is public, no reply, and has no grants. Only such cards are stored in a [CardCache].
	Public bool

	Replies  bool   // the reader sees the replies of others to it; their own they see anyway
	Reason   Reason // NoReason if it is not in the reader's timeline
	HasLiked bool
	CanReply bool
	CanReact bool
	// Circles are the groups and events through which the reader sees the post and, for its author
	// or the owner of a plain circle, all that it addresses; by id.
	Circles []CircleRef
	Removed []Removal // for its author: what it was removed from by others, by circle
	// Suspended means that its author is suspended at the time of the read: feeds do not recommend it.
	Suspended bool
	// NotRecommended means that its author does not want to be recommended: home shows the post to those
	// who are Subscribed to it, as [Decision] has it, and no feed to others.
	NotRecommended, Subscribed bool
}

// Readable reports whether the reader may see the post, and the card has its content.
func (c *Card) Readable() bool { return c.Visible && len(c.Content) > 0 }

// Cacheable reports whether a [CardCache] stores the card. It stores none of a suspended author: while the store
// is unavailable, nothing says that the author is suspended.
func (c *Card) Cacheable() bool { return c.Public && c.Readable() && !c.Suspended }

// Cards is the only way for readers to get a post's content.
type Cards interface {
	// Cards returns the cards of posts, in their order, as of one moment, as if one statement read
	// them; only the root posts of replies may be read after them. Duplicates are allowed. The
	// reader "" is a call without an agent.
	Cards(ctx context.Context, reader string, posts []PostVersion) ([]Card, error)
}

// Asked is one post, and the reader for whom it is read.
type Asked struct{ Reader, ID string }

// CardsOfMany returns cards of posts for many readers.
type CardsOfMany interface {
	// CardsOf returns cards as [Cards.Cards] does, each for its own reader.
	CardsOf(ctx context.Context, asked []Asked) ([]Card, error)
}

// Position is a post's place in a timeline. Timelines are in descending order of position: by time,
// at equal times by the bytes of the id.
//
// As a bound, the zero Position means that there is none: everything is below it.
type Position struct {
	At int64 // Unix seconds
	ID string
}

// Compare returns a negative number if p is older than o, a positive one if it is newer.
func (p Position) Compare(o Position) int {
	return cmp.Or(cmp.Compare(p.At, o.At), strings.Compare(p.ID, o.ID))
}

// noPost is the id of a position that names no post: it comes before every id that is in use.
const noPost = PostPrefix + "-"

// Before returns a position that names no post, from where a page in descending order, or else in
// ascending order, reads p's whole second again.
func (p Position) Before(descending bool) Position {
	if descending {
		return Position{At: p.At + 1, ID: noPost}
	}
	return Position{At: p.At, ID: noPost}
}

// Zero reports whether the position means no bound.
func (p Position) Zero() bool { return p == Position{} }

// Below reports whether p is older than the bound, if there is one.
func (p Position) Below(bound Position) bool { return bound.Zero() || p.Compare(bound) < 0 }

// Above reports whether p is newer than the floor of a list, if there is one.
func (p Position) Above(floor Position) bool { return floor.Zero() || p.Compare(floor) > 0 }

// Entry is a post that a list proposes.
type Entry struct {
	Position
	Author string
}

// ListStatus is the state of a post in relation to a list.
type ListStatus struct {
	Entry
	Found  bool // false if the post is unknown; then Entry has only the id
	Listed bool // the list must contain it
	Reason Reason
}

// PullQuery describes a read of a reader's timeline from the store.
type PullQuery struct {
	Reader string
	Below  Position // zero means from the newest
	N      int
	// Whole adds posts that are not pushed into lists: those of celebrities and, if the reader
	// follows [Server], every public post.
	Whole bool
}

// RepliesQuery describes a read of the replies under a post.
type RepliesQuery struct {
	Reader, Post string
	After        Position // the last one already read; zero means from the first
	N            int
	Oldest       bool // the oldest first, not the newest
	Own          bool // only those of the reader, who is not in the post's audience: see [Card]
}

// Receiver is an agent whose list must contain a post, and why.
type Receiver struct {
	Agent  string
	Reason Reason // self, follow, audience or mention
}

// ReceiverPage names the receivers of a post whose ids come after an agent's; "" names the first.
type ReceiverPage struct{ Post, After string }

// Receivers are a post, as [Posts.PostsByID] returns it, its author's delivery, and a page of the
// agents whose lists must contain the post, or had to before it was deleted.
type Receivers struct {
	Post     Post // the zero value if there is no such post; there are no receivers then
	Delivery Delivery
	// List is in the byte order of the agents' ids, and has the first reason of self, follow,
	// audience and mention. Agents who only follow the author are in it if the delivery is not
	// [Pull] or the post is deleted, unless the author was erased: see [Leave].
	List []Receiver
}

// Lists reads the posts that belong in lists and outboxes. The results are proposals, posts newest
// first if nothing else is stated: code that shows one must query [Cards].
type Lists interface {
	// Pull returns the newest n of a reader's timeline below a position: every post for which
	// [Decide] has a reason (Whole), or only those that are Listed. Fewer than n are the last.
	Pull(ctx context.Context, q PullQuery) ([]Entry, error)

	// Replies returns the next n replies under a post, without those of authors whom the reader
	// blocks or is blocked by. It does not check whether the reader may see the post, or replies of
	// others to it.
	Replies(ctx context.Context, q RepliesQuery) ([]Entry, error)

	// Newest returns the newest n posts of some authors below a position that
	// their followers may see.
	Newest(ctx context.Context, authors []string, below Position, n int) ([]Entry, error)

	// NewestPublic returns the newest n public posts of all authors, which followers of [Server]
	// get except for blocks.
	NewestPublic(ctx context.Context, n int) ([]Entry, error)

	// Late returns the last n posts that have arrived late after a stamp, in the order of their
	// arrival, and the stamp up to which that is complete: a second before now, as transactions of
	// the last moment may not have ended. A call with that stamp continues.
	Late(ctx context.Context, after int64, n int) (list []LatePost, upTo int64, err error)

	// Grid returns the newest n posts of one author below a position that the reader may see, ""
	// for a call without an agent. Replies under posts that are not public are only in the grid
	// that their own author reads.
	Grid(ctx context.Context, reader, author string, below Position, n int) ([]Entry, error)

	// CirclePosts returns the newest n posts below a position that the reader sees through a circle:
	// a member those of a group or an event, the owner also those of a plain circle. Without a role
	// in it the error is feed.ErrNotFound; an invited agent gets feed.ErrForbidden.
	CirclePosts(ctx context.Context, reader, circle string, below Position, n int) ([]Entry, error)

	// Receivers returns the next n receivers of each page, in the order of pages, all as of one
	// moment. A page of fewer is the last.
	Receivers(ctx context.Context, pages []ReceiverPage, n int) ([]Receivers, error)

	// PairEntries returns the newest n posts of author above a position that agent's list must
	// contain.
	PairEntries(ctx context.Context, author, agent string, above Position, n int) ([]Entry, error)

	// MemberEntries returns the newest n posts above a position that are addressed to the circle
	// and that agent's list must contain.
	MemberEntries(ctx context.Context, circle, agent string, above Position, n int) ([]Entry, error)

	// ListStatuses returns for each id, in order, whether it belongs in agent's list.
	ListStatuses(ctx context.Context, agent string, ids []string) ([]ListStatus, error)
}
