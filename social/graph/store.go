package graph

import (
	"context"
	"time"

	"github.com/freshet/freshet/social"
)

// Store receives the events: the writes of [social.Store], whose contracts hold. Every call has an event's own time, so the order of the calls
// makes no difference.
type Store interface {
	// CreatePost stores a post under its own id; ErrNotFound: a newer deletion is known.
	CreatePost(ctx context.Context, p social.Post, c social.Creation) (post social.Post, created bool, err error)
	// EditPost changes a post's content, or keeps the edit until it is created.
	EditPost(ctx context.Context, id, by string, e social.Edit, at time.Time) (social.Post, error)
	// DeletePost makes a post, known or not, a tombstone.
	DeletePost(ctx context.Context, id, by string, at time.Time) error
	// SetCounts stores absolute counts of a post, known or not.
	SetCounts(ctx context.Context, id string, c social.Counts, at time.Time) error
	// PutAuthor stores a card.
	PutAuthor(ctx context.Context, a social.Author, at time.Time) error
	// Follow makes agent follow author, Unfollow ends it; changed: anything changed.
	Follow(ctx context.Context, agent, author string, at time.Time) (changed bool, err error)
	Unfollow(ctx context.Context, agent, author string, at time.Time) (changed bool, err error)
	// FollowAll makes many follows of one time in one transaction, at most
	// [social.MaxEdges]; those rejected do not keep the others from being made.
	FollowAll(ctx context.Context, edges []social.Edge, at time.Time) (changed int, rejected []social.Rejected, err error)
	// PutCircle makes or renames a circle and replaces its members, if not nil;
	// DropCircle removes it.
	PutCircle(ctx context.Context, c social.Circle, members []string, at time.Time) error
	DropCircle(ctx context.Context, id, by string, at time.Time) error
	// AddMember and RemoveMember change one membership, of a circle known or not.
	AddMember(ctx context.Context, circle, agent, by string, at time.Time) (changed bool, err error)
	RemoveMember(ctx context.Context, circle, agent, by string, at time.Time) (changed bool, err error)
}
