// Package lists knows whether the lists of timelines have what they should: they lack what was
// accepted while they could not be reached, and what a Redis has lost. Meanwhile the social store
// answers instead of them.
package lists

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

const (
	// LookEvery is the pause between two calls of [Late.Look].
	LookEvery = 250 * time.Millisecond
	// askEvery is how often the queue is asked at least.
	askEvery = time.Second
	// behindAfter is how long something may be missing in lists before they say so.
	behindAfter = 2 * time.Second
)

// Queue is the part of [jobs.Queue] that tells what is to be done yet.
type Queue interface {
	Ages(ctx context.Context) (jobs.Ages, error)
}

// Late knows whether lists lack what was accepted: since they could not be reached, until every
// job that was due by then is done.
type Late struct {
	queue   Queue
	clock   feed.Clock
	watched bool // somebody looks whether lists that come back are those of before

	mu      sync.Mutex
	since   time.Time // when lists could not be reached last; zero: nothing is late
	doubt   int       // how often they could not
	trusted int       // how often by the time they were found to be those of before
	held    bool      // they are not, and are being made right
	redo    bool      // what they lack is delivered again, which is not done
	looks   int       // since the queue was asked last
	behind  bool      // what it had to do then was due long before, or nobody has asked yet
}

// NewLate returns lists that are not late, of what the queue has to do. They are behind until
// the first look.
func NewLate(queue Queue, clock feed.Clock) *Late {
	return &Late{queue: queue, clock: clock, behind: true, looks: int(askEvery / LookEvery)}
}

// Note says that lists cannot be reached, or could not until now.
func (l *Late) Note() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since = l.clock()
	l.doubt++
}

// doubts returns the number to pass to trust after a look at the lists that begins now.
func (l *Late) doubts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doubt
}

// hold says that the lists are others than before, until trust.
func (l *Late) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = true
}

// again says that what lists lack is delivered again.
func (l *Late) again() {
	l.Note()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.redo = true
}

// Older reports whether Redis has other data than before, in which deleted posts may
// be there again.
func (l *Late) Older() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held || l.redo
}

// trust says that the lists are those of before, or right again, since a look that
// began with these doubts.
func (l *Late) trust(doubts int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.doubt == doubts {
		l.trusted, l.held = doubts, false
	}
}

// Now reports whether lists are late.
func (l *Late) Now() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held || !l.since.IsZero()
}

// Behind reports whether lists lack something that was accepted some seconds ago: whoever
// works on the queue has more to do than time, or nobody works on it.
func (l *Late) Behind() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.behind
}

// Look asks the queue whether what was due then is done, and how late it is.
func (l *Late) Look(ctx context.Context) {
	before := l.clock() // of two moments the earlier: a job must not seem younger than it is
	l.mu.Lock()
	since := l.since
	if l.looks++; since.IsZero() && l.looks < int(askEvery/LookEvery) { // counted, because clocks are set
		l.mu.Unlock()
		return
	}
	l.looks = 0
	l.mu.Unlock()
	ages, err := l.queue.Ages(ctx)
	if err == nil {
		l.mu.Lock()
		l.behind = ages.OldestMissing > behindAfter
		l.mu.Unlock()
	}
	if err != nil || since.IsZero() || ages.OldestOfLists > 0 && !before.Add(-ages.OldestOfLists).After(since) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.Equal(since) && (!l.watched || l.trusted == l.doubt) {
		l.since, l.redo = time.Time{}, false
	}
}

// KeptCards returns kept cards that are answered only while Redis has the data of before: older
// data has cards of posts that were deleted since.
func KeptCards(cards social.KeptCards, late *Late) social.KeptCards { return current{cards, late} }

type current struct {
	social.KeptCards
	late *Late
}

// Kept implements [social.KeptCards].
func (c current) Kept(ctx context.Context, ids []string) ([]social.Card, error) {
	if c.late.Older() {
		return nil, fmt.Errorf("%w: Redis has older data than before", social.ErrCacheUnavailable)
	}
	return c.KeptCards.Kept(ctx, ids)
}

// Reader returns lists that tell late when they cannot be reached.
func Reader(lists timeline.Reader, late *Late) timeline.Reader { return noticing{lists, late} }

type noticing struct {
	timeline.Reader
	late *Late
}

// Read implements [timeline.Reader].
func (n noticing) Read(ctx context.Context, list string, below timeline.Position, limit int) (timeline.Page, error) {
	page, err := n.Reader.Read(ctx, list, below, limit)
	if errors.Is(err, timeline.ErrUnavailable) {
		n.late.Note()
	}
	return page, err
}
