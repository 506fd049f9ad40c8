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
	// CheckEvery is the pause between two calls of [Completeness.Check].
	CheckEvery = 250 * time.Millisecond
	// askEvery is the longest pause between two queries of the queue.
	askEvery = time.Second
	// queueBehindAfter is the time that something may be missing in lists before they count as behind.
	queueBehindAfter = 2 * time.Second
)

// Queue is the part of [jobs.Queue] that reports the ages of pending jobs.
type Queue interface {
	Ages(ctx context.Context) (jobs.Ages, error)
}

// Completeness tracks whether lists lack accepted posts: from the time they were unreachable until every
// job that was due by then is done.
type Completeness struct {
	queue      Queue
	clock      feed.Clock
	checksData bool // it is checked whether lists have the same data when they come back

	mu               sync.Mutex
	unreachableAt    time.Time // when lists were last unreachable; zero means lists are complete
	outages          int       // how many times they were unreachable
	confirmedOutages int       // the value of outages when they were last found to have the same data
	replaced         bool      // they have other data, and are being repaired
	redelivering     bool      // the redelivery of what they lack is not finished
	checks           int       // since the last query of the queue
	queueBehind      bool      // at that query jobs were long overdue, or no query was made yet
}

// NewCompleteness returns a Completeness that tracks the jobs of a queue. Initially lists are complete,
// and the queue is behind until the first check.
func NewCompleteness(queue Queue, clock feed.Clock) *Completeness {
	return &Completeness{queue: queue, clock: clock, queueBehind: true, checks: int(askEvery / CheckEvery)}
}

// Unreachable records that lists are unreachable, or were until now.
func (c *Completeness) Unreachable() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unreachableAt = c.clock()
	c.outages++
}

// outageCount returns the argument for confirmData after a check of the lists that begins now.
func (c *Completeness) outageCount() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outages
}

// markReplaced marks the lists as having other data than before, until confirmData.
func (c *Completeness) markReplaced() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replaced = true
}

// markRedelivery marks the lists as incomplete while what they lack is delivered again.
func (c *Completeness) markRedelivery() {
	c.Unreachable()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.redelivering = true
}

// HasOldData reports whether Redis has other data than before, which may contain deleted posts.
func (c *Completeness) HasOldData() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replaced || c.redelivering
}

// confirmData marks the lists as having the same data as before, or as repaired, unless they were
// unreachable again since the check that began after that many outages.
func (c *Completeness) confirmData(outages int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outages == outages {
		c.confirmedOutages, c.replaced = outages, false
	}
}

// Incomplete reports whether lists may lack posts.
func (c *Completeness) Incomplete() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replaced || !c.unreachableAt.IsZero()
}

// QueueBehind reports whether lists lack something that was accepted some seconds ago: the workers of
// the queue are overloaded, or there are none.
func (c *Completeness) QueueBehind() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queueBehind
}

// Check queries the queue for whether the jobs that were due at the last outage are done, and how
// late the queue is.
func (c *Completeness) Check(ctx context.Context) {
	before := c.clock() // read before the query: a job must not seem younger than it is
	c.mu.Lock()
	since := c.unreachableAt
	c.checks++
	if since.IsZero() && c.checks < int(askEvery/CheckEvery) { // counted, because clocks may be adjusted
		c.mu.Unlock()
		return
	}
	c.checks = 0
	c.mu.Unlock()
	ages, err := c.queue.Ages(ctx)
	if err == nil {
		c.mu.Lock()
		c.queueBehind = ages.OldestMissing > queueBehindAfter
		c.mu.Unlock()
	}
	isWaiting := ages.OldestOfLists > 0 && !before.Add(-ages.OldestOfLists).After(since) // a job from then
	if err != nil || since.IsZero() || isWaiting {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unreachableAt.Equal(since) && (!c.checksData || c.confirmedOutages == c.outages) {
		c.unreachableAt, c.redelivering = time.Time{}, false
	}
}

// CachedCards returns cached cards that are used only while Redis has the same data as before: older
// data contains cards of posts that were deleted since.
func CachedCards(cards social.CachedCards, c *Completeness) social.CachedCards {
	return cachedCards{cards, c}
}

type cachedCards struct {
	social.CachedCards
	completeness *Completeness
}

// Cached implements [social.CachedCards].
func (c cachedCards) Cached(ctx context.Context, ids []string) ([]social.Card, error) {
	if c.completeness.HasOldData() {
		return nil, fmt.Errorf("%w: Redis has older data than before", social.ErrCacheUnavailable)
	}
	return c.CachedCards.Cached(ctx, ids)
}

// Reader returns lists that report to c when they are unreachable.
func Reader(lists timeline.Reader, c *Completeness) timeline.Reader { return reportingReader{lists, c} }

type reportingReader struct {
	timeline.Reader
	completeness *Completeness
}

// Read implements [timeline.Reader].
func (n reportingReader) Read(ctx context.Context, list string, below timeline.Position, limit int) (timeline.Page, error) {
	page, err := n.Reader.Read(ctx, list, below, limit)
	if errors.Is(err, timeline.ErrUnavailable) {
		n.completeness.Unreachable()
	}
	return page, err
}
