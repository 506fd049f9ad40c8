package engine

import (
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/freshet/freshet/feed"
)

const (
	// unexplored is how many positions of each page go by score alone.
	unexplored = 5
	// exploreAge is how old an item may be to be drawn.
	exploreAge = 3 * 24 * time.Hour
	// draws is how often a position is drawn for, where what was drawn is too old.
	draws = 8
)

// drawer draws the items that a share of a page's positions goes to. They are
// candidates of the same recall, so they pass the same filters, mutes and languages as
// all others, and are young. Where they stand, by score, is behind what the page would
// show without it: among hundreds they would have had their turn at the end of a session
// that few page through. See docs/decisions/variety.md.
//
// What it draws follows from the agent, the origin and the candidates.
type drawer struct {
	share  float64
	seed   uint64
	after  int64 // update time from which on an item is young enough
	random *rand.Rand
	left   int   // positions of the page still to be drawn for
	drawn  int   // items of the page
	here   bool  // the next position is
	chosen int   // position of the page that here is about; -1: none
	placed []int // what was drawn, in the list that pages are built from
}

// aim prepares the drawer for an agent's candidates.
func (d *drawer) aim(agent string, q *feed.Query) {
	d.share, d.placed = q.Ranking.Explore.Share, d.placed[:0]
	if !d.on() {
		return
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(agent))
	d.seed = h.Sum64()
	d.after = q.Origin.Add(-exploreAge).Unix()
	d.random = rand.New(rand.NewPCG(d.seed, uint64(q.Origin.Unix())))
}

func (d *drawer) on() bool { return d.share > 0 }

// begin begins a page of size × share drawn positions, whose fraction is given by chance.
func (d *drawer) begin(size int) {
	d.chosen, d.drawn = -1, 0
	if d.left = 0; d.on() && size > unexplored {
		d.left = min(int(d.share*float64(size)+d.random.Float64()), size-unexplored)
	}
}

// at reports whether to draw for a position, from 0. All below the first ones are equally likely.
func (d *drawer) at(position, size int) bool {
	if position < unexplored || d.left == 0 {
		return false
	}
	if d.chosen != position {
		d.chosen = position
		d.here = d.random.IntN(size-position) < d.left
	}
	return d.here
}

// place notes that what was drawn stands there in the list.
func (d *drawer) place(at int) {
	d.placed = append(d.placed, at)
	d.drawn++
	d.left--
}

// draw draws the place in rest of a candidate for the next position of the page;
// false: it goes by score. What would be on the page without any drawing is not drawn.
func (b *pageBuilder) draw(size int) (at int, drawn bool) {
	x := &b.drawer
	if !x.at(len(b.page), size) {
		return 0, false
	}
	behind := size - len(b.page) + x.drawn
	for try := 0; try < draws && behind < len(b.rest); try++ {
		at = behind + x.random.IntN(len(b.rest)-behind)
		if b.from[b.rest[at]].UpdateTime >= x.after {
			return at, true
		}
	}
	x.left-- // nothing is to be had for this one
	x.here = false
	return 0, false
}
