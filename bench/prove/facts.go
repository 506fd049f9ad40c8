package prove

import (
	"math"
	"slices"
	"time"
)

// moment is a time of the run: the time since its begin, by one monotonic clock.
type moment = time.Duration

// never is after every moment of a run.
const never moment = math.MaxInt64

// span is the time of a call, from its first attempt to its answer. The moment at which the system
// executed it lies in between.
type span struct{ begin, end moment }

// change is a change of a relation. Its end is never until its call is answered.
type change struct {
	span
	on bool
}

// relation is whether somebody follows or blocks somebody, over time. It is off before its first
// change. Changes do not overlap: callers make one after the other.
type relation struct{ changes []change }

// at returns whether the relation may have been on, and off, at a moment. Both are possible while
// a change is being made.
func (r *relation) at(t moment) (on, off bool) {
	if r == nil {
		return false, true
	}
	state := false
	for _, c := range r.changes {
		switch {
		case t < c.begin:
			return state, !state
		case t <= c.end:
			return state || c.on, !state || !c.on
		}
		state = c.on
	}
	return state, !state
}

// since reports whether the relation was in a state, without doubt, from a moment on.
func (r *relation) since(t moment, on bool) bool {
	mayOn, mayOff := r.at(t)
	if on && mayOff || !on && mayOn {
		return false
	}
	return r == nil || !slices.ContainsFunc(r.changes, func(c change) bool { return c.end >= t && c.on != on })
}

// edges appends the moments within a span at which what is known about the relation changes.
func (r *relation) edges(list []moment, s span) []moment {
	if r == nil {
		return list
	}
	for _, c := range r.changes {
		for _, t := range []moment{c.begin, c.end} {
			if t > s.begin && t < s.end {
				list = append(list, t)
			}
		}
	}
	return list
}

// begin notes that a change is being made.
func (r *relation) begin(t moment, on bool) {
	r.changes = append(r.changes, change{span{t, never}, on})
}

// end notes that the last change was answered. One that was refused has changed nothing.
func (r *relation) end(t moment, refused bool) {
	last := len(r.changes) - 1
	if refused {
		r.changes = r.changes[:last]
		return
	}
	r.changes[last].end = t
}
