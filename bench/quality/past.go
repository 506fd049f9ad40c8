package quality

import (
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// lately is the period of the baseline "most popular".
const lately = 24 * time.Hour

// past holds the posts and reads up to a moment, for the baselines.
type past struct {
	data       *Data
	window     int64           // maximum age of a candidate, in seconds
	read       map[pair]bool   // reader and group
	reads      []readAt        // of the last day, oldest first
	readLately []int           // number of those by item
	known      map[string]bool // scratch space of moment
}

// pair is a reader and a group of items.
type pair struct{ reader, group string }

type readAt struct {
	at   int64
	item int
}

func newPast(d *Data, window time.Duration) *past {
	return &past{
		data: d, window: int64(window.Seconds()), read: map[pair]bool{},
		readLately: make([]int, len(d.items)), known: map[string]bool{},
	}
}

// isFirst reports whether the act is the first of its reader on the item's group.
func (p *past) isFirst(e *event) bool { return !p.read[p.of(e)] }

func (p *past) of(e *event) pair { return pair{e.reader, p.data.items[e.item].Group()} }

// add records an act.
func (p *past) add(e *event) {
	if !p.isFirst(e) {
		return
	}
	p.read[p.of(e)] = true
	if e.reads() {
		p.reads = append(p.reads, readAt{e.at, e.item})
		p.readLately[e.item]++
	}
}

// moment returns the items that a reader could be shown: dated before at, within the window, and
// of groups that the reader has not acted on; of each group only the newest.
func (p *past) moment(reader string, at int64) *moment {
	for len(p.reads) > 0 && p.reads[0].at < at-int64(lately.Seconds()) {
		p.readLately[p.reads[0].item]--
		p.reads = p.reads[1:]
	}
	m := &moment{at: at, reader: reader, readLately: p.readLately}
	clear(p.known)
	for i := p.firstAt(at) - 1; i >= 0 && p.data.items[i].UpdateTime >= at-p.window; i-- {
		group := p.data.items[i].Group()
		if !p.known[group] && !p.read[pair{reader, group}] {
			p.known[group] = true
			m.candidates = append(m.candidates, i)
		}
	}
	return m
}

// firstAt returns the index of the first item dated at or after at.
func (p *past) firstAt(at int64) int {
	i, _ := slices.BinarySearchFunc(p.data.items, at, func(it feed.Item, at int64) int {
		if it.UpdateTime < at {
			return -1
		}
		return 1
	})
	return i
}
