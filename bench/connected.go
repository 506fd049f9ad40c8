package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freshet/freshet/social/jobs"
)

// The load of connected readers and authors, per second: 10,000 readers who call every 20 seconds,
// 1,000 authors who post every 10 seconds, some unfollows, and 100 deletes within the last second of
// a step. The steps make that much of it, in percent, over all connections.
const (
	connectedReaders   = 10_000
	connectedAuthors   = 1000
	connectedPages     = 500
	connectedPosts     = 100
	connectedUnfollows = 10
	connectedDeletes   = 100
	connectedWorkers   = 256
)

var connectedSteps = []int{25, 50, 75, 100, 150, 200, 300, 400, 600}

// target is a time that a kind of request must keep.
type target struct {
	kind string
	q    float64 // quantile, in percent
	most time.Duration
}

// targets are those of the analysis of costs in the design of timelines.
var targets = []target{
	{"page", 50, 10 * time.Millisecond},
	{"page", 99, 50 * time.Millisecond},
	{"publish", 50, 5 * time.Millisecond},
	{"publish", 99, 20 * time.Millisecond},
	{deletedEverywhere, 50, 100 * time.Millisecond},
	{deletedEverywhere, 99, 500 * time.Millisecond},
	{"unfollow", 50, 50 * time.Millisecond},
	{"unfollow", 99, 200 * time.Millisecond},
}

// deletedEverywhere is the time from a delete until the post is in no list, by the queue's record.
const deletedEverywhere = "deleted everywhere"

// connectedServices holds the connections of readers and authors open, multiplies their load step
// by step until the server cannot keep up, and says at which step each target is missed first.
func (b *bench) connectedServices(ctx context.Context) (results []Result, err error) {
	readers, authors, steps, length := connectedReaders, connectedAuthors, connectedSteps, 4*b.o.Duration
	if b.o.Short {
		readers, authors, steps, length = 200, 20, []int{10}, time.Second
	}
	readers = min(readers, (openFiles()-otherFiles)/2-authors)
	s, err := b.serveCrowd(ctx, readers, authors)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	c := &crowd{b: b, s: s, readers: readers, authors: authors, workers: connectedWorkers, lines: map[string]*line{}}
	defer c.hangUp()
	for _, agents := range [][]string{names(readers, crowdReader), names(authors, crowdAuthor)} {
		for _, agent := range agents {
			c.lines[agent] = &line{}
		}
	}
	missed := Result{What: "load at which a target is missed first, of the posts and pages together; targets not named are kept"}
	for _, percent := range steps {
		r, kept, err := c.connectedStep(ctx, percent, length)
		if err != nil {
			return results, err
		}
		results = append(results, r)
		missed.addMissed(r, float64(percent*(connectedPages+connectedPosts)/100))
		if !kept {
			break
		}
	}
	if b.o.Short {
		return results, nil // it is no load
	}
	return append(results, missed), nil
}

// connectedStep sustains a share of the load for a while.
func (c *crowd) connectedStep(ctx context.Context, percent int, length time.Duration) (Result, bool, error) {
	pages, posts := connectedPages*percent/100, connectedPosts*percent/100
	unfollows, deletes := max(1, connectedUnfollows*percent/100), connectedDeletes*percent/100
	what := fmt.Sprintf("each connected, %d pages, %d posts and %d unfollows a second, %d deletes within the last second", pages, posts, unfollows, deletes)
	r, kept, err := c.step(ctx, what, length,
		demand{"page", pages, 0}, demand{"publish", posts, 0}, demand{"unfollow", unfollows, 0}, demand{"delete", deletes, length - time.Second})
	if err != nil {
		return r, false, err
	}
	t := turn{times: newTimes()}
	for _, id := range c.deleted {
		list, err := c.s.Social.List(ctx, jobs.Filter{Kind: jobs.Deliver, Key: id})
		if err != nil {
			return r, false, err
		}
		if len(list) != 1 || list[0].State != jobs.Completed {
			return r, false, fmt.Errorf("the queue is empty, but has no completed job of the deleted post %s", id)
		}
		if err := t.times.RecordValue(int64(list[0].FinishedAt.Sub(list[0].Due))); err != nil {
			return r, false, err
		}
	}
	n := t.times.TotalCount()
	if n > 0 {
		r.Cases = append(r.Cases, total{name: deletedEverywhere, turn: t, rates: []float64{float64(n)}}.measured())
	}
	return r, kept, nil
}

// addMissed adds the targets that a step misses first.
func (r *Result) addMissed(step Result, rate float64) {
	for _, t := range targets {
		name := fmt.Sprintf("%s, p%.0f ≤ %d ms", t.kind, t.q, t.most.Milliseconds())
		_, before := r.figure(name)
		if before {
			continue
		}
		for _, c := range step.Cases {
			us := c.Latency.P99
			if t.q == 50 {
				us = c.Latency.P50
			}
			if c.Name == t.kind && us > float64(t.most.Microseconds()) {
				r.Figures = append(r.Figures, Value{name, rate, "calls/s"})
			}
		}
	}
}

// hangUp closes the connections.
func (c *crowd) hangUp() {
	for _, l := range c.lines {
		l.close()
	}
}
