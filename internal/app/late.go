package app

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

// lateEvery is the pause between two looks at whether lists have caught up.
const lateEvery = 250 * time.Millisecond

// late knows whether lists lack what was accepted: since they could not be
// reached, until every job that was due by then is done. Meanwhile the social
// store answers instead of the lists.
type late struct {
	queue   jobs.Queue
	clock   feed.Clock
	watched bool // somebody looks whether lists that come back are those of before

	mu      sync.Mutex
	since   time.Time // when lists could not be reached last; zero: nothing is late
	doubt   int       // how often they could not
	trusted int       // how often by the time they were found to be those of before
	held    bool      // they are not, and are being made right
	redo    bool      // what they lack is delivered again, which is not done
}

// note says that lists cannot be reached, or could not until now.
func (l *late) note() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since = l.clock()
	l.doubt++
}

// doubts returns the number to pass to trust after a look at the lists that begins now.
func (l *late) doubts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doubt
}

// hold says that the lists are others than before, until trust.
func (l *late) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = true
}

// again says that what lists lack is delivered again.
func (l *late) again() {
	l.note()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.redo = true
}

// older reports whether Redis has other data than before, in which deleted posts may
// be there again.
func (l *late) older() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held || l.redo
}

// trust says that the lists are those of before, or right again, since a look that
// began with these doubts.
func (l *late) trust(doubts int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.doubt == doubts {
		l.trusted, l.held = doubts, false
	}
}

// now reports whether lists are late.
func (l *late) now() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held || !l.since.IsZero()
}

// look asks the queue whether what was due then is done.
func (l *late) look(ctx context.Context) {
	l.mu.Lock()
	since := l.since
	l.mu.Unlock()
	if since.IsZero() {
		return
	}
	before := l.clock() // of two moments the earlier: a job must not seem younger than it is
	stats, err := l.queue.Stats(ctx)
	if err != nil || stats.OldestOfLists > 0 && !before.Add(-stats.OldestOfLists).After(since) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.Equal(since) && (!l.watched || l.trusted == l.doubt) {
		l.since, l.redo = time.Time{}, false
	}
}

// current are kept cards that are answered only while Redis has the data of before: in
// an older snapshot there are cards of posts that were deleted since.
type current struct {
	social.KeptCards
	late *late
}

// Kept implements [social.KeptCards].
func (c current) Kept(ctx context.Context, ids []string) ([]social.Card, error) {
	if c.late.older() {
		return nil, fmt.Errorf("%w: Redis has older data than before", social.ErrCacheUnavailable)
	}
	return c.KeptCards.Kept(ctx, ids)
}

// noticing are lists that tell late when they cannot be reached.
type noticing struct {
	timeline.Reader
	late *late
}

// Read implements [timeline.Reader].
func (n noticing) Read(ctx context.Context, list string, below timeline.Position, limit int) (timeline.Page, error) {
	page, err := n.Reader.Read(ctx, list, below, limit)
	if errors.Is(err, timeline.ErrUnavailable) {
		n.late.note()
	}
	return page, err
}
