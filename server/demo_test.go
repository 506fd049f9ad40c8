package server

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall/trending"
)

// TestPostsOfTheDemoTrend checks that posts trend from the start, so that the first new reader gets
// suggestions of their authors.
func TestPostsOfTheDemoTrend(t *testing.T) {
	t.Parallel()
	set, _ := open(t, embedded(t), WithDemo()).trending.Set()
	assert.True(t, slices.ContainsFunc(set.Entries, func(e trending.Entry) bool { return feed.IsPost(e.ID) }))
}
