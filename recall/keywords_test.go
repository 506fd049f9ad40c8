package recall_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

func TestKeywords(t *testing.T) {
	t.Parallel()
	p := feed.Profile{Keywords: []feed.Keyword{
		{Term: "The", Weight: 9},
		{Term: "the who", Weight: 1},
		{Term: "of the", Weight: 1},
		{Term: "Go", Weight: 1},
		{Term: "go", Weight: 3},
		{Term: "GO", Weight: 2},
		{Term: "!!!", Weight: 5},
		{Term: "rust", Weight: 0},
		{Term: "天气", Weight: 1},
	}}
	assert.Equal(t, []recall.Keyword{
		{Term: "go", Weight: 3, Tokens: []string{"go"}},
		{Term: "of the", Weight: 1, Tokens: []string{"of", "the"}},
		{Term: "the who", Weight: 1, Tokens: []string{"the", "who"}},
		{Term: "天气", Weight: 1, Tokens: []string{"天", "气"}},
	}, recall.Keywords(&p))
	assert.Empty(t, recall.Keywords(&feed.Profile{}))
}
