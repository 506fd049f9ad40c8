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
