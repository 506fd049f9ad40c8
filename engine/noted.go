package engine

import (
	"sync"
	"time"
)

const (
	// notedFor is how long a generation of noted posts is added to, and then how long it is retained:
	// so long may a loss of the stores' data go unnoticed that no failover caused.
	notedFor = 5 * time.Minute
	// notedBytes bounds the memory of noted posts.
	notedBytes = 32 << 20
)

// noted remembers which posts this process has noted as shown in the stores today, by agent: noting
// them again, as each time that a timeline is read, would change nothing. A day is one of the filters,
// in UTC. The nil noted remembers nothing.
type noted struct {
	mu    sync.Mutex
	day   int64
	since uint64 // counts what was forgotten
	posts *served
}

func newNoted() *noted { return &noted{posts: newServed(notedFor, notedBytes)} }

// unknown returns the posts that are not noted, and what add needs to know.
func (n *noted) unknown(agent string, posts []string, now time.Time) (left []string, since uint64) {
	if n == nil {
		return posts, 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	day := now.UTC().Unix() / int64(24*time.Hour/time.Second)
	if day != n.day {
		n.day = day
		n.forget()
	}
	left = posts
	n.posts.with(agent, now, func(a *shown) {
		left = nil
		for _, post := range posts {
			if !n.posts.has(a, post, true) {
				left = append(left, post)
			}
		}
	})
	return left, n.since
}

// add records posts that are noted, unless something was forgotten since unknown.
func (n *noted) add(agent string, posts []string, since uint64, now time.Time) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.since == since {
		n.posts.add(agent, posts, false, now)
	}
}

// forgetAll makes every post unknown again.
func (n *noted) forgetAll() {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget()
}

// forget is forgetAll; mu is held.
func (n *noted) forget() {
	n.since++
	n.posts = newServed(notedFor, notedBytes)
}

// forgetAgent makes the posts of one agent unknown again.
func (n *noted) forgetAgent(agent string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.since++
	n.posts.drop(agent)
}
