package prove

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRelationAt asks about moments before, during and after changes.
func TestRelationAt(t *testing.T) {
	t.Parallel()
	var r relation
	r.begin(10, true)
	r.end(20, false)
	r.begin(30, false)
	for at, want := range map[moment][2]bool{5: {false, true}, 15: {true, true}, 25: {true, false}, 35: {true, true}, 1000: {true, true}} {
		on, off := r.at(at)
		assert.Equal(t, want, [2]bool{on, off}, "at %d", at)
	}
	assert.False(t, r.since(25, true), "a change of unknown outcome may end it")
	r.end(40, true)
	assert.True(t, r.since(25, true), "a refused change changes nothing")
	assert.False(t, r.since(15, true))
	var none *relation
	assert.True(t, none.since(0, false))
}

// TestMayAndOwed judges a post for followers whose author is followed, blocked and unblocked.
func TestMayAndOwed(t *testing.T) {
	t.Parallel()
	m := newModel(false)
	e := &entry{Post: Post{Key: "k", Author: "a", Followers: true}, published: span{100, 110}, deleted: span{never, never}}
	follow := of(m.follows, "r", "a")
	follow.begin(50, true)
	assert.False(t, m.owed("r", e), "the follow may come after the post")
	follow.end(60, false)
	assert.True(t, m.owed("r", e))
	assert.True(t, m.may("r", e, span{90, 105}), "it is being published")
	assert.False(t, m.may("r", e, span{80, 90}), "it was not published yet")
	assert.False(t, m.may("x", e, span{200, 210}), "x does not follow")

	block := of(m.blocks, "a", "r")
	block.begin(300, true)
	follow.begin(300, false)
	assert.True(t, m.may("r", e, span{310, 320}), "it is being blocked")
	assert.False(t, m.owed("r", e))
	block.end(330, false)
	follow.end(330, false)
	assert.True(t, m.may("r", e, span{320, 340}), "the call began before the block was answered")
	assert.False(t, m.may("r", e, span{331, 340}))
	block.begin(400, false)
	block.end(410, false)
	assert.False(t, m.may("r", e, span{420, 430}), "the follow has ended")
	m.public, e.Followers = true, false
	assert.True(t, m.may("r", e, span{420, 430}))
	assert.False(t, m.owed("r", e), "it was hidden in between")
	assert.True(t, m.owed("y", e))
	e.deleted = span{500, 510}
	assert.False(t, m.may("r", e, span{511, 520}))
	assert.True(t, m.may("r", e, span{505, 520}))
	assert.False(t, m.owed("y", e))
}

func TestRepetitionMarked(t *testing.T) {
	a, b := showing{request: "a", at: span{10, 20}}, showing{request: "b", at: span{15, 25}}
	marked := func(w showing) showing { w.mayRepeat = true; return w }
	later := showing{request: "c", at: span{21, 30}}
	tests := []struct {
		name            string
		before          []showing
		now             showing
		marked, repeats bool
	}{
		{"nothing before", nil, b, false, false},
		{"the same call", []showing{a}, showing{request: "a", at: span{30, 40}}, false, false},
		{"no answer says so", []showing{a}, b, false, true},
		{"the answer says so", []showing{a}, marked(later), true, true},
		{"the other says so, at the same time", []showing{marked(a)}, b, true, true},
		{"the other said so before", []showing{marked(a)}, later, false, true},
		{"one of two says so", []showing{marked(a), b}, showing{request: "c", at: span{16, 30}}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, marked, repeats := clash(tt.before, tt.now)
			assert.Equal(t, tt.marked, marked)
			assert.Equal(t, tt.repeats, repeats)
		})
	}
}
