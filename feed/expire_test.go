package feed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
)

// TestLearningExpires checks what is left of what was learned, some days after the last act.
func TestLearningExpires(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	last := time.Unix(learnedAt, 0)
	learned := func() (l feed.Learning) {
		l.Add([]feed.LearningAct{lesson(feed.Liked, "a", learnedAt, "go")}, 0, last)
		return l
	}
	for _, c := range []struct {
		after, keep                       time.Duration
		changed, acts, features, undoable bool
	}{
		{after: -day, keep: day, acts: true, features: true, undoable: true},
		{after: 0, keep: 100 * day, acts: true, features: true, undoable: true},
		{after: 90*day - time.Second, keep: 100 * day, acts: true, features: true, undoable: true},
		{after: 90 * day, keep: 100 * day, changed: true, features: true, undoable: true},
		{after: 100*day - time.Second, keep: 100 * day, changed: true, features: true, undoable: true},
		{after: 100 * day, keep: 100 * day, changed: true},
		{after: 5000 * day, changed: true, features: true, undoable: true},
	} {
		l := learned()
		assert.Equal(t, c.changed, l.Expire(last.Add(c.after), c.keep), c)
		assert.Equal(t, []bool{c.acts, c.features, c.undoable}, []bool{len(l.Acts) > 0, len(l.Features) > 0, len(l.Undoable) > 0}, c)
		assert.False(t, l.Expire(last.Add(c.after), c.keep), "once: %v", c)
	}
	var erased feed.Learning
	erased.Erase(last)
	assert.False(t, erased.Expire(last.Add(5000*day), day), "when a reader was erased stays")
	assert.Equal(t, last.UnixMicro(), erased.Erased)
}
