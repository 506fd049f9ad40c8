package memory

import (
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/social/timeline"
)

// Approximate sizes on the heap, in bytes.
const (
	listSize  = 400 // a list without entries: its struct, its entry in the LRU cache, its token
	entrySize = 24  // an entry without the bytes of its id
	goneSize  = 64  // an id that was removed during a build
)

// entries holds the entries of one list. It implements the rules of the contract except those
// about time.
type entries struct {
	state   timeline.State
	cleared bool                // the token of the build was cleared
	oldest  []timeline.Position // the entries, oldest first: most new ones are appended
	gone    map[string]struct{} // ids removed while the list is built
	floor   timeline.Position
	ids     int // total length of the ids in bytes
}

// put adds the entries above the floor that are not in without. It retains the ids, so they must
// not be substrings of larger strings. It adds from the end because content is sorted newest first,
// so that each entry is appended.
func (e *entries) put(add []timeline.Position, without map[string]struct{}) {
	for _, p := range slices.Backward(add) {
		if _, ok := without[p.ID]; ok || !p.Above(e.floor) {
			continue
		}
		at, found := slices.BinarySearchFunc(e.oldest, p, timeline.Position.Compare)
		if !found {
			e.oldest = slices.Insert(e.oldest, at, p)
			e.ids += len(p.ID)
		}
	}
}

// remove removes ids, and excludes them from the content that a running build commits.
func (e *entries) remove(ids []string) {
	for _, id := range ids {
		at := slices.IndexFunc(e.oldest, func(p timeline.Position) bool { return p.ID == id })
		if at >= 0 {
			e.cut(at, at+1)
		}
		if e.state == timeline.Building && !e.cleared {
			if e.gone == nil {
				e.gone = make(map[string]struct{})
			}
			e.gone[strings.Clone(id)] = struct{}{}
		}
	}
}

func (e *entries) cut(from, to int) {
	for _, p := range e.oldest[from:to] {
		e.ids -= len(p.ID)
	}
	e.oldest = slices.Delete(e.oldest, from, to)
}

// raise raises the floor and removes the entries at or below it.
func (e *entries) raise(floor timeline.Position) {
	if floor.Zero() || !floor.Above(e.floor) {
		return
	}
	e.floor = floor
	past, found := slices.BinarySearchFunc(e.oldest, floor, timeline.Position.Compare)
	if found {
		past++
	}
	e.cut(0, past)
}

// trim removes the entries above the cap and 1/[timeline.TrimMore] of it, and raises the floor to
// the newest of them.
func (e *entries) trim(most int) {
	extra := len(e.oldest) - most
	if extra > 0 {
		e.raise(e.oldest[extra+most/timeline.TrimMore-1])
	}
}

// page returns the newest n entries below a position.
func (e *entries) page(below timeline.Position, n int) timeline.Page {
	page := timeline.Page{State: e.state}
	if e.state != timeline.Ready {
		return page
	}
	end := len(e.oldest)
	if !below.Zero() {
		end, _ = slices.BinarySearchFunc(e.oldest, below, timeline.Position.Compare)
	}
	from := max(0, end-max(n, 0))
	page.Entries = slices.Clone(e.oldest[from:end])
	slices.Reverse(page.Entries)
	page.More, page.Floor = from > 0, e.floor
	return page
}

// bytes returns the approximate size of the list on the heap.
func (l *oneList) bytes() int64 {
	return int64(listSize + len(l.name) + len(l.floor.ID) + l.ids + entrySize*cap(l.oldest) + goneSize*len(l.gone))
}

// oneList is a list with its name, token, version and times.
type oneList struct {
	entries
	name    string
	token   string
	version string
	started time.Time
	ends    time.Time
	counted int64 // its share of Lists.bytes
}
