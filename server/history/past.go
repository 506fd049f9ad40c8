// Package history replays what the readers of a community have read, and tells for a moment of it
// what a reader could be shown ([Past]), and what the score of each of these items was made of then
// ([Replay]). So rankings can be compared by what was read next, without knowing it.
package history

import (
	"math"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// Past knows the items of a community, and what each reader has acted on up to a moment. Items are
// identified by their index.
type Past struct {
	items  []feed.Item
	window int64 // maximum age of a candidate, in seconds
	acted  map[pair]struct{}
	known  map[string]bool // scratch space of Candidates
}

// pair is a reader and a group of items.
type pair struct{ reader, group string }

// NewPast returns a past without acts. The items must be sorted by update time; window is the maximum
// age of a candidate.
func NewPast(items []feed.Item, window time.Duration) *Past {
	return &Past{items: items, window: int64(window.Seconds()), acted: map[pair]struct{}{}, known: map[string]bool{}}
}

// IsFirst reports whether a reader has not acted on the group of an item before.
func (p *Past) IsFirst(reader string, item int) bool {
	_, acted := p.acted[pair{reader, p.items[item].Group()}]
	return !acted
}

// Add records that a reader has acted on an item.
func (p *Past) Add(reader string, item int) {
	p.acted[pair{reader, p.items[item].Group()}] = struct{}{}
}

// FirstAt returns the index of the first item dated at or after a moment, in Unix seconds.
func (p *Past) FirstAt(at int64) int {
	i, _ := slices.BinarySearchFunc(p.items, at, func(it feed.Item, at int64) int {
		if it.UpdateTime < at {
			return -1
		}
		return 1
	})
	return i
}

// Candidates appends the items that a reader could be shown at a moment, newest first: dated before
// it, within the window, and of groups that the reader has not acted on; of each group only the newest.
func (p *Past) Candidates(reader string, at int64, into []int) []int {
	clear(p.known)
	for i := p.FirstAt(at) - 1; i >= 0 && p.items[i].UpdateTime >= at-p.window; i-- {
		group := p.items[i].Group()
		if !p.known[group] && p.IsFirst(reader, i) {
			p.known[group] = true
			into = append(into, i)
		}
	}
	return into
}

// Readers counts the readers of an item; with a half-life, each of them counts half after it. The zero
// value counts nothing.
type Readers struct {
	Count int
	Last  int64 // Unix seconds of the last one
	sums  []float64
}

// Add counts a reader at a moment in Unix seconds, for half-lives that are the same in each call.
func (r *Readers) Add(at int64, halfLives []time.Duration) {
	if r.sums == nil {
		r.sums = make([]float64, len(halfLives))
	}
	for i, halfLife := range halfLives {
		r.sums[i] = r.Decayed(i, at, halfLife) + 1
	}
	r.Count++
	r.Last = at
}

// Decayed returns the count with the i-th half-life at a moment that is not before the last reader.
func (r *Readers) Decayed(i int, at int64, halfLife time.Duration) float64 {
	if r.sums == nil {
		return 0
	}
	return r.sums[i] * math.Exp2(-float64(at-r.Last)/halfLife.Seconds())
}
