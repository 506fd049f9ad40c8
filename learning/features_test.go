package learning_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/learning"
)

func TestFeatures(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"How to learn Go in the year 2016":                                               "learn|year",
		"C++ and C# or .NET, Node.js: a an of I II 4K!":                                  "node.js|.net|c++|c#",
		"Golang golang GOLANG":                                                           "golang",
		"Eight words are kept: alpha beta gamma delta epsilon zeta eta theta iota kappa": "epsilon|eight|words|alpha|gamma|delta|theta|kappa",
		"今天天气很好":                                                                         "今天|天天|天气|气很|很好",
		"我的iPhone":                                                                       "iphone",
		"Über café 🚀":                                                                    "über|café",
		"42 1,000":                                                                       "",
	} {
		var got []string
		for _, f := range learning.Features(&feed.Item{Title: title}) {
			require.Equal(t, feed.FeatureWord, f.Kind)
			got = append(got, f.Value)
		}
		assert.Equal(t, want, strings.Join(got, "|"), title)
		for _, word := range got {
			assert.Contains(t, strings.Join(words.Of(title), " "), strings.Join(words.Of(word), " "), "a word is found in its own title")
		}
	}
	assert.Equal(t, []feed.Feature{
		{Kind: feed.FeatureTag, Value: "go"}, {Kind: feed.FeatureTag, Value: "db"}, {Kind: feed.FeatureAuthor, Value: "ann"},
		{Kind: feed.FeatureLang, Value: "en"}, {Kind: feed.FeatureWord, Value: "title"},
	}, learning.Features(&feed.Item{Title: "A title", Tags: []string{"go", "db", "go"}, AuthorID: "ann", Lang: "en"}))
	assert.Len(t, learning.Features(&feed.Item{Title: "x", Tags: strings.Fields("a b c d e f g h i j")}), 8)
}
