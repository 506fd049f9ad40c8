package recalltest

import (
	"fmt"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/stretchr/testify/require"
)

// hostileTexts tests that texts that are syntax in a source's query language are plain texts in
// items and in profiles: they match and filter the items that have them, and nothing else.
// Titles are plain words, as the reference requires.
func hostileTexts(t *testing.T, open Open) {
	var items []feed.Item
	for i, text := range testenv.HostileTexts {
		if len(text) > feed.MaxTermLength {
			continue
		}
		items = append(items, feed.Item{
			ID: fmt.Sprintf("hostile_%d", i), Title: "Plain words", UpdateTime: ago(time.Duration(i) * time.Minute),
			URL: text, ImageURL: text, AuthorID: text, Lang: text, Tags: []string{text},
		})
	}
	items = append(items, feed.Item{ID: "plain", Title: "Of everybody", UpdateTime: ago(time.Hour)})
	s := open(t, items)
	for _, it := range items[:len(items)-1] {
		text := it.Lang
		for what, p := range map[string]feed.Profile{
			"wanted":   {Interests: map[string]float64{text: 100}, Keywords: feed.Keywords(text), Langs: []string{text}},
			"muted":    {MutedTags: []string{text}},
			"silenced": {MutedAuthors: []string{text}},
			"others":   {Interests: map[string]float64{text: 1}, MutedAuthors: []string{text + "!"}, MutedTags: []string{text + "!"}},
		} {
			t.Run(fmt.Sprintf("%s %q", what, text), func(t *testing.T) {
				require.NoError(t, p.Validate())
				q := query(100, p)
				assertRanking(t, items, q, recallAll(t, s, q).Candidates)
			})
		}
	}
}
