package learning

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/words"
)

func TestFeatures(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"How to learn Go in the year 2016":              "learn|year",
		"C++ and C# or .NET, Node.js: a an of I II 4K!": "node.js|.net|c++|c#",
		"Golang golang GOLANG":                          "golang",
		"Eight words are kept: alpha beta gamma delta epsilon zeta eta theta iota kappa": "epsilon|eight|words|alpha|gamma|delta|theta|kappa",
		"今天天气很好":      "今天|天天|天气|气很|很好",
		"我的iPhone":    "iphone",
		"Über café 🚀": "über|café",
		"42 1,000":    "",
	} {
		var got []string
		for _, f := range new(Rarity).Features(&feed.Item{Title: title}) {
			require.Equal(t, feed.FeatureWord, f.Kind)
			got = append(got, f.Value)
		}
		assert.Equal(t, want, strings.Join(got, "|"), title)
		for _, word := range got {
			assert.Contains(t, strings.Join(words.Of(title), " "), strings.Join(words.Of(word), " "), "a word is found in its own title")
		}
	}
	one := func(kind feed.FeatureKind, value string) feed.WeightedFeature {
		return feed.WeightedFeature{Feature: feed.Feature{Kind: kind, Value: value}, Weight: 1}
	}
	assert.Equal(t, []feed.WeightedFeature{
		one(feed.FeatureTag, "go"), one(feed.FeatureTag, "db"), one(feed.FeatureAuthor, "ann"), one(feed.FeatureLang, "en"), one(feed.FeatureWord, "title"),
	}, new(Rarity).Features(&feed.Item{Title: "A title", Tags: []string{"go", "db", "go"}, AuthorID: "ann", Lang: "en"}))
	assert.Len(t, new(Rarity).Features(&feed.Item{Title: "x", Tags: strings.Fields("a b c d e f g h i j")}), 8)
}

// TestRarity learns from many titles: a word in all of them has weight 0, a word in none has weight
// 1, and only the rarest words of a title are used.
func TestRarity(t *testing.T) {
	t.Parallel()
	var r Rarity
	weight := func(title string) map[string]float64 {
		all := map[string]float64{}
		for _, f := range r.Features(&feed.Item{Title: title}) {
			all[f.Value] = f.Weight
		}
		return all
	}
	assert.Equal(t, map[string]float64{"everywhere": 1, "rare": 1}, weight("Everywhere rare"), "at first all words are alike")
	for i := range 9999 {
		title := "everywhere"
		if i < 99 {
			title += " sometimes"
		}
		weight(title)
	}
	got := weight("Everywhere, sometimes: zymurgy")
	assert.InDelta(t, 0, got["everywhere"], 1e-3)
	assert.InDelta(t, 0.5, got["sometimes"], 1e-3, "log 100 of log 10,000")
	assert.InDelta(t, 1, got["zymurgy"], 1e-12)
	got = weight("everywhere sometimes alpha beta gamma delta epsilon zeta eta theta")
	assert.Len(t, got, 8)
	assert.NotContains(t, got, "everywhere")
	assert.NotContains(t, got, "sometimes")
	for range rarityMost {
		r.add([]string{"later"})
	}
	assert.Less(t, r.titles, float64(rarityMost)+1)
	assert.Greater(t, r.of("everywhere"), 0.15, "what was read before fades")
}
