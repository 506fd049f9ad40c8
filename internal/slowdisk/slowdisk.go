// Package slowdisk remembers commits that took long. A disk that takes seconds to store a commit looks
// like a database that does not answer, although it answers reads.
package slowdisk

import (
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// slow is the least time of a commit that is remembered. A sync takes less than a tenth of it on
	// any disk that is not overloaded.
	slow = 500 * time.Millisecond
	// rememberedFor is how long it is remembered.
	rememberedFor = 2 * time.Minute
)

// Commits observes the commits of one database. The zero value is ready. It is safe for concurrent use.
type Commits struct {
	began atomic.Int64 // of a commit that runs, in nanoseconds since 1970; 0 means none
	last  atomic.Pointer[commit]
}

type commit struct {
	ended time.Time
	took  time.Duration
}

// Run runs a commit.
func (c *Commits) Run(do func() error) error {
	began := time.Now()
	c.began.Store(began.UnixNano())
	err := do()
	c.began.Store(0)
	took := time.Since(began)
	if took >= slow {
		c.last.Store(&commit{began.Add(took), took})
	}
	return err
}

// Slow returns how long a slow commit of the last two minutes took, or has taken so far; 0 if none was
// slow.
func (c *Commits) Slow() time.Duration {
	began := c.began.Load()
	running := time.Since(time.Unix(0, began))
	if began != 0 && running >= slow {
		return running
	}
	last := c.last.Load()
	if last == nil || time.Since(last.ended) > rememberedFor {
		return 0
	}
	return last.took
}

// Explain adds to an error of a call that waited too long that commits are slow, if they are. disk says
// whose disk that is.
func (c *Commits) Explain(err error, disk string) error {
	took := c.Slow()
	if err == nil || took == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", Text(disk, took), err)
}

// Text says that a disk is slow.
func Text(disk string, took time.Duration) string {
	return fmt.Sprintf("%s took %s to store a commit: it is slow or overloaded", disk, took.Round(100*time.Millisecond))
}
