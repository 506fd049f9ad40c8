package social

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
)

// Known is a post whose content at a version the caller has already.
type Known struct {
	ID      string
	Version int64 // 0: has none
}

// Card is one post for one reader, as the truth query answers it.
type Card struct {
	ID        string
	Visible   bool // false: it is deleted, or not for this reader; then nothing else is set
	Version   int64
	CreatedAt int64
	// Content is [Post.Content]; nil where the caller has this version. It is the
	// same for every reader and may be kept by version. Never write to it.
	Content json.RawMessage

	Author          Author // without Bio
	Likes, Comments int64
	Commenters      int64  // see [Post.Commenters]
	Root            string // of a reply: the post that it stands under

	// Public says that what is not about this reader is everybody's: the post is public and no
	// reply, and no grants name whom its rights are for. Only such cards are kept in a [CardCache].
	Public bool

	Reason   Reason // NoReason: it is not in the reader's timeline
	HasLiked bool
	CanReply bool
	CanReact bool
}

// Cards is the only way to a post's content.
type Cards interface {
	// Cards answers about posts, in their order, with one statement, so that all answers are
	// of one moment. Doubles are allowed. The reader "" is a call without an agent.
	Cards(ctx context.Context, reader string, posts []Known) ([]Card, error)
}

// Tiles answers about posts what a grid shows of them.
type Tiles interface {
	// Tiles answers what [Cards.Cards] does with less: Content is the first [Image], or null,
	// of the author only the id is read, HasLiked and Public are false.
	Tiles(ctx context.Context, reader string, ids []string) ([]Card, error)
}

// Asked is one post, and the reader it is asked about for.
type Asked struct{ Reader, ID string }

// CardsOfMany answers about posts for many readers.
type CardsOfMany interface {
	// CardsOf answers what [Cards.Cards] does, of each post for its own reader.
	CardsOf(ctx context.Context, asked []Asked) ([]Card, error)
}

// Position is a post's place in a timeline. Timelines run from the greatest
// position down: by time, at equal times by the bytes of the id.
//
// As a bound, the zero Position stands for none: "below" it is everything.
type Position struct {
	At int64 // Unix seconds
	ID string
}

// Compare is negative where p is older than o, positive where it is newer.
func (p Position) Compare(o Position) int {
	return cmp.Or(cmp.Compare(p.At, o.At), strings.Compare(p.ID, o.ID))
}

// Zero reports whether the position bounds nothing.
func (p Position) Zero() bool { return p == Position{} }

// Below reports whether p is older than the bound.
func (p Position) Below(bound Position) bool { return bound.Zero() || p.Compare(bound) < 0 }

// Above reports whether p is newer than the floor of a list; zero: there is none.
func (p Position) Above(floor Position) bool { return floor.Zero() || p.Compare(floor) > 0 }

// Entry is a post as a list proposes it.
type Entry struct {
	Position
	Author string
}

// Standing is the state of a post that a list holds.
type Standing struct {
	Entry
	Found  bool // false: nothing is known of it, and Entry has only the id
	Listed bool // the list must hold it
	Reason Reason
}

// PullQuery asks for a reader's timeline from the store.
type PullQuery struct {
	Reader string
	Below  Position // zero: from the newest
	N      int
	// Whole adds what is not pushed into lists: the posts of celebrities and, for
	// who follows [Server], every public post.
	Whole bool
}

// RepliesQuery asks for the replies under a post.
type RepliesQuery struct {
	Reader, Post string
	After        Position // the last that is known; zero: from the first
	N            int
	Oldest       bool // the oldest first, else the newest
}

// Receiver is an agent into whose list a post belongs, and why.
type Receiver struct {
	Agent  string
	Reason Reason // self, follow, audience or mention
}

// Lists reads what lists and outboxes are made of. The answers are proposals,
// newest first where they are posts: who shows one asks [Cards].
type Lists interface {
	// Pull returns the newest n of a reader's timeline below a position: every post for which
	// [Decide] has a reason (Whole), or that is Listed. Fewer than n are the last.
	Pull(ctx context.Context, q PullQuery) ([]Entry, error)

	// Replies returns the next n replies that stand under a post, but of those whom the
	// reader blocks or is blocked by. Whether the reader sees the post it does not ask.
	Replies(ctx context.Context, q RepliesQuery) ([]Entry, error)

	// Newest returns the newest n posts of some authors below a position that
	// their followers may see.
	Newest(ctx context.Context, authors []string, below Position, n int) ([]Entry, error)

	// NewestPublic returns the newest n public posts of all authors: what followers
	// of [Server] get, but for blocks.
	NewestPublic(ctx context.Context, n int) ([]Entry, error)

	// Grid returns the newest n posts of one author below a position that the
	// reader may see, "" for a call without an agent. Replies to posts that are not
	// public are in their own author's only.
	Grid(ctx context.Context, reader, author string, below Position, n int) ([]Entry, error)

	// Receivers lists into whose lists a post belongs, or a deleted one belonged: by id as
	// bytes, after the one given, at most n, each with the first reason of self, follow,
	// audience, mention. followers says whether those who merely follow the author are among
	// them; those of an author who was erased are not: see [Leave].
	Receivers(ctx context.Context, post string, followers bool, after string, n int) ([]Receiver, error)

	// PairEntries returns the newest n posts of author above a position that
	// agent's list must hold.
	PairEntries(ctx context.Context, author, agent string, above Position, n int) ([]Entry, error)

	// MemberEntries returns the newest n posts above a position that are addressed
	// to the circle and that agent's list must hold.
	MemberEntries(ctx context.Context, circle, agent string, above Position, n int) ([]Entry, error)

	// Standings answers for ids, in order, whether they belong into agent's list.
	Standings(ctx context.Context, agent string, ids []string) ([]Standing, error)
}
