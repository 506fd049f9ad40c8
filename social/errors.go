// Package social stores posts and decides who sees them: authors, follows, blocks, circles,
// likes. It holds the contract ([Store]) and the rules ([Decide]), and does no I/O.
//
// A post is written once, to the store, which decides about it. Lists of posts elsewhere only
// propose ids; code that shows one asks [Cards] first.
//
// # Jobs
//
// A store is also a [github.com/freshet/freshet/social/jobs.Queue]. Each change leaves jobs for
// what is derived from it, in the same transaction:
//
//	a post is created                      deliver <post>; index <post> if it is public
//	it is edited                           index <post> if it is public
//	it is deleted                          deliver <post>; index <post> if it is public; images <post> if it has some
//	files are reserved for a post          images <post>, after [ReservedFor], unless it is created
//	it is liked, or its counts are told    count <post>, after 30 s, not raised while it waits
//	a follow, a block and their opposites  pair <author>/<agent>, of a block both ways; none for [Server]
//	many follows are made at once          pair */<agent>, of each agent
//	a membership changes                   member <circle>/<agent>
//	followers cross a threshold            author <author>
//	an author or agent is erased           erase <agent>
//
// # Time of changes
//
// Changes come from this system and, as events, from others, late, twice and in any order. Each
// write therefore takes the time of the change. The zero time says that it is made here and now:
// then it holds against everything the store knows. Any other time is an event's own: an older
// change does not undo a newer one, at equal times removal wins, and a removal of what is unknown
// is kept. So the order of arrival makes no difference. Times are kept to the microsecond.
package social

import (
	"errors"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors that say the store could not be asked,
// or not be told, at all; nothing is half done, and asking again may help.
var ErrUnavailable = &feed.Outage{Text: "the social store is unavailable", Shown: "the social store is unavailable; try again later"}

// ErrDamaged is wrapped by errors that say what is stored cannot be read: the store
// answers, and asking again does not help.
var ErrDamaged = errors.New("what is stored is damaged")

// ErrTakesNoWrites is wrapped by the error of [Upkeep]'s Ping where the store can be read
// and not written.
var ErrTakesNoWrites = errors.New("it answers and takes no writes")
