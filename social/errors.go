// Package social stores posts and decides who sees them: authors, follows, blocks, circles,
// likes. It holds the contract ([Store]) and the rules ([Decide]), and does no I/O.
//
// A post is written once, to the store, which decides who sees it. Lists of posts elsewhere only
// propose ids; code that shows a post must query [Cards] first.
//
// # Jobs
//
// A store is also a [github.com/freshet/freshet/social/jobs.Queue]. Each change enqueues, in the
// same transaction, the jobs that update derived data:
//
//	a post is created                      deliver <post>; index <post> if it is public
//	it is edited                           index <post> if it is public
//	it is deleted                          deliver <post>; index <post> if it is public; images <post> if it has any
//	files are reserved for a post          images <post>, after [ReservedFor], unless it is created
//	a file is reserved for an avatar       the same for the avatar ([AvatarOwner])
//	an avatar is replaced or removed       images <avatar>
//	it is liked, or counts are reported    count <post>, after 30 s, not changed while it waits
//	a follow or a block begins or ends     pair <author>/<agent>, for a block both ways; none for [Server]
//	many follows are made at once          pair */<agent>, for each agent
//	a membership changes                   member <circle>/<agent>
//	a post is removed from a group         member <circle>/<agent> for its members; if no audience is
//	                                       left, pair <author>/<agent> for those whom it mentions
//	a reply is removed from everywhere     count <root post>
//	followers cross a threshold            author <author>
//	an author or agent is erased           erase <agent>
//
// # Time of changes
//
// Changes come from this system and, as events, from others. Events may be late, repeated and in
// any order, so each write takes the time of the change. The zero time means here and now; such a
// change supersedes everything in the store. Any other time is an event's: an older change does not
// undo a newer one, at equal times removal wins, and the removal of something unknown is stored. So
// the order of arrival makes no difference. Times are stored to the microsecond.
package social

import (
	"errors"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors of reads and writes that could not reach the store; no write
// is half done, and a retry may help.
var ErrUnavailable = &feed.Outage{Text: "the social store is unavailable", Shown: "the social store is unavailable; try again later"}

// ErrDamaged is wrapped by errors that mean that stored data cannot be read: the store answers, and
// a retry does not help.
var ErrDamaged = errors.New("stored data is damaged")

// ErrTakesNoWrites is wrapped by the error of [Upkeep]'s Ping if the store can be read but not
// written.
var ErrTakesNoWrites = errors.New("reachable, but writes are refused")
