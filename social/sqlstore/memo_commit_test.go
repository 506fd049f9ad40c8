package sqlstore

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/social"
)

// TestMemoLookupDuringCommit checks that the result of a lookup is not cached if it
// began before or during a commit and ends after the commit's invalidation: it may have read the
// state before the commit.
func TestMemoLookupDuringCommit(t *testing.T) {
	t.Parallel()
	for name, began := range map[string]func(*Memo, *asking){
		"before it": func(m *Memo, a *asking) { a.findPosts(); m.Begin() },
		"during it": func(m *Memo, a *asking) { m.Begin(); a.findPosts() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := NewMemo(nil, 10, nil)
			a := &asking{memo: m, reader: "r", posts: []social.PostVersion{{ID: "post:1"}}, facts: make([]cardFacts, 1), own: &readerFacts{}}
			began(m, a)
			a.newPost = map[string]*postFacts{"post:1": {}}
			m.End([]Touched{{TouchedPost, "post:1"}})
			_, current := a.findTies()
			assert.False(t, current)
			assert.False(t, a.keep())
			assert.Zero(t, m.posts.Len())
		})
	}
}
