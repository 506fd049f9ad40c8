package arrange

import (
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/freshet/freshet/feed"
)

const (
	// Unexplored is how many positions, the first of each page, are filled by score alone.
	Unexplored = 5
	// ExploreAge is the maximum age of a drawn item.
	ExploreAge = 3 * 24 * time.Hour
	// draws is how often an item is drawn for a position until one is young enough.
	draws = 8
)

// drawer draws the items for a share of a page's positions. They are young. One half is drawn from
// the candidates behind those that the page would show without exploration: by score they would
// come at the end of a session of hundreds, which few readers reach. The other half is drawn from
// the candidates beyond, which recall has not returned. See docs/decisions/variety.md.
//
// The agent, the origin and the candidates determine what is drawn.
type drawer struct {
	share  float64
	seed   uint64
	after  int64 // minimum update time of a drawn item
	random *rand.Rand
	left   int   // positions of the page left to draw for
	drawn  int   // items drawn for the page
	here   bool  // position chosen is drawn for
	chosen int   // the position of the page that here refers to; -1 for none
	placed []int // indices of drawn items in the list that pages are built from

	beyond int     // how many of the last candidates are only drawn
	pool   []int32 // those of them not drawn yet
}

// aim prepares the drawer for an agent's candidates.
func (d *drawer) aim(agent string, q *feed.Query, beyond int) {
	d.share, d.placed, d.beyond = q.Ranking.Explore.Share, d.placed[:0], beyond
	if !d.on() {
		return
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(agent))
	d.seed = h.Sum64()
	d.after = q.Origin.Add(-ExploreAge).Unix()
	d.random = rand.New(rand.NewPCG(d.seed, uint64(q.Origin.Unix())))
}

func (d *drawer) on() bool { return d.share > 0 }

// begin begins a page with size × share drawn positions, the fraction rounded up or down at
// random.
func (d *drawer) begin(size int) {
	d.chosen, d.drawn = -1, 0
	d.left = 0
	if d.on() && size > Unexplored {
		d.left = min(int(d.share*float64(size)+d.random.Float64()), size-Unexplored)
	}
}

// at reports whether to draw for a position, from 0. All after the first [Unexplored] are equally
// likely.
func (d *drawer) at(position, size int) bool {
	if position < Unexplored || d.left == 0 {
		return false
	}
	if d.chosen != position {
		d.chosen = position
		d.here = d.random.IntN(size-position) < d.left
	}
	return d.here
}

// place records that the item at index at of the list was drawn.
func (d *drawer) place(at int) {
	d.placed = append(d.placed, at)
	d.drawn++
	d.left--
}

// fill prepares the candidates that are only drawn, the last of n.
func (d *drawer) fill(n int) {
	d.pool = d.pool[:0]
	for c := n - d.beyond; c < n; c++ {
		d.pool = append(d.pool, int32(c))
	}
}

// drawBeyond draws a candidate beyond recall.
func (d *drawer) drawBeyond() (c int32, drawn bool) {
	if len(d.pool) == 0 {
		return 0, false
	}
	at, last := d.random.IntN(len(d.pool)), len(d.pool)-1
	c = d.pool[at]
	d.pool[at] = d.pool[last]
	d.pool = d.pool[:last]
	return c, true
}

// draw draws a candidate for the next position of the page. It returns false if the position is
// filled by score. Candidates that the page would show without any drawing are not drawn.
func (b *Builder) draw(size int) (c int32, drawn bool) {
	x := &b.drawer
	if !x.at(len(b.page), size) {
		return 0, false
	}
	if len(x.pool) > 0 && x.random.IntN(2) == 0 {
		return x.drawBeyond()
	}
	behind := size - len(b.page) + x.drawn
	for try := 0; try < draws && behind < len(b.rest); try++ {
		at := behind + x.random.IntN(len(b.rest)-behind)
		if b.from[b.rest[at]].UpdateTime >= x.after {
			return b.remove(at), true
		}
	}
	c, drawn = x.drawBeyond()
	if drawn {
		return c, true
	}
	x.left-- // no candidate was found for this position
	x.here = false
	return 0, false
}
