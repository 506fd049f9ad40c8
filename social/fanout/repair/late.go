// Package repair tracks whether the lists of timelines are complete: they lack posts that were
// accepted while they were unreachable, and posts that a Redis has lost. Until they are complete
// again, the social store answers instead.
package repair

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
	// CheckEvery is the pause between two calls of [Late.Check].
	CheckEvery = 250 * time.Millisecond
	// askEvery is the longest pause between two queries of the queue.
	askEvery = time.Second
	// behindAfter is the time that something may be missing in lists before they count as behind.
	behindAfter = 2 * time.Second
)

// Queue is the part of [jobs.Queue] that reports the ages of pending jobs.
type Queue interface {
	Ages(ctx context.Context) (jobs.Ages, error)
}

// Late tracks whether lists lack accepted posts: from the time they were unreachable until every
// job that was due by then is done.
type Late struct {
	queue   Queue
	clock   feed.Clock
	watched bool // it is checked whether lists have the same data when they come back

	mu      sync.Mutex
	since   time.Time // when lists were last unreachable; zero means nothing is late
	doubt   int       // how many times they were unreachable
	trusted int       // the value of doubt when they were last found to have the same data
	held    bool      // they have other data, and are being repaired
	redo    bool      // the redelivery of what they lack is not finished
	checks  int       // since the last query of the queue
	behind  bool      // at that query jobs were long overdue, or no query was made yet
}

// NewLate returns a Late that tracks the jobs of a queue. Initially lists are not late, and are
// behind until the first check.
func NewLate(queue Queue, clock feed.Clock) *Late {
	return &Late{queue: queue, clock: clock, behind: true, checks: int(askEvery / CheckEvery)}
}

// Note records that lists are unreachable, or were until now.
func (l *Late) Note() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since = l.clock()
	l.doubt++
}

// doubts returns the argument for trust after a check of the lists that begins now.
func (l *Late) doubts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doubt
}

// hold marks the lists as having other data than before, until trust.
func (l *Late) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = true
}

// markRedelivery marks the lists as late while what they lack is delivered again.
func (l *Late) markRedelivery() {
	l.Note()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.redo = true
}

// Older reports whether Redis has other data than before, which may contain deleted posts.
func (l *Late) Older() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held || l.redo
}

// trust marks the lists as having the same data as before, or as repaired, unless they were
// unreachable again since the check began with these doubts.
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

// Behind reports whether lists lack something that was accepted some seconds ago: the workers of
// the queue are overloaded, or there are none.
func (l *Late) Behind() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.behind
}

// Check queries the queue for whether the jobs that were due at the last outage are done, and how
// late the queue is.
func (l *Late) Check(ctx context.Context) {
	before := l.clock() // read before the query: a job must not seem younger than it is
	l.mu.Lock()
	since := l.since
	if l.checks++; since.IsZero() && l.checks < int(askEvery/CheckEvery) { // counted, because clocks may be adjusted
		l.mu.Unlock()
		return
	}
	l.checks = 0
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

// KeptCards returns cached cards that are used only while Redis has the same data as before: older
// data contains cards of posts that were deleted since.
func KeptCards(cards social.CachedCards, late *Late) social.CachedCards { return current{cards, late} }

type current struct {
	social.CachedCards
	late *Late
}

// Cached implements [social.CachedCards].
func (c current) Cached(ctx context.Context, ids []string) ([]social.Card, error) {
	if c.late.Older() {
		return nil, fmt.Errorf("%w: Redis has older data than before", social.ErrCacheUnavailable)
	}
	return c.CachedCards.Cached(ctx, ids)
}

// Reader returns lists that report to late when they are unreachable.
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
