package quality

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/signals/events"
)

func TestCandidates(t *testing.T) {
	t.Parallel()
	const hour = 3600
	d := dataOf(0, hour, hour, 2*hour, 3*hour, 4*hour)
	d.items[1].GroupID, d.items[3].GroupID = "story", "story"
	p := newPast(d, 3*time.Hour)
	at := func(h int64, reader string) []int { return p.moment(reader, h*hour).candidates }

	assert.Equal(t, []int{3, 2, 0}, at(3, "u_1"), "dated before the moment; as old as the window; of a group the newest")
	assert.Equal(t, []int{4, 3, 2}, at(4, "u_1"), "older than the window")
	p.add(&event{at: 4 * hour, reader: "u_1", kind: events.Click, item: 1})
	assert.Equal(t, []int{4, 2}, at(4, "u_1"), "all of a story that was read")
	assert.Equal(t, []int{4, 3, 2}, at(4, "u_2"), "but not by this one")
	assert.False(t, p.isFirst(&event{reader: "u_1", item: 3}))
	assert.True(t, p.isFirst(&event{reader: "u_2", item: 3}))
	p.add(&event{at: 4 * hour, reader: "u_2", kind: events.Hide, item: 2})
	assert.Equal(t, []int{4, 3}, at(4, "u_2"), "what was hidden is no candidate either")
	assert.Empty(t, at(100, "u_1"))
}

func TestOrders(t *testing.T) {
	t.Parallel()
	d := dataOf(0, 10, 20, 30)
	p := newPast(d, 7*day)
	p.add(&event{at: 100, reader: "a", kind: events.Like, item: 2})
	for i, reader := range []string{"a", "b", "a", "c"} { // a reads item 0 twice
		p.add(&event{at: 101 + int64(i), reader: reader, kind: events.Click})
	}
	p.add(&event{at: 104, reader: "b", kind: events.Dislike, item: 3}) // does not count as a read
	m := p.moment("z", 200)
	assert.Equal(t, []int{3, 2, 1, 0}, newestFirst(m))
	assert.Equal(t, []int{0, 2, 3, 1}, mostReadFirst(m), "three readers, one, none; then the newest")
	m = p.moment("z", 86_400+102)
	assert.Equal(t, []int{0, 3, 2, 1}, mostReadFirst(m), "a day later one read of item 0 is left out, and that of item 2")
	m = p.moment("z", 3*86_400)
	assert.Equal(t, newestFirst(m), mostReadFirst(m))

	p.add(&event{at: 3*86_400 - 1, reader: "d", kind: events.Click, item: 1})
	m = p.moment("z", 3*86_400)
	assert.Equal(t, []int{1, 0, 2, 3}, lastReadFirst(m), "at different times; then the newest")
	assert.Equal(t, []int{1, 0, 2, 3}, popularFirst(0)(m), "one a second ago counts more than three of two days ago")
	assert.Equal(t, []int{0, 1, 2, 3}, popularFirst(3)(m), "but not with a half-life of a week")
	assert.InDelta(t, 3*math.Exp2(-3), p.interest[0].Decayed(2, 103+3*86_400, day), 1e-4)
	assert.Equal(t, []int{0, 2, 1, 3}, newsFirst(m), "three readers; of those with one the newest")

	one := randomly(m)
	assert.ElementsMatch(t, m.candidates, one)
	assert.Equal(t, one, randomly(m), "the same for the same reader and moment")
	differs := false
	for at := range int64(20) {
		differs = differs || !assert.ObjectsAreEqual(one, randomly(p.moment("z", m.at+at+1)))
	}
	assert.True(t, differs)
}
