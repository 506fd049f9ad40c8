package recalltest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// admits reports whether a filter selects an item, by definition.
func admits(f *feed.Filter, it *feed.Item) bool {
	if f == nil {
		return true
	}
	all, some, none := met(&f.All, it), met(&f.Any, it), met(&f.None, it)
	return !slices.Contains(all, false) && (len(some) == 0 || slices.Contains(some, true)) && !slices.Contains(none, true)
}

// met reports for each condition whether the item meets it.
func met(c *feed.Conditions, it *feed.Item) (each []bool) {
	for _, tag := range c.Tags {
		each = append(each, tagged(it, terms.Fold(tag)))
	}
	for _, lang := range c.Langs {
		each = append(each, it.Lang != "" && terms.LangKey(it.Lang) == terms.LangKey(lang))
	}
	for _, author := range c.Authors {
		each = append(each, it.AuthorID == author)
	}
	for _, site := range c.Sites {
		rest, _ := strings.CutPrefix(it.URL, "https://www.")
		host, _, _ := strings.Cut(rest, "/")
		each = append(each, host == site)
	}
	for _, word := range c.Words {
		each = append(each, stands(spaced(strings.ToLower(word)), it.Title) || stands(spaced(strings.ToLower(word)), it.Summary))
	}
	return each
}

// conditions checks filters of every kind, alone and together, over several rounds.
func conditions(t *testing.T, open Open) {
	var items []feed.Item
	for i := range 240 {
		items = append(items, feed.Item{
			ID: fmt.Sprintf("i%03d", i), Title: fmt.Sprintf("number w%d of the list", i%7), Summary: fmt.Sprintf("more about v%d", i%5),
			UpdateTime: ago(time.Duration(i) * time.Hour), Tags: []string{fmt.Sprint("t", i%6), "Rare" + fmt.Sprint(i%40)},
			AuthorID: fmt.Sprint("a", i%3), Lang: []string{"", "de", "de-AT", "en"}[i%4], URL: fmt.Sprintf("https://www.s%d.example/%d", i%4, i),
		})
	}
	s := open(t, items)
	tag := func(tags ...string) feed.Conditions { return feed.Conditions{Tags: tags} }
	for name, f := range map[string]feed.Filter{
		"tag":             {All: tag("T1")},
		"rare tag":        {All: tag("rare7")},
		"unknown tag":     {All: tag("nothing")},
		"two tags":        {All: tag("t1", "rare1")},
		"any tag":         {Any: tag("t1", "t2", "nothing")},
		"no tag":          {None: tag("t1", "t2", "nothing")},
		"language":        {All: feed.Conditions{Langs: []string{"de"}}},
		"not a language":  {None: feed.Conditions{Langs: []string{"de"}}},
		"author":          {Any: feed.Conditions{Authors: []string{"a1", "nobody"}}},
		"site":            {All: feed.Conditions{Sites: []string{"s2.example"}}},
		"words":           {All: feed.Conditions{Words: []string{"Number W3"}}},
		"word of summary": {Any: feed.Conditions{Words: []string{"v2", "w9"}, Tags: []string{"rare9"}}},
		"not next":        {All: feed.Conditions{Words: []string{"w3 number"}}},
		"all at once": {
			All: feed.Conditions{Langs: []string{"de"}, Words: []string{"more about"}}, Any: feed.Conditions{Tags: []string{"t1"}, Sites: []string{"s1.example"}},
			None: feed.Conditions{Authors: []string{"a2"}, Words: []string{"w2"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := query(9, feed.Profile{Interests: map[string]float64{"t3": 2, "rare11": 5}, Keywords: feed.Keywords("w2", "v3"), MutedTags: []string{"rare3"}})
			q.Filter = &f
			var got []string
			for round := 0; round == 0 || q.After != ""; round++ {
				r := recallAll(t, s, q)
				if round == 0 {
					assertRanking(t, items, q, r.Candidates)
				}
				got, q.After = append(got, ids(r.Candidates)...), r.Next
			}
			var want []string
			for _, c := range Ranked(items, q) {
				want = append(want, c.ID)
			}
			assert.ElementsMatch(t, want, got)
			require.NoError(t, f.Validate())
		})
	}
}
